// A short list of integers (sizes, strides, dims): five inline, more on the heap.
#pragma once
#include <adjoint/core/allocator.h>

#include <cstring>
#include <initializer_list>
#include <ostream>
#include <span>
#include <utility>

namespace adjoint {

class Dims {
 public:
  static constexpr int inline_capacity = 5, max = 64;
  Dims() noexcept = default;
  Dims(std::initializer_list<int64_t> l) { assign(l.begin(), static_cast<int>(l.size())); }
  explicit Dims(std::span<const int64_t> s) { assign(s.data(), static_cast<int>(s.size())); }
  Dims(int n, int64_t fill) { resize(n); for (int i = 0; i < n; i++) data()[i] = fill; }
  Dims(const Dims& o) { copy(o); }
  Dims(Dims&& o) noexcept { take(o); }
  ~Dims() { drop(); }
  Dims& operator=(const Dims& o) { if (this != &o) copy(o); return *this; }
  Dims& operator=(Dims&& o) noexcept {
    if (this == &o) return *this;
    drop();
    take(o);
    return *this;
  }

  int size() const noexcept { return n_; }
  bool empty() const noexcept { return n_ == 0; }
  int64_t* data() noexcept { return n_ <= inline_capacity ? v_ : reinterpret_cast<int64_t*>(v_[0]); }
  const int64_t* data() const noexcept { return n_ <= inline_capacity ? v_ : reinterpret_cast<const int64_t*>(v_[0]); }
  int64_t& operator[](int i) noexcept { return data()[i]; }
  int64_t operator[](int i) const noexcept { return data()[i]; }
  int64_t* begin() noexcept { return data(); }
  int64_t* end() noexcept { return data() + n_; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + n_; }
  int64_t back() const noexcept { return data()[n_ - 1]; }
  operator std::span<const int64_t>() const noexcept { return {data(), static_cast<size_t>(n_)}; }

  // Keeps the leading values; new ones are zero.
  void resize(int n) {
    if (n <= inline_capacity && n_ <= inline_capacity) {
      for (int i = n_; i < n; i++) v_[i] = 0;
      n_ = n;
      return;
    }
    Dims other;
    other.reserve(n);
    for (int i = 0; i < n; i++) other.data()[i] = i < n_ ? data()[i] : 0;
    *this = std::move(other);
  }
  void push_back(int64_t v) { resize(n_ + 1); data()[n_ - 1] = v; }
  void insert(int at, int64_t v) { push_back(0); for (int i = n_ - 1; i > at; i--) data()[i] = data()[i - 1]; data()[at] = v; }
  void erase(int at) { for (int i = at; i + 1 < n_; i++) data()[i] = data()[i + 1]; resize(n_ - 1); }
  bool contains(int64_t v) const noexcept { for (int64_t d : *this) if (d == v) return true; return false; }
  // Too large a product gives `too_many`, which no tensor reaches.
  static constexpr int64_t too_many = INT64_MAX;
  int64_t product() const noexcept {
    int64_t p = 1;
    bool over = false;
    for (int64_t d : *this) {
      if (d == 0) return 0;
      over |= __builtin_mul_overflow(p, d, &p);
    }
    return over ? too_many : p;
  }
  bool operator==(const Dims& o) const noexcept { if (n_ != o.n_) return false;
    const int64_t *p = data(), *q = o.data();
    for (int i = 0; i < n_; i++)
      if (p[i] != q[i]) return false;
    return true;
  }

 private:
  void reserve(int n) {   // of an empty one
    if (n > inline_capacity) v_[0] = reinterpret_cast<int64_t>(allocate(n * sizeof(int64_t)));   // throws before anything changes
    n_ = n;
  }
  void drop() noexcept { if (n_ > inline_capacity) deallocate(reinterpret_cast<void*>(v_[0]), n_ * sizeof(int64_t)); }
  // All inline words at once, the meaningless ones too.
  void copy(const Dims& o) {
    if (n_ > inline_capacity || o.n_ > inline_capacity) return assign(o.data(), o.n_);
    std::memcpy(v_, o.v_, sizeof v_);
    n_ = o.n_;
  }
  void take(Dims& o) noexcept {
    std::memcpy(v_, o.v_, sizeof v_);
    n_ = std::exchange(o.n_, 0);
  }
  void assign(const int64_t* p, int n) {
    if (n != n_ && (n > inline_capacity || n_ > inline_capacity)) {
      Dims fresh;
      fresh.reserve(n);
      drop();
      take(fresh);
    }
    n_ = n;
    int64_t* q = data();
    for (int i = 0; i < n; i++) q[i] = p[i];
  }
  int64_t v_[inline_capacity];   // only the first n_ mean something: clearing them all would cost every new tensor
  int n_ = 0;
};

ADJOINT_API Dims order_by_strides(const int64_t* strides, int ndim);   // the dimensions from the largest stride to the smallest, equal ones as they are

// (2, 3) as Python prints it.
inline std::ostream& operator<<(std::ostream& o, const Dims& d) {
  o << '[';
  for (int i = 0; i < d.size(); i++) o << (i ? ", " : "") << d[i];
  return o << ']';
}

}  // namespace adjoint
