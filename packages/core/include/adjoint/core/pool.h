// Lists that come and go with every call: short ones lie in the small blocks of this thread.
#pragma once
#include <adjoint/core/allocator.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace adjoint {

template <class T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() noexcept = default;
  template <class U> PoolAllocator(const PoolAllocator<U>&) noexcept {}
  T* allocate(size_t n) { return static_cast<T*>(allocate_list(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { deallocate_list(p, n * sizeof(T)); }
  template <class U> bool operator==(const PoolAllocator<U>&) const noexcept { return true; }
};
template <class T> using Vector = std::vector<T, PoolAllocator<T>>;

// A number of values that is known when it is made: cheaper to make and to drop than a vector.
template <class T> class Array {
 public:
  Array() noexcept = default;
  explicit Array(size_t n) : p_(n ? static_cast<T*>(allocate(n * sizeof(T))) : nullptr), n_(n) { std::uninitialized_default_construct_n(p_, n); }
  Array(const Array& o) : Array(o.n_) { std::copy_n(o.p_, n_, p_); }
  Array(Array&& o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
  ~Array() {
    std::destroy_n(p_, n_);
    if (p_) deallocate(p_, n_ * sizeof(T));
  }
  Array& operator=(Array o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    return *this;
  }
  size_t size() const noexcept { return n_; }
  bool empty() const noexcept { return n_ == 0; }
  T& operator[](size_t i) noexcept { return p_[i]; }
  const T& operator[](size_t i) const noexcept { return p_[i]; }
  T* begin() noexcept { return p_; }
  T* end() noexcept { return p_ + n_; }
  const T* begin() const noexcept { return p_; }
  const T* end() const noexcept { return p_ + n_; }
  operator std::span<T>() noexcept { return {p_, n_}; }
  operator std::span<const T>() const noexcept { return {p_, n_}; }

 private:
  T* p_ = nullptr;
  size_t n_ = 0;
};

}  // namespace adjoint
