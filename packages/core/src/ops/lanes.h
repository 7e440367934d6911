// Walks for kernels that reduce, scan or sort: over the elements that make one result, and over the lines of one dimension.
#pragma once
#include <adjoint/core/functors/number.h>
#include <adjoint/core/iterate.h>
#include <adjoint/core/op_attrs.h>
#include <adjoint/core/ops.h>

namespace adjoint {

// The sizes and strides of some dimensions of a view.
struct Part {
  Dims sizes, strides;
  Part(const View& v, const Dims& dims, bool wanted) {
    for (int i = 0; i < v.ndim; i++) {
      if (dims.contains(i) != wanted) continue;
      sizes.push_back(v.sizes[i]);
      strides.push_back(v.strides[i]);
    }
  }
  View view(const View& of) const { return {of.data, sizes.data(), strides.data(), sizes.size(), of.dtype, sizes.product()}; }
};

// What is left of an output after `dims` of an input of rank `ndim` went: keepdim or not.
inline Part kept_part(const View& y, const Dims& dims, int ndim) { return Part(y, y.ndim == ndim ? dims : Dims{}, false); }

// The rows of one operand, one behind the other.
class RowCursor {
 public:
  RowCursor(const Rows<1>& rows, const char* p) : p(p), rows_(rows) {
    for (int d = 1; d < rows.ndim; d++) index_[d] = 0;
  }
  bool next() {
    for (int d = 1; d < rows_.ndim; d++) {
      p += rows_.strides[0][d];
      if (++index_[d] < rows_.sizes[d]) return true;
      p -= rows_.strides[0][d] * rows_.sizes[d];
      index_[d] = 0;
    }
    return false;
  }
  const char* p;

 private:
  const Rows<1>& rows_;
  int64_t index_[Dims::max + 1];
};

// f(y element, x's first element, group) for each result; group.each<T>(x, g) calls g(value) in a fixed order.
struct Group {
  Rows<1> rows;
  int64_t count;
  template <class T, class G> [[gnu::always_inline]] void each(const char* x, G&& g) const {  // what g writes to stays in registers
    if (count == 0) return;
    RowCursor row(rows, x);
    do
      for (int64_t i = 0; i < rows.sizes[0]; i++) g(*reinterpret_cast<const T*>(row.p + i * rows.strides[0][0]));
    while (row.next());
  }
};
inline void for_groups(const View& x, const View& y, const Dims& dims, Borrowed<char*, char*, const Group&> f) {
  const Part inner(x, dims, true), outer(x, dims, false), result = kept_part(y, dims, x.ndim);
  const View of_group = inner.view(x), starts = outer.view(x), results = result.view(y);
  Group group{{}, of_group.numel};
  if (group.count) group.rows = make_rows<1>({&of_group});
  for_rows<2>({&results, &starts}, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) f(p[0] + i * s[0], p[1] + i * s[1], group);
  });
}

// f(p, steps in bytes, length) for each line of x along `dim`; p[k] is operand k at the start of the line, or its only element there.
template <int N> void for_lines(const View* const (&v)[N], int dim, Borrowed<char* const*, const int64_t*, int64_t> f) {
  const Dims dims{dim};
  const View& x = *v[0];
  int64_t steps[N];
  Dims sizes[N], strides[N];
  View starts[N];
  const View* p[N];
  for (int k = 0; k < N; k++) {
    const Part part = kept_part(*v[k], dims, x.ndim);
    steps[k] = v[k]->ndim == x.ndim ? v[k]->strides[dim] * itemsize(v[k]->dtype) : 0;
    sizes[k] = part.sizes;
    strides[k] = part.strides;
    starts[k] = {v[k]->data, sizes[k].data(), strides[k].data(), sizes[k].size(), v[k]->dtype, sizes[k].product()};
    p[k] = &starts[k];
  }
  auto each_row = [&](char* const* at, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      char* line[N];
      for (int k = 0; k < N; k++) line[k] = at[k] + i * s[k];
      f(line, steps, x.sizes[dim]);
    }
  };
  if (starts[0].numel == 0) return;
  const View* const(&all)[N] = p;
  const Rows<N> rows = make_rows<N>(all);
  walk_rows(rows, 0, row_count(rows), each_row);
}

template <class T> inline T& at(char* p) { return *reinterpret_cast<T*>(p); }

using functors::is_nan;

// A sum in which every element passes through at most log2(n) + block additions.
template <class A> class PairwiseSum {
 public:
  void add(A v) {
    block_ = block_ + v;
    if (++filled_ == block_size) close();
  }
  A total() {
    if (filled_) close();
    A t{};
    for (int k = 0; blocks_ >> k; k++)
      if (blocks_ >> k & 1) t = level_[k] + t;
    return t;
  }

 private:
  static constexpr int block_size = 64;
  void close() {
    int k = 0;
    for (; blocks_ >> k & 1; k++) block_ = level_[k] + block_;
    level_[k] = block_;
    blocks_++;
    block_ = A{};
    filled_ = 0;
  }
  A block_{}, level_[58];
  uint64_t blocks_ = 0;
  int filled_ = 0;
};

// What sums of T are accumulated in.
template <class T> struct Accumulator { using type = double; };
template <std::integral T> struct Accumulator<T> { using type = int64_t; };
template <class T> struct Accumulator<Complex<T>> { using type = Complex<double>; };
template <class T> using accumulator_t = typename Accumulator<T>::type;

// Shapes and rules that several families use.
inline Dims reduced(const Dims& sizes, const Dims& dims, bool keepdim) {
  Dims r;
  for (int i = 0; i < sizes.size(); i++) {
    if (!dims.contains(i)) r.push_back(sizes[i]);
    else if (keepdim) r.push_back(1);
  }
  return r;
}
inline int64_t reduced_count(const Dims& sizes, const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= sizes[static_cast<int>(d)];
  return n;
}
// v in the shape that keepdim would have given.
inline Tensor keep_dims(const Tensor& v, const Dims& dims, bool keepdim) {
  Tensor r = v;
  if (!keepdim) for (int64_t d : dims) r = unsqueeze(r, d);
  return r;
}
template <class A> Tensor keep_dims(const Tensor& v, const A& reduction) { return keep_dims(v, reduction.dims, reduction.keepdim); }

// Over exactly these dims: none where a 0-d tensor was reduced, also when vmap has given it a dimension since
// (to the front functions an empty list means all).
inline Tensor sum_over(const Tensor& x, const Dims& dims, bool keepdim) { return dims.empty() ? x : sum(x, dims, keepdim); }
inline Tensor mean_over(const Tensor& x, const Dims& dims, bool keepdim) { return dims.empty() ? x : mean(x, dims, keepdim); }
inline Tensor count_over(const Tensor& mask, const Dims& dims, bool keepdim) { return sum_over(to_dtype(mask, DType::int64), dims, keepdim); }

inline Tensor zero_of(const Tensor& v) { return zeros({}, v.dtype(), v.device()); }

// f on x as a vector if it is 0-d: ops along a dimension need one to stand on (also under vmap).
template <class F> Tensor along(const Tensor& x, int64_t dim, const char* op, F&& f) {
  const int d = wrap_dim(dim, x.dim(), op);
  return x.dim() ? f(x, d) : reshape(f(reshape(x, {1}), 0), {});
}
template <class F> Values along_values(const Tensor& x, int64_t dim, const char* op, F&& f) {
  const int d = wrap_dim(dim, x.dim(), op);
  if (x.dim()) return f(x, d);
  Values r = f(reshape(x, {1}), 0);
  return {reshape(r.values, {}), reshape(r.indices, {})};
}
inline Values apply_values(const Op& op, const Tensor& x, const Attrs& attrs) {
  Tensor y[max_outputs];
  apply(op, {&x, 1}, attrs, y);
  return {std::move(y[0]), std::move(y[1])};
}

}  // namespace adjoint
