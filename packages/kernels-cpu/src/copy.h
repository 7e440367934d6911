// Copies of strided memory, and views in another order of dimensions.
#pragma once
#include <adjoint/core/allocator.h>
#include <adjoint/core/iterate.h>

namespace adjoint::cpu {

// The dimensions of a view from the one with the largest stride to the smallest.
struct Order : Dims {
  explicit Order(const View& v);
};

// A view with its dimensions in another order.
struct Ordered {
  Dims sizes, strides;
  View view;
  Ordered(const View& v, const Dims& order);
  Ordered(const Ordered&) = delete;
};

// Temporary memory.
class Buffer {
 public:
  explicit Buffer(int64_t bytes) : bytes_(static_cast<size_t>(bytes)), data_(static_cast<char*>(allocate(bytes_))) {}
  Buffer(Buffer&& o) noexcept : bytes_(o.bytes_), data_(o.data_) { o.data_ = nullptr; }
  Buffer& operator=(Buffer&& o) noexcept { std::swap(bytes_, o.bytes_), std::swap(data_, o.data_); return *this; }
  ~Buffer() { if (data_) deallocate(data_, bytes_); }
  template <class T> T* as() const { return reinterpret_cast<T*>(data_); }

 private:
  size_t bytes_;
  char* data_;
};

// A row-major copy of a view, in its own memory; of another type if wanted.
struct Dense {
  Buffer memory;
  Dims sizes, strides;
  View view;
  explicit Dense(const View& v) : Dense(v, v.dtype) {}
  Dense(const View& v, DType dtype);
  Dense(const Dense&) = delete;
  Dense(Dense&& o) noexcept : memory(std::move(o.memory)), sizes(std::move(o.sizes)), strides(std::move(o.strides)), view(o.view) {
    view.sizes = sizes.data(), view.strides = strides.data();
  }
};

// A view whose elements lie side by side along another dimension than the last: walking its rows would touch a cache
// line for each element.
bool runs_across(const View& v);

// n elements of so many bytes, all of one value.
void fill(char* y, const char* value, int64_t size, int64_t n);

// y = x, of the same sizes: the same type, or converted.
void copy(const View& y, const View& x);
void cast(const View& y, const View& x);

}  // namespace adjoint::cpu
