#include <adjoint/core/process.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#endif

namespace adjoint {

#if defined(_WIN32)

void on_fork(void (*)(), void (*)(), void (*)()) {}   // there are none
void* open_library(const char* path) noexcept { return reinterpret_cast<void*>(LoadLibraryA(path)); }
void* find_symbol(void* library, const char* name) noexcept {
  const HMODULE module = library ? static_cast<HMODULE>(library) : GetModuleHandleA("python3.dll");   // symbols are looked up by library
  return module ? reinterpret_cast<void*>(GetProcAddress(module, name)) : nullptr;
}

#else

void on_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) { pthread_atfork(before, in_parent, in_child); }
void* open_library(const char* path) noexcept { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
void* find_symbol(void* library, const char* name) noexcept { return dlsym(library ? library : RTLD_DEFAULT, name); }

#endif

}  // namespace adjoint
