// What belongs to a thread and goes along when part of its backward runs on the thread of a GPU.
#pragma once
#include <adjoint/core/export.h>

#include <type_traits>
#include <utility>

namespace adjoint::engine {

// A variable that each thread has: where this thread's is, and how to swap it for that of another thread, which waits.
struct Carried { void* (*here)() noexcept; void (*swap)(void* there) noexcept; };

// `get` gives this thread's variable.
template <auto get> constexpr Carried carried() {
  return {[]() noexcept -> void* { return &get(); },
          [](void* there) noexcept { std::swap(get(), *static_cast<std::remove_reference_t<decltype(get())>*>(there)); }};
}

ADJOINT_API void carry(Carried variable);   // from now on; once for each variable

}  // namespace adjoint::engine
