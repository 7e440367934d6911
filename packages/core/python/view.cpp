// Views, copies and joins.
#include <adjoint/core/observer.h>
#include <adjoint/core/sparse.h>

#include "convert.h"
#include "direct.h"
#include "reference.h"
#include "warn.h"

namespace adjoint::python {

namespace {

nb::object tuple_of(TensorVector v) {
  nb::object t = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(v.size())));
  for (size_t i = 0; i < v.size(); i++) PyTuple_SetItem(t.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(v[i])));
  return t;
}

// A method with sizes or dims as separate arguments or as one sequence; the function takes a sequence.
template <class F> void with_dims(nb::module_& m, const char* name, F f, const char* argument, bool is_function = true) {
  Methods().def(name, [f, name](const Tensor& x, const nb::args& d) { return f(x, dims_of(d, name)); }, nb::arg(argument));
  Methods().def(name, [f](const Tensor& x, const Dims& d) { return f(x, d); }, nb::kw_only(), nb::arg(argument));
  if (is_function) function(m, name, [f](const Tensor& x, const Dims& d) { return f(x, d); }, "input"_a, nb::arg(argument));
}

Tensor move_dims(const Tensor& x, const Dims& from, const Dims& to) {
  expect(from.size() == to.size(), "movedim: Invalid source or destination dims: source (", from, " dims) should contain the same number of dims as destination (", to, " dims)");
  const int n = x.dim();
  if (n == 0) {
    for (const Dims* dims : {&from, &to})
      for (int64_t d : *dims) wrap_dim(d, n, "movedim");
    return permute(x, {});
  }
  Dims order(n, -1);
  bool used[Dims::max] = {};
  for (int i = 0; i < from.size(); i++) {
    const int s = wrap_dim(from[i], n, "movedim"), d = wrap_dim(to[i], n, "movedim");
    expect(!used[s], "movedim: repeated dim in `source` (", from, ")");
    expect(order[d] < 0, "movedim: repeated dim in `destination` (", to, ")");
    order[d] = s;
    used[s] = true;
  }
  int next = 0;
  for (int i = 0; i < n; i++) {
    if (order[i] >= 0) continue;
    while (used[next]) next++;
    order[i] = next++;
  }
  return permute(x, order);
}

Tensor unflatten(const Tensor& x, int64_t dim, Dims sizes) {
  expect(x.dim() > 0, "unflatten: Dimension specified as ", dim, " but tensor has no dimensions");
  const int d = wrap_dim(dim, x.dim(), "unflatten");
  int64_t known = 1;
  for (int64_t s : sizes) known *= s == -1 ? 1 : s;
  for (int64_t& s : sizes) if (s == -1) s = known ? x.size(d) / known : 0;
  expect(sizes.product() == x.size(d), "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", d, " (", x.size(d), ") in the input tensor");
  Dims shape;
  for (int i = 0; i < x.dim(); i++)
    if (i != d) shape.push_back(x.size(i));
    else for (int64_t s : sizes) shape.push_back(s);
  return view(x, shape);
}

Tensor transposed(const Tensor& x) {
  const Named named("t", {&x, 1});
  expect(x.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", x.dim(), "D");
  return x.dim() < 2 ? alias(x) : transpose(x, 0, 1);
}

// Where pieces end: given, or so that a number of them have nearly the same length.
Dims ends_of_pieces(const nb::object& where, int64_t n) {
  nb::object given = where;
  if (is_tensor(where.ptr())) {
    const Tensor t = unwrap(where.ptr());
    expect(t.dtype() == DType::int64, "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ", t.dtype());
    expect(t.dim() <= 1, "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with ", t.dim(), " dims");
    given = where.attr("tolist")();
  }
  if (is_sequence(given.ptr()) || !PyIndex_Check(given.ptr())) return nb::cast<Dims>(given);
  const auto parts = nb::cast<int64_t>(nb::int_(given));
  expect(parts > 0, "tensor_split: number of sections must be larger than 0, got ", parts);
  expect(parts <= 1 << 24, "tensor_split: number of sections must be at most 2^24, got ", parts);
  Dims ends(static_cast<int>(parts - 1), 0);
  for (int64_t i = 0, at = 0; i + 1 < parts; i++) ends[static_cast<int>(i)] = at += n / parts + (i < n % parts);
  return ends;
}

nb::object tensor_split(const Tensor& x, const nb::object& where, int64_t dim) {
  expect(x.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int d = wrap_dim(dim, x.dim(), "tensor_split");
  TensorVector pieces;
  int64_t from = 0;
  for (int64_t end : ends_of_pieces(where, x.size(d))) {
    pieces.push_back(slice(x, d, from, end));
    from = end;
  }
  pieces.push_back(slice(x, d, from, x.size(d)));
  return tuple_of(std::move(pieces));
}

Tensor view_as_dtype(const Tensor& x, DType dtype) {
  if (dtype == x.dtype()) return alias(x);
  expect_strided(*x, "view");
  const Tensor y = apply(*find_op("view_dtype"), {x}, Cast{dtype});
  return y->keys & key_lifted ? y : alias_of(y);  // no view for derivatives: what is written to y may have one that x cannot
}

// The sign is the first bit, as in whole numbers.
Tensor signbit(const Tensor& x) {
  const Named named("signbit", {&x, 1});
  expect_strided(*x, "signbit");
  const int64_t size = itemsize(x.dtype());
  return lt(view_as_dtype(x, size == 2 ? DType::int16 : size == 4 ? DType::int32 : DType::int64), wrapped(0));
}

void bind_shapes(nb::module_& m, const Methods& t) {
  m.def("_signbit", signbit);
  with_dims(m, "expand", [](const Tensor& x, const Dims& d) { return expand(x, d); }, "size", false);
  with_dims(m, "repeat", [](const Tensor& x, const Dims& d) { return repeat(x, d); }, "repeats", false);
  with_dims(m, "tile", [](const Tensor& x, const Dims& d) {
    Dims all(std::max(0, x.dim() - d.size()), 1);
    for (int64_t n : d) all.push_back(n);
    return repeat(x, all);
  }, "dims");
  with_dims(m, "reshape", [](const Tensor& x, const Dims& d) { return reshape(x, d); }, "shape");
  with_dims(m, "permute", [](const Tensor& x, const Dims& d) { return permute(x, d); }, "dims");
  with_dims(m, "flip", [](const Tensor& x, const Dims& d) { return flip(x, d); }, "dims");
  t.def("view", [](const Tensor& x, const nb::args& a) {
    DType dtype;
    if (a.size() == 1 && to_dtype(nb::handle(a[0]).ptr(), dtype)) return view_as_dtype(x, dtype);
    return view(x, dims_of(a, "view"));
  }, "shape"_a);
  t.def("view", [](const Tensor& x, const Dims& size) { return view(x, size); }, nb::kw_only(), "size"_a);
  t.def("view", view_as_dtype, nb::kw_only(), "dtype"_a);
  t.def("view_as", [](const Tensor& x, const Tensor& y) { return view(x, y.sizes()); }, "other"_a);
  t.def("reshape_as", [](const Tensor& x, const Tensor& y) { return reshape(x, y.sizes()); }, "other"_a);
  t.def("expand_as", [](const Tensor& x, const Tensor& y) { return expand(x, y.sizes()); }, "other"_a);
  with_dims(m, "broadcast_to", [](const Tensor& x, const Dims& d) { return expand(x, d); }, "size");
  both(m, "flatten", [](const Tensor& x, int64_t a, int64_t b) { return flatten(x, a, b); }, "start_dim"_a = 0, "end_dim"_a = -1);
  both(m, "ravel", [](const Tensor& x) { return reshape(contiguous(x), {-1}); });
  direct_dims("expand", [](const Tensor& x, const Dims& d) { return expand(x, d); });
  direct_dims("reshape", [](const Tensor& x, const Dims& d) { return reshape(x, d); });
  direct_dims("permute", [](const Tensor& x, const Dims& d) { return permute(x, d); });
  direct_dims("view", [](const Tensor& x, const Dims& d) { return view(x, d); });
  both(m, "unflatten", [](const Tensor& x, int64_t dim, const Dims& sizes) { return unflatten(x, dim, sizes); }, "dim"_a, "sizes"_a);
  both(m, "unsqueeze", [](const Tensor& x, int64_t dim) { return unsqueeze(x, dim); }, "dim"_a);
  direct_both<Tensor, int64_t>(m, "unsqueeze", [](const Tensor& x, int64_t dim) { return unsqueeze(x, dim); });
  both(m, "squeeze", [](const Tensor& x, const OptionalDims& dim) { return squeeze(x, dim); }, "dim"_a = nb::none());
  t.def("squeeze", [](const Tensor& x, const nb::args& dims) { return squeeze(x, dims_of(dims, "squeeze")); }, "dims"_a);
}

void bind_transposes(nb::module_& m) {
  for (const char* name : {"transpose", "swapaxes", "swapdims"})
    both(m, name, [](const Tensor& x, int64_t a, int64_t b) { return transpose(x, a, b); }, "dim0"_a, "dim1"_a);
  both(m, "transpose", [](const Tensor& x, const nb::tuple& axes) { return permute(x, nb::cast<Dims>(axes)); }, "axes"_a);  // NumPy's
  direct_both<Tensor, int64_t, int64_t>(m, "transpose", [](const Tensor& x, int64_t a, int64_t b) { return transpose(x, a, b); });
  both(m, "t", transposed);
  direct_both<Tensor>(m, "t", transposed);
  both(m, "adjoint", [](const Tensor& x) { return adjoint_of(x, "adjoint()"); });
  for (const char* name : {"movedim", "moveaxis"})
    both(m, name, [](const Tensor& x, const Dims& from, const Dims& to) { return move_dims(x, from, to); }, "source"_a, "destination"_a);
  both(m, "diagonal", [](const Tensor& x, int64_t offset, int64_t a, int64_t b) { return diagonal(x, offset, a, b); }, "offset"_a = 0, "dim1"_a = 0, "dim2"_a = 1);
  both(m, "diag", [](const Tensor& x, int64_t k) { return diag(x, k); }, "diagonal"_a = 0);
  both(m, "diag_embed", [](const Tensor& x, int64_t offset, int64_t a, int64_t b) { return diag_embed(x, offset, a, b); }, "offset"_a = 0, "dim1"_a = -2, "dim2"_a = -1);
  both(m, "diagflat", [](const Tensor& x, int64_t offset) { return diag_embed(reshape(x, {-1}), offset); }, "offset"_a = 0);
  both_and_inplace(m, "tril", [](const Tensor& x, int64_t k) { return tril(x, k); }, "diagonal"_a = 0);
  both_and_inplace(m, "triu", [](const Tensor& x, int64_t k) { return triu(x, k); }, "diagonal"_a = 0);
  both(m, "as_strided", [](const Tensor& x, const Dims& size, const Dims& stride, std::optional<int64_t> offset) { return as_strided(x, size, stride, offset); },
       "size"_a, "stride"_a, "storage_offset"_a = nb::none());
  both(m, "unfold", [](const Tensor& x, int64_t dim, int64_t size, int64_t step) { return unfold(x, dim, size, step); }, "dimension"_a, "size"_a, "step"_a);
  both(m, "fliplr", [](const Tensor& x) {
    expect(x.dim() >= 2, "fliplr: input must be >= 2-d, got ", x.dim(), "-d");
    return flip(x, {1});
  });
  both(m, "flipud", [](const Tensor& x) {
    expect(x.dim() >= 1, "flipud: input must be >= 1-d, got 0-d");
    return flip(x, {0});
  });
  both(m, "roll", [](const Tensor& x, const Dims& shifts, const OptionalDims& dims) { return roll(x, shifts, dims.value_or(Dims{})); }, "shifts"_a, "dims"_a = nb::none());
}

void bind_pieces(nb::module_& m) {
  both(m, "narrow", narrow, "dim"_a, "start"_a, "length"_a);
  both(m, "narrow", [](const Tensor& x, int64_t dim, const Tensor& start, int64_t length) {
    expect(start.dim() == 0 && is_integral(start.dtype()) && start.dtype() != DType::bool_, "narrow: start must be an 0-dim integral Tensor, got ", start.dim(), " dims of ", start.dtype());
    return narrow(x, dim, item(start).to<int64_t>(), length);
  }, "dim"_a, "start"_a, "length"_a);
  both(m, "select", [](const Tensor& x, int64_t dim, int64_t i) { return select(x, dim, i); }, "dim"_a, "index"_a);
  direct_both<Tensor, int64_t, int64_t>(m, "select", [](const Tensor& x, int64_t dim, int64_t i) { return select(x, dim, i); });
  both(m, "unbind", [](const Tensor& x, int64_t dim) { return tuple_of(unbind(x, dim)); }, "dim"_a = 0);
  both(m, "chunk", [](const Tensor& x, int64_t n, int64_t dim) { return tuple_of(chunk(x, n, dim)); }, "chunks"_a, "dim"_a = 0);
  for (const char* where : {"indices_or_sections", "sections", "indices", "tensor_indices_or_sections"}) both(m, "tensor_split", tensor_split, nb::arg(where), "dim"_a = 0);
  auto split_any = [](const Tensor& x, const nb::object& size, int64_t dim) {
    return tuple_of(is_sequence(size.ptr()) ? split_sizes(x, nb::cast<Dims>(size), dim) : split(x, nb::cast<int64_t>(size), dim));
  };
  Methods().def("split", split_any, "split_size"_a, "dim"_a = 0);
  function(m, "split", split_any, "tensor"_a, "split_size_or_sections"_a, "dim"_a = 0);
  // Pieces that may be written in place, so that a write to one harms nothing that was computed from another: copies, or views of their own.
  const auto loose = [](const Tensor& x, TensorVector pieces, int64_t dim) {
    const bool recorded = !pieces.empty() && pieces[0]->keys & key_tape;
    int64_t at = 0;
    for (Tensor& piece : pieces) {
      const int64_t n = piece.size(static_cast<int>(dim));
      piece = recorded ? clone(piece) : narrow(x, dim, at, n);
      at += n;
    }
    return tuple_of(std::move(pieces));
  };
  function(m, "_unsafe_pieces", [loose](const Tensor& x, const nb::object& size, int64_t dim) {
    return loose(x, is_sequence(size.ptr()) ? split_sizes(x, nb::cast<Dims>(size), dim) : split(x, nb::cast<int64_t>(size), dim), dim);
  }, "input"_a, "size"_a, "dim"_a);
  function(m, "_unsafe_chunk", [loose](const Tensor& x, int64_t n, int64_t dim) { return loose(x, chunk(x, n, dim), dim); }, "input"_a, "chunks"_a, "dim"_a);
  both(m, "split_with_sizes", [](const Tensor& x, const Dims& sizes, int64_t dim) { return tuple_of(split_sizes(x, sizes, dim)); }, "split_sizes"_a, "dim"_a = 0);
}

Tensor chunk_cat(const TensorVector& x, int64_t dim, int64_t chunks) {
  expect(!x.empty() && chunks > 0, "_chunk_cat: expected tensors with elements and chunks, got ", x.size(), " and ", chunks);
  TensorVector parts;
  int at = 0;
  for (const Tensor& t : x) {
    const int d = wrap_dim(dim, t.dim(), "_chunk_cat");
    expect(t.numel(), "_chunk_cat: expected tensors with elements and chunks, got one of ", t.sizes());
    bool agrees = parts.empty() || d == at;
    for (int i = 0; agrees && i < d; i++) agrees = t.size(i) == x[0].size(i);
    expect(agrees, "_chunk_cat: sizes must agree up to dim ", dim, ", got ", x[0].sizes(), " and ", t.sizes());
    at = d;
    Dims before(t.dim(), 0), after = before, sizes(std::span(t.sizes().data(), static_cast<size_t>(d)));
    after[d] = (chunks - t.size(d) % chunks) % chunks;
    sizes.push_back(chunks);
    sizes.push_back(-1);
    parts.push_back(reshape(after[d] ? pad(t, before, after, 0) : t, sizes));
  }
  return cat(parts, at + 1);
}

void bind_joins(nb::module_& m) {
  function(m, "_chunk_cat", chunk_cat, "tensors"_a, "dim"_a, "num_chunks"_a);
  for (const char* name : {"cat", "concat", "concatenate"}) function(m, name, [](const TensorVector& t, int64_t dim) { return cat(t, dim); }, "tensors"_a, "dim"_a = 0);
  function(m, "stack", [](const TensorVector& t, int64_t dim) { return stack(t, dim); }, "tensors"_a, "dim"_a = 0);
  function(m, "broadcast_tensors", [](const nb::args& tensors) {
    TensorVector t;
    for (nb::handle x : tensors) t.push_back(nb::cast<Tensor>(x));
    Dims s;
    for (const Tensor& x : t) s = broadcast(s, x.sizes(), "broadcast_tensors");
    for (Tensor& x : t)
      if (x.sizes() != s) x = expand(x, s);   // a leaf that has the shape stays one
    return tuple_of(std::move(t));
  }, "tensors"_a);
  function(m, "broadcast_shapes", [](const nb::args& shapes) {
    Dims s;
    for (nb::handle x : shapes) {
      Dims sizes;
      expect(nb::try_cast(x, sizes), ErrorKind::type, "broadcast_shapes: shapes are sequences of integers, got ", type_name(x.ptr()));
      for (int64_t n : sizes) expect(n >= 0, ErrorKind::shape, "broadcast_shapes: Trying to create tensor with negative dimension ", n, ": ", sizes);
      s = broadcast(s, sizes, "broadcast_shapes");
    }
    return s;
  }, "shapes"_a);
  function(m, "meshgrid", [](const nb::args& tensors, const std::optional<std::string>& named) {
    if (!named) warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.");
    const std::string indexing = named.value_or("ij");
    nb::object given = tensors.size() == 1 && is_sequence(nb::handle(tensors[0]).ptr()) ? nb::object(tensors[0]) : nb::object(tensors);
    auto t = nb::cast<TensorVector>(nb::list(given));
    const bool swap = indexing == "xy" && t.size() > 1;
    expect(swap || indexing == "ij" || indexing == "xy", "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
    if (swap) std::swap(t[0], t[1]);
    Dims sizes;
    for (const Tensor& x : t) {
      expect(x.dim() <= 1, "meshgrid: Expected 0D or 1D tensors, got one of shape ", x.sizes());
      sizes.push_back(x.numel());
    }
    for (size_t i = 0; i < t.size(); i++) {
      Dims shape(static_cast<int>(t.size()), 1);
      shape[static_cast<int>(i)] = sizes[static_cast<int>(i)];
      t[i] = expand(view(t[i], shape), sizes);
    }
    if (swap) std::swap(t[0], t[1]);
    return tuple_of(std::move(t));
  }, "tensors"_a, "indexing"_a = nb::none());
}

}  // namespace

void bind_view(nb::module_& m) {
  bind_shapes(m, {});
  bind_transposes(m);
  bind_pieces(m);
  bind_joins(m);
}

}  // namespace adjoint::python
