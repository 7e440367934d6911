// Operands that run along one dimension, as dense memory.
#pragma once
#include <adjoint/core/borrowed.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "copy.h"

namespace adjoint::cpu {

// A row-major view as (outer, n, inner) around one dimension, or around [first, last).
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
  Lines(const View& v, int dim) : Lines(v, dim, dim + 1) {}
  Lines(const View& v, int first, int last) {
    for (int i = 0; i < v.ndim; i++) (i < first ? outer : i < last ? n : inner) *= v.sizes[i];
  }
};

// Row-major memory of a view: its own, or a copy; of another type if wanted.
class Contiguous {
 public:
  explicit Contiguous(const View& v) : Contiguous(v, v.dtype) {}
  Contiguous(const View& v, DType dtype) : own_(&v) {
    if (!v.contiguous() || v.dtype != dtype) copy_.emplace(v, dtype);
  }
  const View& view() const { return copy_ ? copy_->view : *own_; }
  template <class T> T* as() const { return view().as<T>(); }

 private:
  const View* own_;
  std::optional<Dense> copy_;
};

// The order of dimensions with `dim` behind the others.
inline Dims dim_last(int ndim, int dim) {
  Dims order;
  for (int d = 0; d < ndim; d++)
    if (d != dim) order.push_back(d);
  order.push_back(dim);
  return order;
}

// The lines along one dimension, in the type they are computed in, as row-major memory. Short ones are taken side by side, so that loops run
// across them; a few long ones that lie side by side, one after the other.
class LinesOf {
 public:
  LinesOf(const View& v, int dim, DType type, bool may_turn = true) : lines(v, dim) {
    if (lies_otherwise(v, dim)) {
      contiguous_.emplace(other_->view, type);
      return;
    }
    const bool across = lines.inner == 1 && lines.n <= 16 && lines.outer >= 64, along = lines.inner > 1 && lines.inner < 8 && lines.n >= 64;
    if (!may_turn || (!across && !along)) {
      contiguous_.emplace(v, type);
      return;
    }
    Dims order = dim_last(v.ndim, dim);
    if (across) std::rotate(order.begin(), order.end() - 1, order.end());
    const Dense& turned = turned_.emplace(Ordered(v, order).view);
    contiguous_.emplace(turned.view, type);
    if (across) lines.inner = std::exchange(lines.outer, 1);
    else lines.outer *= std::exchange(lines.inner, 1);
  }
  Lines lines;
  template <class T> const T* as() const { return contiguous_->as<const T>(); }

 private:
  // Memory without gaps in another order, in which the other dimensions keep theirs: so it is read.
  bool lies_otherwise(const View& v, int dim) {
    if (v.contiguous()) return false;
    const Order order(v);
    const Ordered& other = other_.emplace(v, order);
    int place = 0;
    int64_t before = -1;
    for (int i = 0; i < v.ndim; i++) {
      if (order[i] == dim) place = i;
      else if (std::exchange(before, order[i]) > order[i]) return false;
    }
    const Lines as_it_lies(other.view, place);
    if (!other.view.contiguous() || (as_it_lies.inner == 1 && as_it_lies.n <= 16)) return false;
    lines = as_it_lies;
    return true;
  }

  std::optional<Ordered> other_;
  std::optional<Dense> turned_;
  std::optional<Contiguous> contiguous_;
};

// Half types are computed in float.
constexpr DType widened(DType t) { return is_half(t) ? DType::float32 : t; }

// f(x, y) on row-major memory of float or double; half types are widened and rounded once.
inline void with_dense(const View& x, const View& y, Borrowed<const View&, const View&> f) {
  const DType type = widened(x.dtype);
  const Contiguous in(x, type);
  if (y.dtype == type) return f(in.view(), y);
  const Buffer memory(y.numel * itemsize(type));
  const View wide{memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel};
  f(in.view(), wide);
  cast(y, wide);
}
template <class F> void with_real(DType t, F&& f) {
  if (t == DType::float32) f(0.f);
  else f(0.);
}

}  // namespace adjoint::cpu
