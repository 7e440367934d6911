// Views: the same memory under other sizes and strides. Each is linear; its transpose scatters into zeros.
#include <adjoint/core/batch.h>
#include <adjoint/core/history.h>
#include <adjoint/core/layout.h>
#include <adjoint/core/settle.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/split_views.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"

namespace adjoint {

namespace {

// Strides under which `sizes` sees x's memory in order, or nothing if a copy is needed.
std::optional<Dims> view_strides(const TensorImpl& x, const Dims& sizes) {
  if (x.numel == 0 || x.contiguous()) return contiguous_strides(sizes);
  Dims strides(sizes.size(), 0);
  int v = sizes.size() - 1;
  int64_t chunk = 1, chunk_stride = x.ndim() ? x.strides.back() : 1, view_numel = 1;
  for (int d = x.ndim() - 1; d >= 0; d--) {
    chunk *= x.sizes[d];
    const bool ends = d == 0 || (x.sizes[d - 1] != 1 && x.strides[d - 1] != chunk * chunk_stride);
    if (!ends) continue;
    while (v >= 0 && (view_numel < chunk || sizes[v] == 1)) {
      strides[v] = view_numel * chunk_stride;
      view_numel *= sizes[v--];
    }
    if (view_numel != chunk) return {};
    if (d > 0) { chunk = view_numel = 1; chunk_stride = x.strides[d - 1]; }
  }
  return v == -1 ? std::optional(strides) : std::nullopt;
}

// Replaces one -1 by what is left.
Dims infer_size(const Dims& sizes, int64_t numel, const char* op) {
  Dims r = sizes;
  int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < r.size(); i++) {
    if (r[i] >= 0) { known = Dims{known, r[i]}.product(); continue; }
    expect(r[i] == -1, ErrorKind::shape, op, ": invalid shape dimension ", r[i]);
    expect(unknown < 0, ErrorKind::shape, op, ": only one dimension can be inferred, got ", sizes);
    unknown = i;
  }
  if (unknown >= 0) {
    expect(known != 0, ErrorKind::shape, op, ": cannot reshape tensor of ", numel, " elements into shape ", sizes, " because the unspecified dimension size -1 can be any value and is ambiguous");
    if (numel % known == 0) r[unknown] = numel / known;
  }
  expect(r.product() == numel && (unknown < 0 || r[unknown] >= 0), ErrorKind::shape, op, ": shape '", sizes, "' is invalid for input of size ", numel);
  return r;
}

Tensor zeros_of(const Tensor& v, const Dims& sizes) { return zeros(sizes, v.dtype(), v.device()); }


}  // namespace

const Op op_alias{.name = "alias", .kind = Kind::linear, .d = {rule([](V v) -> Tensor { return v; })}, .batch = batch::leading,
    .alias = [](const TensorImpl&, const Attrs&, TensorImpl&) {}, .doc = "A view of all of `x`."};
Tensor alias(const Tensor& x) { return apply(op_alias, {x}); }

const Op op_expand{.name = "expand", .fields = fields_of<Sizes>, .kind = Kind::linear,
    .d = {rule([](V v, XShape<0> x) { return unbroadcast(v, x.sizes); })},
    .batch = [](const BatchCall& c, Tensor* out) {
      Sizes a = c.attrs.as<Sizes>();
      Tensor x = batch::front(c, 0);
      const int missing = a.sizes.size() + 1 - x.dim();
      for (int i = 0; i < missing; i++) x = unsqueeze(x, 1);
      a.sizes.insert(0, c.size);
      out[0] = apply(c.op, {x}, a);
    },
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Dims& to = attrs.as<Sizes>().sizes;
      const int lead = to.size() - x.ndim();
      y.sizes = to;
      y.strides = Dims(to.size(), 0);
      for (int i = 0; i < x.ndim(); i++) y.strides[lead + i] = x.sizes[i] == 1 && to[lead + i] != 1 ? 0 : x.strides[i];
      for (int i = lead - 1; i >= 0; i--) y.strides[i] = to[i] != 1 ? 0 : i + 1 < to.size() ? to[i + 1] * y.strides[i + 1] : 1;
    },
    .doc = "`x` repeated along new and singleton dimensions without copying."};
Tensor expand(const Tensor& x, const Dims& sizes) {
  const int lead = sizes.size() - x.dim();
  expect(lead >= 0, ErrorKind::shape, "expand: the number of sizes provided (", sizes.size(), ") must be greater or equal to the number of dimensions in the tensor (", x.dim(), ")");
  Dims to = sizes;
  for (int i = 0; i < to.size(); i++) {
    if (to[i] == -1 && i >= lead) to[i] = x.sizes()[i - lead];
    expect(to[i] >= 0, ErrorKind::shape, "expand: the expanded size (", to[i], ") isn't allowed in a leading, non-existing dimension ", i);
    expect(i < lead || x.sizes()[i - lead] == 1 || x.sizes()[i - lead] == to[i], ErrorKind::shape, "expand: The expanded size of the tensor (", to[i],
           ") must match the existing size (", i < lead ? 1 : x.sizes()[i - lead], ") at non-singleton dimension ", i, ". Target sizes: ", sizes, ". Tensor sizes: ", x.sizes());
  }
  return to == x.sizes() ? alias(x) : apply(op_expand, {x}, Sizes{to});
}

const Op op_view{.name = "view", .fields = fields_of<Sizes>, .kind = Kind::linear,
    .d = {rule([](V v, XShape<0> x) { return reshape(v, x.sizes); })},
    .batch = [](const BatchCall& c, Tensor* out) {
      Sizes a = c.attrs.as<Sizes>();
      a.sizes.insert(0, c.size);
      out[0] = view(batch::front(c, 0), a.sizes);
    },
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Dims& to = attrs.as<Sizes>().sizes;
      const auto strides = view_strides(x, to);
      expect(strides.has_value(), "view: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
      y.sizes = to;
      y.strides = *strides;
    },
    .doc = "The same elements in the same order under another shape, without copying."};
Tensor view(const Tensor& x, const Dims& sizes) { return apply(op_view, {x}, Sizes{infer_size(sizes, x.numel(), "view")}); }
Tensor reshape(const Tensor& x, const Dims& sizes) {
  const Named named("reshape", {&x, 1});
  const Dims to = infer_size(sizes, x.numel(), "reshape");
  if (view_strides(*x, to)) return apply(op_view, {x}, Sizes{to});
  return as_result(apply(op_view, {contiguous(x)}, Sizes{to}));
}
// y as what a function gives: a view of what nobody else sees is none.
Tensor as_result(Tensor y) {
  if (!(y->keys & key_lifted)) {
    y->view = {};
    y->keys &= ~key_view;
  }
  return y;
}

namespace {

// Sizes and strides counted in elements of another size, in which the last dimension grows or shrinks.
void recount(TensorImpl& y, DType to) {
  const int64_t was = itemsize(y.dtype), is = itemsize(to);
  if (was == is) return;
  const int last = y.ndim() - 1;
  auto need = [&](bool holds, auto&&... rule) { expect(holds, "view: self.", rule..., " to view ", y.dtype, " as ", to, " (different element sizes)"); };
  need(last >= 0, "dim() cannot be 0");
  need(y.strides[last] == 1, "stride(-1) must be 1");
  const int64_t ratio = std::max(was, is) / std::min(was, is);
  auto scale = [&](int64_t& n, auto&&... name) {
    need(was > is || n % ratio == 0, name..., " must be divisible by ", ratio);
    n = was > is ? n * ratio : n / ratio;
  };
  int64_t offset = y.offset();
  scale(offset, "storage_offset()");
  scale(y.sizes[last], "size(-1)");
  for (int i = 0; i < last; i++) scale(y.strides[i], "stride(", i, ")");
}

}  // namespace

// The bits of x as numbers of another type, which have no derivative.
const Op op_view_dtype{.name = "view_dtype", .kind = Kind::linear, .batch = batch::leading,
    .alias = [](const TensorImpl&, const Attrs& attrs, TensorImpl& y) {
      const DType to = attrs.as<Cast>().dtype;
      recount(y, to);
      y.dtype = to;
    },
    .doc = "The memory of `x` read as another dtype; where that has another size, the last dimension is that much longer or shorter."};

const Op op_permute{.name = "permute", .torch = "|||dims", .fields = fields_of<Sizes>, .kind = Kind::linear,
    .d = {rule([](V v, const Sizes& a) {
      Dims inverse(a.sizes.size(), 0);
      for (int i = 0; i < a.sizes.size(); i++) inverse[static_cast<int>(a.sizes[i])] = i;
      return permute(v, inverse);
    })},
    .batch = [](const BatchCall& c, Tensor* out) {
      Sizes a = c.attrs.as<Sizes>();
      for (int64_t& d : a.sizes) d++;
      a.sizes.insert(0, 0);
      out[0] = apply(c.op, {batch::front(c, 0)}, a);
    },
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Dims& order = attrs.as<Sizes>().sizes;
      for (int i = 0; i < order.size(); i++) {
        y.sizes[i] = x.sizes[static_cast<int>(order[i])];
        y.strides[i] = x.strides[static_cast<int>(order[i])];
      }
    },
    .doc = "The dimensions of `x` in another order."};
Tensor permute(const Tensor& x, const Dims& dims) {
  expect(dims.size() == x.dim(), ErrorKind::shape, "permute: number of dimensions in the tensor input does not match the length of the desired ordering of dimensions, i.e. input.dim() = ", x.dim(), " is not equal to len(dims) = ", dims.size());
  Dims order = dims;
  Dims seen(x.dim(), 0);
  for (int64_t& d : order) {
    d = wrap_dim(d, x.dim(), "permute");
    expect(!seen[static_cast<int>(d)]++, ErrorKind::shape, "permute: duplicate dims are not allowed, got ", dims);
  }
  return apply(op_permute, {x}, Sizes{order});
}

const Op op_transpose{.name = "transpose", .torch = "|||dim0 dim1", .fields = fields_of<Dims2>, .kind = Kind::linear,
    .d = {rule([](V v, const Dims2& a) { return transpose(v, a.a, a.b); })}, .batch = batch::shift<&Dims2::a, &Dims2::b>,
    .alias = [](const TensorImpl&, const Attrs& attrs, TensorImpl& y) {
      const auto [a, b] = attrs.as<Dims2>();
      std::swap(y.sizes[a], y.sizes[b]);
      std::swap(y.strides[a], y.strides[b]);
    },
    .doc = "Two dimensions of `x` exchanged."};
Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  const Dims2 dims{wrap_dim(a, x.dim(), "transpose"), wrap_dim(b, x.dim(), "transpose")};
  const Named named("transpose", {&x, 1}, "TransposeBackward0");
  return x.dim() == 0 ? alias(x) : apply(op_transpose, {x}, dims);
}
Tensor mT(const Tensor& x) {
  expect(x.dim() >= 2, ErrorKind::shape, "mT: only supported on matrices or batches of matrices, got a ", x.dim(), "-d tensor");
  return transpose(x, -2, -1);
}

Tensor squeeze(const Tensor& x, const OptionalDims& dims) {
  const Named named("squeeze", {&x, 1}, !dims ? "SqueezeBackward0" : dims->size() == 1 ? "SqueezeBackward1" : "SqueezeBackward2");
  Dims which, to;
  if (dims) for (int64_t d : *dims) {
    const int k = wrap_dim(d, x.dim(), "squeeze");
    expect(!which.contains(k), "squeeze: dim ", k, " appears multiple times in the list of dims");
    which.push_back(k);
  }
  for (int i = 0; i < x.dim(); i++)
    if (x.sizes()[i] != 1 || (dims && !which.contains(i))) to.push_back(x.sizes()[i]);
  return to.size() == x.dim() ? alias(x) : apply(op_view, {x}, Sizes{to});
}
Tensor unsqueeze(const Tensor& x, int64_t dim) {
  const Named named("unsqueeze", {&x, 1}, "UnsqueezeBackward0");
  const int d = wrap_dim(dim, x.dim() + 1, "unsqueeze");
  Dims to = x.sizes();
  to.insert(d, 1);
  return apply(op_view, {x}, Sizes{to});
}

const Op op_slice{.name = "slice", .fields = fields_of<Slice>, .kind = Kind::linear,
    .d = {rule([](V v, const Slice& a, XShape<0> x) { return slice_scatter_zeros(v, x.sizes, a); })}, .batch = batch::shift<&Slice::dim>,
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Slice& a = attrs.as<Slice>();
      y.sizes[a.dim] = (a.stop - a.start + a.step - 1) / a.step;
      y.data += a.start * x.strides[a.dim] * itemsize(x.dtype);
      y.strides[a.dim] = x.strides[a.dim] * a.step;
    },
    .doc = "Elements start, start + step, ... below stop along one dimension."};
Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t stop, int64_t step) {
  expect(x.dim() > 0, ErrorKind::index, "slice: cannot be applied to a 0-d tensor");
  expect(step > 0, ErrorKind::value, "slice: step must be positive, got ", step);
  const int d = wrap_dim(dim, x.dim(), "slice");
  const int64_t n = x.size(d);
  start = std::clamp<int64_t>(start < 0 ? start + n : start, 0, n);
  stop = std::clamp<int64_t>(stop < 0 ? stop + n : stop, start, n);
  step = std::min(step, std::max<int64_t>(n, 1));   // beyond the end there is no second element
  return apply(op_slice, {x}, Slice{d, start, stop, step});
}
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  const Named named("narrow", {&x, 1});
  expect(x.dim() > 0, "narrow: cannot be applied to a 0-dim tensor.");
  const int d = wrap_dim(dim, x.dim(), "narrow");
  const int64_t n = x.size(d), first = start < 0 ? start + n : start;
  expect(start >= -n && start <= n, ErrorKind::index, "narrow: start out of range (expected to be in range of [", -n, ", ", n, "], but got ", start, ")");
  expect(length >= 0 && length <= n - first, "narrow: start (", start, ") + length (", length, ") exceeds dimension size (", n, ").");
  return slice(x, d, first, first + length);
}

const Op op_select{.name = "select", .fields = fields_of<At>, .kind = Kind::linear,
    .d = {rule([](V v, const At& a, XShape<0> x) { return select_scatter_zeros(v, x.sizes, a); })}, .batch = batch::shift<&At::dim>,
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const At& a = attrs.as<At>();
      y.data += a.index * x.strides[a.dim] * itemsize(x.dtype);
      y.sizes.erase(a.dim);
      y.strides.erase(a.dim);
    },
    .doc = "One position along a dimension, which goes away."};
Tensor select(const Tensor& x, int64_t dim, int64_t index) {
  expect(x.dim() > 0, ErrorKind::index, "select: cannot be applied to a 0-dim tensor.");
  const int d = wrap_dim(dim, x.dim(), "select");
  const int64_t n = x.size(d);
  expect(index >= -n && index < n, ErrorKind::index, "select: index ", index, " is out of bounds for dimension ", d, " with size ", n);
  return apply(op_select, {x}, At{d, index < 0 ? index + n : index});
}

const Op op_diagonal{.name = "diagonal", .fields = fields_of<Diagonal>, .kind = Kind::linear,
    .d = {rule([](V v, const Diagonal& a, XShape<0> x) { return diagonal_scatter_zeros(v, x.sizes, a); })}, .batch = batch::shift<&Diagonal::a, &Diagonal::b>,
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Diagonal& g = attrs.as<Diagonal>();
      const int64_t rows = x.sizes[g.a] - std::max<int64_t>(-g.offset, 0), cols = x.sizes[g.b] - std::max<int64_t>(g.offset, 0);
      const int64_t n = std::max<int64_t>(std::min(rows, cols), 0), step = x.strides[g.a] + x.strides[g.b];
      if (n) y.data += (g.offset >= 0 ? g.offset * x.strides[g.b] : -g.offset * x.strides[g.a]) * itemsize(x.dtype);
      for (int d : {std::max(g.a, g.b), std::min(g.a, g.b)}) { y.sizes.erase(d); y.strides.erase(d); }
      y.sizes.push_back(n);
      y.strides.push_back(step);
    },
    .doc = "A diagonal of two dimensions, as the last dimension of the result."};
Tensor diagonal(const Tensor& x, int64_t offset, int64_t a, int64_t b) {
  const int p = wrap_dim(a, x.dim(), "diagonal"), q = wrap_dim(b, x.dim(), "diagonal");
  expect(p != q, "diagonal: diagonal dimensions cannot be identical ", a, ", ", b);
  return apply(op_diagonal, {x}, Diagonal{std::clamp(offset, -x.size(p), x.size(q)), p, q});
}

const Op op_unfold{.name = "unfold", .fields = fields_of<Windows>, .kind = Kind::linear,
    .d = {rule([](V v, const Windows& a, XShape<0> x) {
      if (a.step >= a.size && !(v->keys & key_lifted) && !history_is_kept()) {   // windows that do not meet: each element once
        const Tensor y = zeros_of(v, x.sizes);
        copy_(unfold(y, a.dim, a.size, a.step), v);
        return y;
      }
      const Tensor starts = mul(counting(v.size(a.dim), v.device()), wrapped(a.step));
      const Tensor at = add(unsqueeze(starts, 1), counting(a.size, v.device()));
      const Tensor rows = flatten(movedim(v, -1, a.dim + 1), a.dim, a.dim + 1);
      return index_add(zeros_of(v, x.sizes), a.dim, reshape(at, {-1}), rows);
    })},
    .batch = batch::shift<&Windows::dim>,
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Windows& a = attrs.as<Windows>();
      y.sizes[a.dim] = (x.sizes[a.dim] - a.size) / a.step + 1;
      y.strides[a.dim] = x.strides[a.dim] * a.step;
      y.sizes.push_back(a.size);
      y.strides.push_back(x.strides[a.dim]);
    },
    .doc = "All windows of one size along a dimension, `step` apart, as the last dimension of the result."};

const Op op_as_strided{.name = "as_strided", .fields = fields_of<Strided>, .kind = Kind::linear,
    .d = {rule([](V v, const Strided& a, XShape<0> x) { return as_strided_scatter_zeros(v, x.sizes, a); })},
    .batch = [](const BatchCall& c, Tensor* out) {   // the offset is that of lane 0
      const Tensor x = batch::front(c, 0);
      const Strided& a = c.attrs.as<Strided>();
      const Layout at = layout(x);
      const int64_t start = at.offset;
      Dims lane = x.sizes(), steps = at.strides, sizes = a.sizes, strides = a.strides;
      lane.erase(0);
      steps.erase(0);
      const int64_t end = start + reach(lane, steps), wanted = a.offset + reach(sizes, strides);
      expect(sizes.product() == 0 || (a.offset >= start && wanted <= end), "as_strided: under vmap sizes ", sizes, ", strides ", strides, ", storage offset ", a.offset,
             " reach [", a.offset, ", ", wanted, "), and the first lane is [", start, ", ", end, ")");
      sizes.insert(0, c.size);
      strides.insert(0, at.strides[0]);
      out[0] = as_strided(x, sizes, strides, a.offset);
    },
    .alias = [](const TensorImpl& x, const Attrs& attrs, TensorImpl& y) {
      const Strided& a = attrs.as<Strided>();
      const int64_t available = static_cast<int64_t>(x.storage->nbytes) / itemsize(x.dtype);
      int64_t last = a.offset, step;
      bool fits = last < available;
      for (int i = 0; i < a.sizes.size() && fits; i++)
        fits = !__builtin_mul_overflow(std::max<int64_t>(a.sizes[i] - 1, 0), a.strides[i], &step) && !__builtin_add_overflow(last, step, &last) && last < available;
      expect(a.sizes.product() == 0 || fits, "as_strided: setStorage: sizes ", a.sizes, ", strides ", a.strides,
             ", storage offset ", a.offset, " are out of bounds for storage of size ", x.storage->nbytes);
      y.sizes = a.sizes;
      y.strides = a.strides;
      y.data = static_cast<char*>(x.storage->data) + a.offset * itemsize(x.dtype);
    },
    .doc = "Any sizes and strides over the memory of `x`."};
Layout (*lifted_layout)(const TensorImpl&) = nullptr;
void (*settle_view)(TensorImpl&) noexcept = nullptr;
Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, std::optional<int64_t> offset) {
  expect(sizes.size() == strides.size(), "as_strided: mismatch in length of strides and shape, got ", sizes, " and ", strides);
  for (int64_t s : strides) expect(s >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
  for (int64_t n : sizes) expect(n >= 0, "as_strided: sizes must not be negative, got ", sizes);
  expect(offset.value_or(0) >= 0, "as_strided: storage offset must not be negative, got ", offset.value_or(0));
  const Layout at = layout(x);
  Strided a{sizes, strides, offset.value_or(at.offset)};
  if (at.offset != 0 || !same_strides(x.sizes(), at.strides, contiguous_strides(x.sizes()))) {
    a.x_strides = at.strides;
    a.x_offset = at.offset;
  }
  return apply(op_as_strided, {x}, a);
}

// Transposes, written by views of fresh zeros: differentiable because the copy into the view is.
namespace {
template <class F> Tensor scatter_zeros(const Tensor& v, const Dims& sizes, F&& where) {
  Tensor zero = zeros_of(v, sizes);
  copy_(where(zero), v);
  return zero;
}
}  // namespace
Tensor slice_scatter_zeros(const Tensor& v, const Dims& sizes, const Slice& a) {
  return scatter_zeros(v, sizes, [&](const Tensor& z) { return slice(z, a.dim, a.start, a.stop, a.step); });
}
Tensor select_scatter_zeros(const Tensor& v, const Dims& sizes, const At& a) {
  return scatter_zeros(v, sizes, [&](const Tensor& z) { return select(z, a.dim, a.index); });
}
Tensor diagonal_scatter_zeros(const Tensor& v, const Dims& sizes, const Diagonal& a) {
  return scatter_zeros(v, sizes, [&](const Tensor& z) { return diagonal(z, a.offset, a.a, a.b); });
}
namespace {
// Where each element under sizes and strides lies, from `offset` on.
Tensor places(const Dims& sizes, const Dims& strides, int64_t offset, Device device) {
  Tensor at = full({}, offset, DType::int64, device);
  for (int i = 0; i < sizes.size(); i++) at = add(unsqueeze(at, -1), mul(counting(sizes[i], device), wrapped(strides[i])));
  return reshape(at, {-1});
}
}  // namespace
// What lies at one place adds up, and elements of x that share a place share it evenly.
Tensor as_strided_scatter_zeros(const Tensor& v, const Dims& sizes, const Strided& a) {
  const bool dense = a.x_strides.empty();
  const Dims strides = dense ? contiguous_strides(sizes) : a.x_strides;
  const int64_t start = std::min(a.offset, a.x_offset), size = std::max(a.offset + reach(a.sizes, a.strides), a.x_offset + reach(sizes, strides)) - start;
  Tensor memory = zeros_of(v, {size});
  if (const Tensor view = v->keys & key_lifted ? Tensor() : as_strided(memory, a.sizes, a.strides, a.offset - start); view && !overlaps_itself(*view)) copy_(view, v);
  else memory = index_add(memory, 0, places(a.sizes, a.strides, a.offset - start, v.device()), reshape(v, {-1}));
  if (dense && start == 0 && size == sizes.product()) return reshape(memory, sizes);
  const Tensor at = places(sizes, strides, a.x_offset - start, v.device());
  const DType real = real_of(v.dtype());
  const Tensor counts = index_add(zeros({size}, real, v.device()), 0, at, ones({at.numel()}, real, v.device()));
  return reshape(index_select(div(memory, clamp(counts, wrapped(1.0), {})), 0, at), sizes);
}

Tensor movedim(const Tensor& x, int64_t from, int64_t to) {
  const Named named("movedim", {&x, 1});
  const int f = wrap_dim(from, x.dim(), "movedim"), t = wrap_dim(to, x.dim(), "movedim");
  if (f == t) return x;
  Dims order;
  for (int i = 0; i < x.dim(); i++)
    if (i != f) order.push_back(i);
  order.insert(t, f);
  return permute(x, order);
}
Tensor flatten(const Tensor& x, int64_t first, int64_t last) {
  const Named named("flatten", {&x, 1});
  const int n = std::max(1, x.dim()), f = wrap_dim(first, n, "flatten"), l = wrap_dim(last, n, "flatten");
  if (x.dim() == 0) return reshape(x, {1});
  expect(f <= l, "flatten: flatten() has invalid args: start_dim cannot come after end_dim, got ", first, " and ", last);
  if (f == l) return x;
  Dims to;
  int64_t merged = 1;
  for (int i = 0; i < x.dim(); i++) {
    if (i < f || i > l) to.push_back(x.sizes()[i]);
    else if (merged *= x.sizes()[i]; i == l) to.push_back(merged);
  }
  return reshape(x, to);
}
Tensor unfold(const Tensor& x, int64_t dim, int64_t size, int64_t step) {
  const int d = wrap_dim(dim, x.dim(), "unfold");
  expect(step > 0, "unfold: step is ", step, " but must be > 0");
  expect(size >= 0 && size <= (x.dim() ? x.size(d) : 1), "unfold: maximum size for tensor at dimension ", d, " is ", x.dim() ? x.size(d) : 1, " but size is ", size);
  if (x.dim() == 0) return slice(unsqueeze(x, 0), 0, 0, size);
  return apply(op_unfold, {x}, Windows{d, size, step});
}

void (*several_views)(const Cut&, const Tensor&, Tensors) = nullptr;

TensorVector unbind(const Tensor& x, int64_t dim) {
  const Named named("unbind", {&x, 1});
  expect(x.dim() > 0, ErrorKind::index, "unbind: cannot be applied to a 0-dim tensor");
  const int d = wrap_dim(dim, x.dim(), "unbind");
  TensorVector r;
  for (int64_t i = 0; i < x.size(d); i++) r.push_back(select(x, d, i));
  if (several_views) several_views({"Unbind", d, true}, x, r);
  return r;
}
static TensorVector cut_into(const Tensor& x, const Dims& sizes, int d, const char* name) {
  TensorVector r;
  int64_t at = 0;
  for (int64_t n : sizes) {
    expect(n >= 0 && at + n <= x.size(d), "split: split_with_sizes expects split_sizes to sum exactly to ", x.size(d), " (input tensor's size at dimension ", d, "), but got split_sizes=", sizes);
    r.push_back(slice(x, d, at, at + n));
    at += n;
  }
  expect(at == x.size(d), "split: split_with_sizes expects split_sizes to sum exactly to ", x.size(d), " (input tensor's size at dimension ", d, "), but got split_sizes=", sizes);
  if (several_views) several_views({name, d, false}, x, r);
  return r;
}
TensorVector split_sizes(const Tensor& x, const Dims& sizes, int64_t dim) {
  const Named named("split", {&x, 1});
  return cut_into(x, sizes, wrap_dim(dim, x.dim(), "split"), "SplitWithSizes");
}
TensorVector split(const Tensor& x, int64_t size, int64_t dim) {
  const Named named("split", {&x, 1});
  const int d = wrap_dim(dim, x.dim(), "split");
  expect(x.dim() > 0, "split: expects at least a 1-dimensional tensor");
  expect(size > 0 || (size == 0 && x.size(d) == 0), "split: split_size must be positive, got ", size);
  const int64_t n = x.size(d), pieces = n == 0 ? 1 : (n - 1) / size + 1;
  Dims sizes(static_cast<int>(pieces), size);   // a list that grows one by one would be copied for each
  sizes[sizes.size() - 1] = n - (pieces - 1) * size;
  return cut_into(x, sizes, d, "Split");
}
TensorVector chunk(const Tensor& x, int64_t n, int64_t dim) {
  const Named named("chunk", {&x, 1});
  expect(n > 0, "chunk: chunk expects `chunks` to be greater than 0, got: ", n);
  const int d = wrap_dim(dim, x.dim(), "chunk");
  if (x.dim() > 0 && x.size(d) == 0) {
    expect(n <= 1 << 24, "chunk: chunks of nothing must be at most 2^24, got ", n);   // as sections of tensor_split
    return cut_into(x, Dims(static_cast<int>(n), 0), d, "Split");
  }
  return split(x, (std::max<int64_t>(x.size(d), 1) - 1) / n + 1, d);
}


const Op* const view_ops[] = {&op_alias, &op_as_strided, &op_diagonal, &op_expand, &op_permute, &op_select, &op_slice, &op_transpose, &op_unfold, &op_view, &op_view_dtype};
Ops families::view() { return view_ops; }

}  // namespace adjoint
