// Of the process: its forks, and the shared libraries in it.
#pragma once
#include <adjoint/core/export.h>

namespace adjoint {

// Called around each fork: before it, then in the parent and in the child, which has the caller's thread only. Any may be null.
ADJOINT_API void on_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

// Null where it cannot be loaded.
ADJOINT_API void* open_library(const char* path) noexcept;
// Of a library, or for null of all that the process has loaded; null where there is none.
ADJOINT_API void* find_symbol(void* library, const char* name) noexcept;

}  // namespace adjoint
