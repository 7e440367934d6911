// std::vector on the small-block lists of this thread: for short arrays that come and go with every call.
#pragma once
#include <adjoint/core/allocator.h>

#include <vector>

namespace adjoint {

template <class T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() noexcept = default;
  template <class U> PoolAllocator(const PoolAllocator<U>&) noexcept {}
  T* allocate(size_t n) { return static_cast<T*>(adjoint::allocate(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { adjoint::deallocate(p, n * sizeof(T)); }
  template <class U> bool operator==(const PoolAllocator<U>&) const noexcept { return true; }
};
template <class T> using Vector = std::vector<T, PoolAllocator<T>>;

}  // namespace adjoint
