// Joins and copies that move elements: cat, flip, roll, pad, triangles.
#include <adjoint/core/batch.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/linalg.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/passing_views.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"
#include "positions.h"

namespace adjoint {

namespace {

using positions::dims_of;
using positions::Restrided;

// On the device of the call: these kernels only name the parts of memory that go somewhere.
void copy(const Launch& l, const View& from, const View& to) {
  if (l.device.type == DeviceType::cpu) return positions::copy(from, to);
  if (to.numel) cuda::copy_kernel({{&from, 1}, {&to, 1}, l.attrs, l.op, false, l.device});
}

// y from `start` on along `dim`, `length` long.
Restrided part(const View& y, int dim, int64_t start, int64_t length) {
  View moved = y;
  moved.data += start * y.strides[dim] * itemsize(y.dtype);
  Dims sizes = dims_of(y.sizes, y.ndim);
  sizes[dim] = length;
  return {moved, sizes, dims_of(y.strides, y.ndim)};
}

// A few runs of memory: views would cost more than their copies.
bool cat_runs(const Launch& l, int dim) {
  const View& y = l.y[0];
  if (l.device.type != DeviceType::cpu || y.numel > 1 << 14 || !y.contiguous()) return false;
  for (const View& x : l.x) if (!x.contiguous()) return false;
  int64_t outer = 1, inner = itemsize(y.dtype);
  for (int i = 0; i < y.ndim; i++) (i < dim ? outer : inner) *= i == dim ? 1 : y.sizes[i];
  if (outer > 16 && outer * static_cast<int64_t>(l.x.size()) * 256 > y.numel * itemsize(y.dtype)) return false;   // short ones
  char* to = y.data;
  for (int64_t i = 0; i < outer; i++)
    for (const View& x : l.x) {
      const int64_t run = x.sizes[dim] * inner;
      if (run) std::memcpy(to, x.data + i * run, static_cast<size_t>(run));
      to += run;
    }
  return true;
}

void cat_kernel(const Launch& l) {
  const int dim = l.attrs.as<Dim>().dim;
  if (cat_runs(l, dim)) return;
  int64_t at = 0;
  for (const View& x : l.x) {
    copy(l, x, part(l.y[0], dim, at, x.sizes[dim]).view());
    at += x.sizes[dim];
  }
}
void cat_shape(Tensors x, const Attrs& a, Dims* out) {
  const int dim = a.as<Dim>().dim;
  out[0] = x[0].sizes();
  for (size_t k = 1; k < x.size(); k++) {
    expect(x[k].dim() == x[0].dim(), ErrorKind::shape, "cat: Tensors must have same number of dimensions: got ", x[0].dim(), " and ", x[k].dim());
    for (int i = 0; i < x[0].dim(); i++)
      expect(i == dim || x[k].size(i) == x[0].size(i), ErrorKind::shape, "cat: Sizes of tensors must match except in dimension ", dim, ". Expected size ", x[0].size(i), " but got size ", x[k].size(i),
             " for tensor number ", k, " in the list.");
    out[0][dim] += x[k].size(dim);
  }
}

void flip_kernel(const Launch& l) {
  View x = l.x[0];
  Dims strides = dims_of(x.strides, x.ndim);
  if (x.numel == 0) return;
  for (int64_t d : l.attrs.as<Sizes>().sizes) {
    x.data += (x.sizes[d] - 1) * strides[static_cast<int>(d)] * itemsize(x.dtype);
    strides[static_cast<int>(d)] *= -1;
  }
  copy(l, Restrided(x, dims_of(x.sizes, x.ndim), strides).view(), l.y[0]);
}

// Each rolled dimension splits the tensor in two.
void roll_part(const Launch& l, const View& x, const View& y, int k) {
  const Shifts& a = l.attrs.as<Shifts>();
  if (k == a.dims.size()) return copy(l, x, y);
  const int dim = static_cast<int>(a.dims[k]);
  const int64_t n = x.sizes[dim];
  const int64_t shift = n ? (a.shifts[k] % n + n) % n : 0;
  roll_part(l, part(x, dim, 0, n - shift).view(), part(y, dim, shift, n - shift).view(), k + 1);
  if (shift) roll_part(l, part(x, dim, n - shift, shift).view(), part(y, dim, 0, shift).view(), k + 1);
}
void roll_kernel(const Launch& l) { roll_part(l, l.x[0], l.y[0], 0); }

void fill(const View& y, const Element& value) {
  const View* const v[] = {&y};
  const bool zeros = std::all_of(value.bytes, value.bytes + itemsize(y.dtype), [](char c) { return c == 0; });
  with_bytes(itemsize(y.dtype), [&](auto zero) {
    using T = decltype(zero);
    const T element = *reinterpret_cast<const T*>(value.bytes);
    for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
      if (s[0] == sizeof(T) && zeros) std::memset(p[0], 0, static_cast<size_t>(n) * sizeof(T));
      else if (s[0] == sizeof(T)) std::fill_n(reinterpret_cast<T*>(p[0]), n, element);
      else for (int64_t i = 0; i < n; i++) *reinterpret_cast<T*>(p[0] + i * s[0]) = element;
    });
  });
}
// What is beside a block is zero: rows of other blocks, and columns of its own.
void block_diag_kernel(const Launch& l) {
  const View& y = l.y[0];
  const Element zero(0., y.dtype);
  if (l.device.type != DeviceType::cpu) cuda::fill(y.data, static_cast<size_t>(y.numel), static_cast<size_t>(itemsize(y.dtype)), zero.bytes, l.device.index);
  int64_t down = 0, right = 0;
  for (const View& x : l.x) {
    const int64_t m = x.sizes[x.ndim - 2], n = x.sizes[x.ndim - 1];
    const Restrided rows = part(y, y.ndim - 2, down, m);
    if (l.device.type == DeviceType::cpu) {
      fill(part(rows.view(), y.ndim - 1, 0, right).view(), zero);
      fill(part(rows.view(), y.ndim - 1, right + n, y.sizes[y.ndim - 1] - right - n).view(), zero);
    }
    copy(l, x, part(rows.view(), y.ndim - 1, right, n).view());
    down += m, right += n;
  }
}
void block_diag_shape(Tensors x, const Attrs&, Dims* out) {
  out[0] = x[0].sizes();
  for (const Tensor& t : x.subspan(1))
    for (int d : {-2, -1}) out[0][t.dim() + d] += t.size(d);
}

// What lies around the `common` part of y that begins at `before`: in each dimension two slabs, each within what the earlier ones left.
void fill_border(const View& y, const Dims& before, const Dims& common, const Element& value, int dim = 0) {
  if (dim == y.ndim) return;
  const int64_t start = std::clamp<int64_t>(before[dim], 0, y.sizes[dim]), end = start + common[dim];
  if (start > 0) fill(part(y, dim, 0, start).view(), value);
  if (end < y.sizes[dim]) fill(part(y, dim, end, y.sizes[dim] - end).view(), value);
  fill_border(part(y, dim, start, common[dim]).view(), before, common, value, dim + 1);
}

void pad_kernel(const Launch& l) {
  const Padding& a = l.attrs.as<Padding>();
  View x = l.x[0], y = l.y[0];
  Dims common;
  for (int i = 0; i < x.ndim; i++) {
    const int64_t cropped = std::max<int64_t>(-a.before[i], 0), added = std::max<int64_t>(a.before[i], 0);
    common.push_back(std::max<int64_t>(std::min(x.sizes[i] - cropped, y.sizes[i] - added), 0));
    x.data += cropped * x.strides[i] * itemsize(x.dtype);
    y.data += added * y.strides[i] * itemsize(y.dtype);
  }
  const Element value(a.value, y.dtype);
  const bool short_rows = y.ndim && y.sizes[y.ndim - 1] * itemsize(y.dtype) <= 64;   // shorter than what it takes to go round each
  if (l.device.type == DeviceType::cpu) short_rows ? fill(l.y[0], value) : fill_border(l.y[0], a.before, common, value);
  else cuda::fill(l.y[0].data, static_cast<size_t>(l.y[0].numel), static_cast<size_t>(itemsize(y.dtype)), value.bytes, l.device.index);
  copy(l, Restrided(x, common, dims_of(x.strides, x.ndim)).view(), Restrided(y, common, dims_of(y.strides, y.ndim)).view());
}
void pad_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const Padding& a = attrs.as<Padding>();
  out[0] = x[0].sizes();
  constexpr int64_t most = INT64_MAX / 4;
  for (int i = 0; i < out[0].size(); i++) {
    expect(std::max(a.before[i], a.after[i]) < most && std::min(a.before[i], a.after[i]) > -most, ErrorKind::shape, "pad: a padding of ", a.before[i], " and ", a.after[i], " is too large");
    out[0][i] += a.before[i] + a.after[i];
    expect(out[0][i] >= 0, ErrorKind::shape, "pad: the padded size must not be negative, got ", out[0][i], " at dimension ", i, " of a tensor of size ", x[0].sizes());
  }
}

Dims negated(const Dims& d) {
  Dims r = d;
  for (int64_t& v : r) v = -v;
  return r;
}

// A copy, in which rows of the lower triangle lose what is right of the diagonal, of the upper one the rest.
template <bool lower>
void triangle_kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  if (y.numel == 0) return;
  positions::copy(x, y);
  const int64_t size = itemsize(y.dtype), rows = x.sizes[x.ndim - 2], columns = x.sizes[x.ndim - 1], diagonal = std::clamp(l.attrs.as<Triangle>().diagonal, -rows, columns);
  for (int64_t i = 0; i < y.numel / columns; i++) {
    const int64_t split = std::clamp<int64_t>(i % rows + diagonal + (lower ? 1 : 0), 0, columns);
    const int64_t first = lower ? split : 0, count = lower ? columns - split : split;
    std::memset(y.data + (i * columns + first) * size, 0, static_cast<size_t>(count * size));
  }
}
void matrix_shape(Tensors x, const Attrs&, Dims* out) { out[0] = x[0].sizes(); }

}  // namespace

const Op op_cat{.name = "cat", .fields = fields_of<Dim>, .kind = Kind::linear, .variadic = true, .types = types::promoted, .shape = cat_shape,
    .d = {rule([](V v, Which w, Shapes x, const Dim& a) {
      int64_t start = 0;
      for (int k = 0; k < w.i; k++) start += x.x[k].sizes[a.dim];
      return narrow(v, a.dim, start, x.x[w.i].sizes[a.dim]);
    })},
    .batch = batch::shift<&Dim::dim>,
    .doc = "Tensors one behind the other along an existing dimension.", .reference = cat_kernel, .kernel = {nullptr, cat_kernel}};
Tensor cat(Tensors x, int64_t dim) {
  expect(!x.empty(), ErrorKind::value, "cat: expected a non-empty list of Tensors");
  for (size_t i = 0; i < x.size(); i++) expect(x[i].dim() > 0, ErrorKind::shape, "cat: zero-dimensional tensor (at position ", i, ") cannot be concatenated");
  // An empty 1-d tensor joins with anything, as it did before there were other empty tensors.
  const bool any_matrix = std::any_of(x.begin(), x.end(), [](const Tensor& t) { return t.dim() != 1; });
  TensorVector kept;
  for (const Tensor& t : x)
    if (!any_matrix || t.dim() != 1 || t.size(0) != 0) kept.push_back(t);
  if (kept.size() < x.size()) {
    const DType common = result_type(x);
    for (Tensor& t : kept) t = to_dtype(t, common);
  }
  const bool nothing = std::all_of(kept.begin(), kept.end(), [](const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; });
  Tensor y[max_outputs];
  apply(op_cat, kept, Dim{nothing ? 0 : wrap_dim(dim, kept[0].dim(), "cat")}, y);   // of nothing, along whatever
  return y[0];
}

const Op op_block_diag{.name = "block_diag", .kind = Kind::linear, .variadic = true, .types = types::promoted, .shape = block_diag_shape,
    .d = {rule([](V v, Which w, Shapes x) {
      int64_t down = 0, right = 0;
      for (int k = 0; k < w.i; k++) down += x.x[k].sizes[x.x[k].sizes.size() - 2], right += x.x[k].sizes[x.x[k].sizes.size() - 1];
      const Dims& own = x.x[w.i].sizes;
      return narrow(narrow(v, -2, down, own[own.size() - 2]), -1, right, own[own.size() - 1]);
    })},
    .batch = batch::leading,
    .doc = "Matrices along the diagonal of one, with zeros elsewhere.", .reference = block_diag_kernel, .kernel = {nullptr, block_diag_kernel}};
Tensor block_diag(Tensors x) {
  expect(!x.empty(), "block_diag: expected a non-empty list of Tensors");
  TensorVector blocks;
  const DType common = result_type(x);
  for (const Tensor& t : x) {
    expect(t.dim() <= 2, ErrorKind::shape, "block_diag: Input tensors must have 2 or fewer dimensions. Input ", blocks.size(), " has ", t.dim(), " dimensions");
    blocks.push_back(t.dim() == 2 ? t : reshape(t.dim() == 0 ? to_dtype(t, common) : t, {1, -1}));  // a number is weaker in promotion than the matrix it becomes
  }
  Tensor y[max_outputs];
  apply(op_block_diag, blocks, {}, y);
  return y[0];
}

// x with a dimension of size 1, as an operand of one call: without history there is no view to remember.
static Tensor row_of(const Tensor& x, int d) {
  if (x->keys) return unsqueeze(x, d);
  Tensor y = alias_of(x);
  y->strides.insert(d, d < x.dim() ? x->strides[d] * x.size(d) : 1);
  y->sizes.insert(d, 1);
  y->update_layout();
  return y;
}
Tensor stack(Tensors x, int64_t dim) {
  const Named named("stack", x, "StackBackward0");
  const PassingViews passing(x);
  expect(!x.empty(), "stack: expects a non-empty TensorList");
  const int d = wrap_dim(dim, x[0].dim() + 1, "stack");
  TensorVector rows;
  for (size_t i = 0; i < x.size(); i++) {
    expect(x[i].sizes() == x[0].sizes(), ErrorKind::shape, "stack: expects each tensor to be equal size, but got ", x[0].sizes(), " at entry 0 and ", x[i].sizes(), " at entry ", i);
    rows.push_back(row_of(x[i], d));
  }
  return cat(rows, d);
}

const Op op_flip{.name = "flip", .torch = "|||dims", .fields = fields_of<Sizes>, .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, const Sizes& a) { return flip(v, a.sizes); })}, .batch = batch::shift<&Sizes::sizes>,
    .doc = "`x` in reverse order along some dimensions.", .reference = flip_kernel, .kernel = {nullptr, flip_kernel}};
Tensor flip(const Tensor& x, const Dims& dims) {
  if (dims.empty() || x.dim() == 0) {
    for (int64_t d : dims) wrap_dim(d, x.dim(), "flip");
    return clone(x);
  }
  return apply(op_flip, {x}, Sizes{normal_dims(dims, x.dim(), "flip")});
}

const Op op_roll{.name = "roll", .fields = fields_of<Shifts>, .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, const Shifts& a) { return roll(v, negated(a.shifts), a.dims); })}, .batch = batch::shift<&Shifts::dims>,
    .doc = "`x` shifted along some dimensions; what leaves at one end enters at the other.", .reference = roll_kernel, .kernel = {nullptr, roll_kernel}};
Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims) {
  expect(!shifts.empty(), "roll: `shifts` required");
  expect(dims.empty() || x.dim() > 0, ErrorKind::index, "roll: Dimension specified as ", dims.empty() ? 0 : dims[0], " but tensor has no dimensions");
  if (dims.empty() && shifts.size() == 1) return as_result(reshape(roll(reshape(x, {-1}), shifts, {0}), x.sizes()));
  expect(dims.size() == shifts.size(), "roll: shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Dims wrapped_dims = dims;
  for (int64_t& d : wrapped_dims) d = wrap_dim(d, x.dim(), "roll");
  // A dimension named twice is shifted twice, which is one shift by the sum.
  Shifts a;
  for (int i = 0; i < dims.size(); i++) {
    const auto known = std::find(a.dims.begin(), a.dims.end(), wrapped_dims[i]);
    if (known != a.dims.end()) { a.shifts[static_cast<int>(known - a.dims.begin())] += shifts[i]; continue; }
    a.dims.push_back(wrapped_dims[i]);
    a.shifts.push_back(shifts[i]);
  }
  return x.dim() == 0 ? clone(x) : apply(op_roll, {x}, a);
}

// Affine rather than linear: the derivative pads with zeros.
const Op op_pad{.name = "pad", .torch = "ConstantPadNd", .kind = Kind::custom, .types = types::first, .shape = pad_shape,
    .d = {rule([](V v, const Padding& a) { return pad(v, negated(a.before), negated(a.after)); })},
    .t = {rule([](V v, const Padding& a) { return pad(v, a.before, a.after); })},
    .batch = [](const BatchCall& c, Tensor* out) {
      Padding a = c.attrs.as<Padding>();
      a.before.insert(0, 0);
      a.after.insert(0, 0);
      out[0] = apply(c.op, {batch::front(c, 0)}, a);
    },
    .doc = "`x` with a border of `value`; negative widths crop.", .reference = pad_kernel, .kernel = {nullptr, pad_kernel}};
Tensor pad(const Tensor& x, const Dims& before, const Dims& after, double value) {
  expect(before.size() == x.dim() && after.size() == x.dim(), ErrorKind::shape, "pad: needs one width before and after each of ", x.dim(), " dimensions, got ", before, " and ", after);
  return apply(op_pad, {x}, Padding{before, after, value});
}

const Op op_tril{.name = "tril", .fields = fields_of<Triangle>, .kind = Kind::linear, .types = types::first, .shape = matrix_shape,
    .d = {rule([](V v, const Triangle& a) { return tril(v, a.diagonal); })}, .batch = batch::leading,
    .doc = "The lower triangle of a matrix or of a batch of matrices; zero elsewhere.", .reference = triangle_kernel<true>};
Tensor tril(const Tensor& x, int64_t diagonal) {
  expect(x.dim() >= 2, ErrorKind::shape, "tril: input tensor must have at least 2 dimensions, got ", x.dim());
  return apply(op_tril, {x}, Triangle{diagonal});
}

const Op op_triu{.name = "triu", .fields = fields_of<Triangle>, .kind = Kind::linear, .types = types::first, .shape = matrix_shape,
    .d = {rule([](V v, const Triangle& a) { return triu(v, a.diagonal); })}, .batch = batch::leading,
    .doc = "The upper triangle of a matrix or of a batch of matrices; zero elsewhere.", .reference = triangle_kernel<false>};
Tensor triu(const Tensor& x, int64_t diagonal) {
  expect(x.dim() >= 2, ErrorKind::shape, "triu: input tensor must have at least 2 dimensions, got ", x.dim());
  return apply(op_triu, {x}, Triangle{diagonal});
}

Tensor repeat(const Tensor& x, const Dims& repeats) {
  const int n = repeats.size(), lead = n - x.dim();
  expect(lead >= 0, ErrorKind::shape, "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor, got ", repeats, " for shape ", x.sizes());
  Dims apart, spread, joined;
  for (int i = 0; i < n; i++) {
    expect(repeats[i] >= 0, "repeat: Trying to create tensor with negative dimension ", repeats[i], ": ", repeats);
    const int64_t size = i < lead ? 1 : x.size(i - lead);
    for (int64_t s : {int64_t(1), size}) apart.push_back(s);
    for (int64_t s : {repeats[i], size}) spread.push_back(s);
    joined.push_back(Dims{repeats[i], size}.product());
  }
  const Tensor spread_out = expand(reshape(x, apart), spread), copied = contiguous(spread_out);
  return as_result(reshape(copied.is(spread_out) ? clone(copied) : copied, joined));
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t a, int64_t b) {
  expect(x.dim() >= 1, ErrorKind::shape, "diag_embed: input must have at least 1 dimension");
  const int first = wrap_dim(a, x.dim() + 1, "diag_embed"), second = wrap_dim(b, x.dim() + 1, "diag_embed");
  expect(first != second, "diag_embed: diagonal dimensions cannot be identical ", a, ", ", b);
  expect(offset > INT64_MIN / 2 && offset < INT64_MAX / 2, ErrorKind::shape, "diag_embed: offset ", offset, " is out of range");
  const int64_t n = x.size(-1) + std::abs(offset);
  Dims sizes = x.sizes();
  sizes.erase(x.dim() - 1);
  for (int d : {std::min(first, second), std::max(first, second)}) sizes.insert(d, n);
  return diagonal_scatter_zeros(x, sizes, {offset, first, second});
}
Tensor diag(const Tensor& x, int64_t diagonal_offset) {
  expect(x.dim() == 1 || x.dim() == 2, ErrorKind::shape, "diag: Supports 1D or 2D tensors. Got ", x.dim(), "D");
  return x.dim() == 1 ? diag_embed(x, diagonal_offset) : clone(diagonal(x, diagonal_offset));
}

const Op* const join_ops[] = {&op_block_diag, &op_cat, &op_flip, &op_pad, &op_roll, &op_tril, &op_triu};
Ops families::join() { return join_ops; }

}  // namespace adjoint
