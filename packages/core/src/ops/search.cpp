// Where values belong in sorted sequences, and how often integers occur.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/batch.h>
#include <adjoint/core/random_lanes.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"
#include "lanes.h"

namespace adjoint {

namespace {

// The first position whose element is not before `value`; NaN comes after all.
template <class T> int64_t position_of(const char* sorted, int64_t step, int64_t n, T value, bool right) {
  int64_t first = 0;
  while (first < n) {
    const int64_t middle = first + (n - first) / 2;
    const T v = *reinterpret_cast<const T*>(sorted + middle * step);
    const bool behind = right ? v > value || (is_nan(v) && !is_nan(value)) : v >= value || is_nan(v);
    if (behind) n = middle;
    else first = middle + 1;
  }
  return first;
}

void search_kernel(const Launch& l) {
  const View &sorted = l.x[0], &values = l.x[1], &y = l.y[0];
  const bool right = l.attrs.as<Search>().right;
  const int last = sorted.ndim - 1;
  with_type(sorted.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", sorted.dtype);
    else for_lines<3>({&sorted, &values, &y}, last, [&](char* const* p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < values.sizes[last]; i++) at<int64_t>(p[2] + i * s[2]) = position_of(p[0], s[0], n, at<T>(p[1] + i * s[1]), right);
    });
  });
}

}  // namespace

const Op op_searchsorted{.name = "searchsorted", .fields = fields_of<Search>, .types = types::positions, .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = x[1].sizes(); },
    .batch = batch::leading, .doc = "The positions along the last dimension of `sorted` at which `values` keep it sorted; NaN comes after all numbers.", .reference = search_kernel};
Tensor searchsorted(const Tensor& boundaries, const Tensor& wanted, bool right) {
  const Tensor both[] = {boundaries, wanted};
  const DType common = result_type(both);
  const Tensor sorted = to_dtype(boundaries, common), values = to_dtype(wanted, common);
  if (sorted.dim() == 1) return as_result(reshape(apply(op_searchsorted, {sorted, reshape(values, {-1})}, Search{right}), values.sizes()));
  bool fits = sorted.dim() > 0 && sorted.dim() == values.dim();
  for (int i = 0; fits && i + 1 < sorted.dim(); i++) fits = sorted.size(i) == values.size(i);
  expect(fits, ErrorKind::shape, "searchsorted: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, got ", sorted.sizes(), " and ",
         values.sizes());
  return apply(op_searchsorted, {sorted, values}, Search{right});
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength) {
  expect(x.dim() == 1 && is_integral(x.dtype()), "bincount: only supports 1-d non-negative integral inputs, got ", x.dtype(), " of shape ", x.sizes());
  expect(minlength >= 0, "bincount: minlength should be >= 0, got ", minlength);
  expect(!weights || weights.sizes() == x.sizes(), ErrorKind::shape, "bincount: weights should be 1-d and have the same length as input, got ", weights ? weights.sizes() : Dims());
  const Tensor at = to_dtype(x, DType::int64);
  if (x.numel() > 0) {
    cuda::expect_values(x, "bincount");
    const Tensor all = level_top && random_lanes.all ? random_lanes.all(at) : at;   // members of a batch have counts of one length
    const int64_t least = item(amin(all)).to<int64_t>();
    expect(least >= 0, "bincount: only supports 1-d non-negative integral inputs, got ", least);
    minlength = std::max(minlength, item(amax(all)).to<int64_t>() + 1);
  }
  const Tensor amounts = weights ? weights.dtype() == DType::float32 ? weights : to_dtype(weights, DType::float64) : ones(x.sizes(), DType::int64, x.device());
  return index_add(zeros({minlength}, amounts.dtype(), x.device()), 0, at, amounts);
}

const Op* const search_ops[] = {&op_searchsorted};
Ops families::search() { return search_ops; }

}  // namespace adjoint
