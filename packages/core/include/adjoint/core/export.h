// Symbol visibility of the shared libraries.
#pragma once
#if defined(_WIN32)
#define ADJOINT_API __declspec(dllexport)
#else
#define ADJOINT_API __attribute__((visibility("default")))
#endif
