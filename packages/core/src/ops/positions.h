// The loops behind every op that reads or writes at positions given by an index tensor.
#pragma once
#include <adjoint/core/iterate.h>
#include <adjoint/core/ops.h>

#include <unordered_map>
#include <vector>

#include "views.h"

namespace adjoint::positions {

// A view of memory under sizes and strides of its own.
class Restrided {
 public:
  Restrided(const View& memory, Dims sizes, Dims strides) : sizes_(std::move(sizes)), strides_(std::move(strides)), memory_(memory) {}
  View view() const { return {memory_.data, sizes_.data(), strides_.data(), sizes_.size(), memory_.dtype, sizes_.product()}; }

 private:
  Dims sizes_, strides_;
  View memory_;
};

inline Dims dims_of(const int64_t* values, int n) { return Dims(std::span(values, static_cast<size_t>(n))); }

// x over other sizes, standing still along `dim`: where a position along `dim` is added to.
inline Restrided lines(const View& x, int dim, const View& like) {
  Dims strides = dims_of(x.strides, x.ndim);
  strides[dim] = 0;
  return {x, dims_of(like.sizes, like.ndim), strides};
}

// A one-dimensional index repeated over the sizes of `like`, moving along `dim`.
inline Restrided spread(const View& index, int dim, const View& like) {
  Dims strides(like.ndim, 0);
  strides[dim] = index.strides[0];
  return {index, dims_of(like.sizes, like.ndim), strides};
}

inline void check(const View& index, int64_t size, int dim, const char* op) {
  const View* const v[] = {&index};
  for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = *reinterpret_cast<const int64_t*>(p[0] + i * s[0]);
      expect(at >= 0 && at < size, ErrorKind::index, op, ": index ", at, " is out of bounds for dimension ", dim, " with size ", size);
    }
  });
}

// A result without elements is not computed; its positions are looked at all the same.
inline void check_of_nothing(const Tensor& index, int64_t size, int dim, const Dims& result, const char* op) {
  if (result.product() == 0 && index.device().type == DeviceType::cpu) check(view_of(*index), size, dim, op);
}

// y[i] = x[i + position[i] * step], all three over the sizes of y.
inline void take(const View& y, const View& x, const View& position, int64_t step) {
  with_bytes(itemsize(y.dtype), [&](auto zero) {
    using T = decltype(zero);
    const View* const v[] = {&y, &x, &position};
    for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; i++) {
        const int64_t at = *reinterpret_cast<const int64_t*>(p[2] + i * s[2]) * step;
        *reinterpret_cast<T*>(p[0] + i * s[0]) = reinterpret_cast<const T*>(p[1] + i * s[1])[at];
      }
    });
  });
}

// y[i + position[i] * step] = source[i], in order: of several writers the last one wins.
inline void put(const View& y, const View& source, const View& position, int64_t step) {
  with_bytes(itemsize(y.dtype), [&](auto zero) {
    using T = decltype(zero);
    const View* const v[] = {&source, &y, &position};
    for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; i++) {
        const int64_t at = *reinterpret_cast<const int64_t*>(p[2] + i * s[2]) * step;
        reinterpret_cast<T*>(p[1] + i * s[1])[at] = *reinterpret_cast<const T*>(p[0] + i * s[0]);
      }
    });
  });
}

// f(y[i + position[i] * step], source[i]) in order, for y of C and source of T.
template <class C, class T, class F>
void each(const View& y, const View& source, const View& position, int64_t step, F&& f) {
  const View* const v[] = {&source, &y, &position};
  for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = *reinterpret_cast<const int64_t*>(p[2] + i * s[2]) * step;
      f(reinterpret_cast<C*>(p[1] + i * s[1])[at], *reinterpret_cast<const T*>(p[0] + i * s[0]));
    }
  });
}

// y[i + position[i] * step] = f(that, source[i]), in order, computed in C.
template <class C, class T, class F>
void combine(const View& y, const View& source, const View& position, int64_t step, F&& f) {
  each<C, T>(y, source, position, step, [&](C& at, T value) { at = static_cast<C>(f(at, convert<C>(value))); });
}

// The same where y is of T: each of the few elements that are written to is rounded once, at the end.
template <class C, class T, class F>
void combine_few(const View& y, const View& source, const View& position, int64_t step, F&& f) {
  std::unordered_map<T*, C> values;
  each<T, T>(y, source, position, step, [&](T& at, T value) {
    C& sum = values.try_emplace(&at, convert<C>(at)).first->second;
    sum = static_cast<C>(f(sum, convert<C>(value)));
  });
  for (const auto& [at, value] : values) *at = convert<T>(value);
}

inline void copy(const View& from, const View& to) {
  if (from.data == to.data || to.numel == 0) return;   // in place
  const Kernel fast = op_to_dtype.kernel[static_cast<int>(DeviceType::cpu)];
  (fast ? fast : op_to_dtype.reference)({{&from, 1}, {&to, 1}, Attrs{}, "to_dtype"});
}

// y = x with source combined at positions; place(y) restrides whatever plays the part of y. Half types compute in float.
template <class Place, class F>
void scatter_with(const View& y, const View& x, const View& source, const View& position, int64_t step, Place&& place, F&& f) {
  copy(x, y);
  with_type(y.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    if constexpr (std::is_same_v<T, C>) {
      combine<T, T>(place(y).view(), source, position, step, f);
    } else {
      int64_t reach = 1;   // y may have gaps
      for (int d = 0; d < y.ndim; d++) reach += (y.sizes[d] - 1) * y.strides[d];
      if (source.numel < reach / 32) return combine_few<C, T>(place(y).view(), source, position, step, f);   // a look-up costs as much as 32 casts
      std::vector<C> values(reach);
      const View wide{reinterpret_cast<char*>(values.data()), y.sizes, y.strides, y.ndim, dtype_of<C>(), y.numel};
      copy(y, wide);
      combine<C, T>(place(wide).view(), source, position, step, f);
      copy(wide, y);
    }
  });
}

// The same with source put or added.
template <class Place>
void scatter(const View& y, const View& x, const View& source, const View& position, int64_t step, bool accumulate, Place&& place) {
  if (accumulate) return scatter_with(y, x, source, position, step, place, [](auto a, auto b) { return a + b; });
  copy(x, y);
  put(place(y).view(), source, position, step);
}

}  // namespace adjoint::positions
