// Sorting along a dimension: sort, topk, unique. NaN counts as larger than every number; equal elements keep their order.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/batch.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/types.h>
#include <adjoint/core/without_gil.h>

#include <algorithm>
#include <vector>

#include "families.h"
#include "lanes.h"
#include "one_zero.h"

namespace adjoint {

namespace {

template <class T> bool less(T a, T b) { return a < b || (is_nan(b) && !is_nan(a)); }

template <class T> struct Entry { T value; int64_t index; };
template <class T> bool ascending(const Entry<T>& a, const Entry<T>& b) { return less(a.value, b.value) || (!less(b.value, a.value) && a.index < b.index); }
template <class T> bool descending(const Entry<T>& a, const Entry<T>& b) { return less(b.value, a.value) || (!less(a.value, b.value) && a.index < b.index); }
template <class T> using Before = bool (*)(const Entry<T>&, const Entry<T>&);
template <class T> Before<T> order(bool down) { return down ? descending<T> : ascending<T>; }

// arrange(entries, before) puts the wanted entries of a line in front; the first `keep` are written.
template <class Arrange> void arranged_lines(const Launch& l, int dim, int64_t keep, bool down, Arrange&& arrange) {
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else {
      using C = compute_t<T>;
      std::vector<Entry<C>> line(static_cast<size_t>(l.x[0].sizes[dim]));
      for_lines<3>({&l.x[0], &l.y[0], &l.y[1]}, dim, [&](char* const* p, const int64_t* s, int64_t n) {
        for (int64_t i = 0; i < n; i++) line[static_cast<size_t>(i)] = {convert<C>(at<T>(p[0] + i * s[0])), i};
        arrange(line, order<C>(down));
        for (int64_t i = 0; i < keep; i++) {
          const int64_t from = line[static_cast<size_t>(i)].index;
          at<T>(p[1] + i * s[1]) = at<T>(p[0] + from * s[0]);
          at<int64_t>(p[2] + i * s[2]) = from;
        }
      });
    }
  });
}

void sort_kernel(const Launch& l) {
  const Sorting& a = l.attrs.as<Sorting>();
  arranged_lines(l, a.dim, l.x[0].sizes[a.dim], a.descending, [](auto& line, auto before) { std::sort(line.begin(), line.end(), before); });
}

void topk_kernel(const Launch& l) {
  const TopK& a = l.attrs.as<TopK>();
  arranged_lines(l, a.dim, a.k, a.largest, [&](auto& line, auto before) {
    const auto end = line.begin() + a.k;
    if (a.sorted) std::partial_sort(line.begin(), end, line.end(), before);
    else if (end != line.end()) std::nth_element(line.begin(), end, line.end(), before);
  });
}

// What was chosen by position goes back to that position.
Tensor put_back(const Tensor& v, int dim, const Tensor& index, const Dims& sizes) { return scatter_add(one_zero(sizes, v), dim, index, v); }

// ---- unique

// Of the sorted elements, those that differ from the one before; each NaN is a value of its own.
void unique_make(Tensors x, const Attrs&, Tensor* y) {
  expect(!is_complex(x[0].dtype()), ErrorKind::not_implemented, "unique: not implemented for ", x[0].dtype());
  const Tensor flat = reshape(alias_of(x[0]), {-1});   // without history
  const int64_t n = flat.numel();
  if (n == 0) {
    y[0] = alias_of(flat);
    y[1] = empty(x[0].sizes(), DType::int64, flat.device());
    y[2] = empty({0}, DType::int64, flat.device());
    return;
  }
  const Values s = sort(flat, 0);
  const Tensor starts[] = {ones({1}, DType::bool_, flat.device()), ne(narrow(s.values, 0, 1, n - 1), narrow(s.values, 0, 0, n - 1))};
  const Tensor start = cat(starts), first = select(nonzero(start), 1, 0), one = wrapped(1);
  const Tensor ends[] = {narrow(first, 0, 1, first.numel() - 1), full({1}, n, DType::int64, flat.device())};
  y[0] = index_select(s.values, 0, first);
  y[1] = reshape(scatter(s.indices, 0, s.indices, cumsum(start, 0) - one), x[0].sizes());
  y[2] = cat(ends) - first;
}

}  // namespace

const Op op_sort{.name = "sort", .fields = fields_of<Sorting>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = shapes::same,
    .d = {rule([](V v, Y<1> index, const Sorting& a, XShape<0> x) { return put_back(v, a.dim, index, x.sizes); })},
    .t = {rule([](V v, Y<1> index, const Sorting& a) { return gather(v, a.dim, index); })},
    .batch = batch::shift<&Sorting::dim>, .doc = "The elements in order along a dimension, and where each came from.", .reference = sort_kernel};
Values sort(const Tensor& x, int64_t dim, bool descending) {
  return along_values(x, dim, "sort", [&](const Tensor& v, int d) { return apply_values(op_sort, v, Sorting{d, descending}); });
}

const Op op_topk{.name = "topk", .fields = fields_of<TopK>, .kind = Kind::custom, .outputs = 2, .types = types::with_index,
    .shape = [](Tensors x, const Attrs& attrs, Dims* out) {
      const TopK& a = attrs.as<TopK>();
      out[0] = x[0].sizes();
      out[0][a.dim] = a.k;
      out[1] = out[0];
    },
    .d = {rule([](V v, Y<1> index, const TopK& a, XShape<0> x) { return put_back(v, a.dim, index, x.sizes); })},
    .t = {rule([](V v, Y<1> index, const TopK& a) { return gather(v, a.dim, index); })},
    .batch = batch::shift<&TopK::dim>, .doc = "The k largest (or smallest) elements along a dimension, and where they are.", .reference = topk_kernel};
Values topk(const Tensor& x, int64_t k, int64_t dim, bool largest, bool sorted) {
  const int d = wrap_dim(dim, x.dim(), "topk");
  expect(k >= 0 && k <= (x.dim() ? x.size(d) : 1), "topk: selected index k out of range, got ", k);
  if (x.dim() == 0 && k == 0) return topk(reshape(x, {1}), 0);
  return along_values(x, dim, "topk", [&](const Tensor& v, int d) { return apply_values(op_topk, v, TopK{k, d, largest, sorted}); });
}

namespace {
// Per distinct value, of what equal elements share.
Tensor shared(const Tensor& v, const Tensor& counts) { return v / to_dtype(counts, v.dtype()); }
}  // namespace

const Op op_unique{.name = "unique", .torch = "Unique2Backward0||result inverse counts", .kind = Kind::custom, .outputs = 3, .types = [](Tensors x, const Attrs&) { return Types{x[0].dtype(), {x[0].dtype(), DType::int64, DType::int64}}; }, .shape = shapes::same,
    .d = {rule([](V v, Y<1> inverse, Y<2> counts, XShape<0> x) { return reshape(index_select(shared(v, counts), 0, flatten(inverse)), x.sizes); })},
    .t = {rule([](V v, Y<1> inverse, Y<2> counts) {
      return shared(index_add(zeros({counts.size(0)}, v.dtype(), v.device()), 0, flatten(inverse), flatten(v)), counts);
    })},
    .make = unique_make, .doc = "The distinct values in order, which of them each element is, and how often each occurs."};
Unique unique(const Tensor& x) {
  cuda::expect_values(x, "unique");
  Tensor y[max_outputs];
  apply(op_unique, {&x, 1}, {}, y);
  return {y[0], y[1], y[2]};
}

const Op* const sort_ops[] = {&op_sort, &op_topk, &op_unique};
Ops families::sort() { return sort_ops; }

}  // namespace adjoint
