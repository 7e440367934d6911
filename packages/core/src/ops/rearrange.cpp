// Joins, repetitions, rotations and writes into parts: composed of other operations, so without records.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/random_lanes.h>

namespace adjoint {

// ---- joins of tensors of any rank

Tensor atleast(const Tensor& x, int n) {
  Tensor y = x.dim() ? x : reshape(x, {1});
  if (n >= 2 && y.dim() == 1) y = unsqueeze(y, 0);
  return n == 3 && y.dim() == 2 ? unsqueeze(y, -1) : y;
}

namespace {
template <class F> TensorVector each(Tensors x, F&& f) {
  TensorVector y;
  for (const Tensor& t : x) y.push_back(f(t));
  return y;
}
void expect_some(Tensors x, const char* op) { expect(!x.empty(), op, ": expects a non-empty TensorList"); }
}  // namespace

Tensor hstack(Tensors x) {
  expect_some(x, "hstack");
  const TensorVector t = each(x, [](const Tensor& v) { return atleast(v, 1); });
  return cat(t, t[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(Tensors x) {
  expect_some(x, "vstack");
  return cat(each(x, [](const Tensor& v) { return atleast(v, 2); }), 0);
}
Tensor dstack(Tensors x) {
  expect_some(x, "dstack");
  return cat(each(x, [](const Tensor& v) { return atleast(v, 3); }), 2);
}
Tensor column_stack(Tensors x) {
  expect_some(x, "column_stack");
  return cat(each(x, [](const Tensor& v) { return v.dim() < 2 ? reshape(v, {v.numel(), 1}) : v; }), 1);
}

// ---- rotations, repetitions, differences

Tensor rot90(const Tensor& x, int64_t k, const Dims& dims) {
  expect(dims.size() == 2, "rot90: expected total rotation dims == 2, but got dims = ", dims.size());
  expect(x.dim() >= 2, "rot90: expected total dims >= 2, but got total dims = ", x.dim());
  const int a = wrap_dim(dims[0], x.dim(), "rot90"), b = wrap_dim(dims[1], x.dim(), "rot90");
  expect(a != b, "rot90: expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return transpose(flip(x, {b}), a, b);
    case 2: return flip(x, {a, b});
    case 3: return transpose(flip(x, {a}), a, b);
    default: return clone(x);
  }
}

Tensor repeat_interleave(const Tensor& x, int64_t repeats, std::optional<int64_t> dim) {
  expect(repeats >= 0, "repeat_interleave: repeats must be non-negative, got ", repeats);
  if (!dim || x.dim() == 0) return repeat_interleave(reshape(x, {-1}), repeats, 0);
  const int d = wrap_dim(*dim, x.dim(), "repeat_interleave");
  Dims spread = x.sizes(), joined = x.sizes();
  spread.insert(d + 1, repeats);
  expect(!__builtin_mul_overflow(joined[d], repeats, &joined[d]), ErrorKind::shape, "repeat_interleave: ", repeats, " repeats of ", x.size(d), " elements are too many");
  return as_result(reshape(clone(expand(unsqueeze(x, d + 1), spread)), joined));
}
Tensor repeat_interleave_index(const Tensor& repeats) {
  expect(repeats.dim() == 1, "repeat_interleave: repeats must be 0-dim or 1-dim tensor, got shape ", repeats.sizes());
  expect(repeats.dtype() == DType::int64 || repeats.dtype() == DType::int32, "repeat_interleave: repeats must have int or long type, got ", repeats.dtype());
  if (repeats.numel() == 0) return zeros({0}, DType::int64, repeats.device());
  cuda::expect_values(repeats, "repeat_interleave");
  const auto in_all_lanes = [](const Tensor& x) { return level_top && random_lanes.all ? random_lanes.all(x) : x; };
  const int64_t least = item(amin(in_all_lanes(repeats))).to<int64_t>();
  expect(least >= 0, "repeat_interleave: repeats can not be negative, got ", least);
  const Tensor ends = cumsum(to_dtype(repeats, DType::int64), 0), totals = in_all_lanes(select(ends, 0, -1));
  const int64_t total = item(amax(totals)).to<int64_t>();
  expect(item(amin(totals)).to<int64_t>() == total, "repeat_interleave: vmap: repeats must have one sum in all lanes, got ", item(amin(totals)).to<int64_t>(), " and ", total);
  return searchsorted(ends, counting(total, repeats.device()), true);
}
Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> dim) {
  if (!dim || x.dim() == 0) return repeat_interleave(reshape(x, {-1}), repeats, 0);
  const int64_t n = x.size(wrap_dim(*dim, x.dim(), "repeat_interleave"));
  expect(repeats.numel() == 1 || repeats.numel() == n, "repeat_interleave: repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.numel(), " and input.size(", *dim, ") = ", n);
  return index_select(x, *dim, repeat_interleave_index(repeats.numel() == 1 ? expand(reshape(repeats, {1}), {n}) : repeats));
}

Tensor diff(const Tensor& x, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  expect(x.dim() >= 1, "diff: expects input to be at least one-dimensional");
  expect(n >= 0, "diff: order must be non-negative but got ", n);
  const int d = wrap_dim(dim, x.dim(), "diff");
  if (n == 0) return clone(x);
  TensorVector parts;
  for (const Tensor& t : {prepend, x, append}) if (t) parts.push_back(t);
  Tensor y = parts.size() > 1 ? cat(parts, d) : x;
  for (int64_t i = 0; i < n && y.size(d) > 0; i++) {
    const Tensor later = narrow(y, d, 1, y.size(d) - 1), earlier = narrow(y, d, 0, y.size(d) - 1);
    y = y.dtype() == DType::bool_ ? logical_xor(later, earlier) : later - earlier;
  }
  return y;
}

// ---- x with a part of it replaced

namespace {
Tensor replaced(const Tensor& x, const Tensor& source, const char* op, const auto& part_of) {
  Tensor y = clone(x), part = part_of(y);
  expect(source.sizes() == part.sizes(), ErrorKind::shape, op, ": expected src to have a size equal to the slice of self. src size = ", source.sizes(), ", slice size = ", part.sizes());
  copy_(part, source);
  return y;
}
}  // namespace

Tensor select_scatter(const Tensor& x, const Tensor& source, int64_t dim, int64_t index) {
  return replaced(x, source, "select_scatter", [&](const Tensor& y) { return select(y, dim, index); });
}
Tensor slice_scatter(const Tensor& x, const Tensor& source, int64_t dim, int64_t start, int64_t stop, int64_t step) {
  return replaced(x, source, "slice_scatter", [&](const Tensor& y) { return slice(y, dim, start, stop, step); });
}
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int64_t offset, int64_t a, int64_t b) {
  return replaced(x, source, "diagonal_scatter", [&](const Tensor& y) { return diagonal(y, offset, a, b); });
}

// The k-th element under the mask is the k-th of source: its position, behind one that nothing under the mask takes, is a running count where the mask is not to be read.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  expect(mask.dtype() == DType::bool_, "masked_scatter: expected BoolTensor for mask, got ", mask.dtype());
  expect(x.dtype() == source.dtype(), "masked_scatter: expected self and source to have same dtypes but got ", x.dtype(), " and ", source.dtype());
  for (const Tensor* t : {&mask, &source}) expect(t->device() == x.device(), "masked_scatter: Expected all tensors to be on the same device, but found at least two devices, ", x.device(), " and ", t->device());
  const Dims sizes = broadcast(x.sizes(), mask.sizes(), "masked_scatter");
  const Tensor under = reshape(expand(mask, sizes), {-1});
  if (!(mask->keys & key_lifted) && !cuda::without_values(mask)) {
    const Tensor at = select(nonzero(under), 1, 0);
    expect(at.numel() <= source.numel(), "masked_scatter: expected number of elements of source >= number of ones in mask, got ", source.numel(), " and ", at.numel());
    return as_result(reshape(index_put(reshape(expand(x, sizes), {-1}), {&at, 1}, narrow(reshape(source, {-1}), 0, 0, at.numel()), false), sizes));
  }
  const Tensor count = cumsum(to_dtype(under, DType::int64), 0);
  const Tensor values[] = {zeros({1}, x.dtype(), x.device()), reshape(source, {-1})};
  return where(expand(mask, sizes), reshape(gather(cat(values), 0, count), sizes), x);
}

}  // namespace adjoint
