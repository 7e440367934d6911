// Stacks, repetitions, writes into parts of a tensor, searching and counting.
#include <adjoint/core/segments.h>

#include "convert.h"
#include "module.h"
#include "warn.h"

namespace adjoint::python {

namespace {

using OptDim = std::optional<int64_t>;

// f(a, b) and f((a, b)).
TensorVector tensors_of(const nb::args& args) {
  nb::object given = args.size() == 1 && is_sequence(nb::handle(args[0]).ptr()) ? nb::object(args[0]) : nb::object(args);
  return nb::cast<TensorVector>(nb::list(given));
}

void bind_stacks(nb::module_& m) {
  using Stack = Tensor (*)(Tensors);
  for (auto [name, f] : {std::pair<const char*, Stack>("hstack", hstack), {"vstack", vstack}, {"row_stack", vstack}, {"dstack", dstack}, {"column_stack", column_stack}})
    function(m, name, [f = f](const TensorVector& t) { return f(t); }, "tensors"_a);
  for (auto [name, n] : {std::pair("atleast_1d", 1), {"atleast_2d", 2}, {"atleast_3d", 3}})
    function(m, name, [n = n](const nb::args& args) -> nb::object {
      if (args.size() == 1 && !is_sequence(nb::handle(args[0]).ptr())) return nb::cast(atleast(nb::cast<Tensor>(args[0]), n));
      TensorVector t = tensors_of(args);
      for (Tensor& x : t) x = atleast(x, n);
      return nb::tuple(nb::cast(t));
    }, "tensors"_a);
}

Tensor of_size(const Tensor& y, OptDim dim, OptDim size) {
  const int64_t found = y.size(dim && y.dim() ? static_cast<int>(*dim) : 0);
  expect(!size || *size == found, "repeat_interleave: Invalid output_size, expected ", found, " but got ", size.value_or(0));
  return y;
}

void bind_repetitions(nb::module_& m) {
  both(m, "rot90", [](const Tensor& x, int64_t k, const Dims& dims) { return rot90(x, k, dims); }, "k"_a = 1, "dims"_a = Dims{0, 1});
  both(m, "diff", [](const Tensor& x, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) { return diff(x, n, dim, prepend, append); },
       "n"_a = 1, "dim"_a = -1, "prepend"_a.none() = nb::none(), "append"_a.none() = nb::none());
  both(m, "repeat_interleave", [](const Tensor& x, int64_t repeats, OptDim dim, OptDim size) { return of_size(repeat_interleave(x, repeats, dim), dim, size); },
       "repeats"_a, "dim"_a = nb::none(), nb::kw_only(), "output_size"_a = nb::none());
  both(m, "repeat_interleave", [](const Tensor& x, const Tensor& repeats, OptDim dim, OptDim size) { return of_size(repeat_interleave(x, repeats, dim), dim, size); },
       "repeats"_a, "dim"_a = nb::none(), nb::kw_only(), "output_size"_a = nb::none());
  function(m, "repeat_interleave", [](const Tensor& repeats, OptDim size) { return of_size(repeat_interleave_index(repeats), {}, size); }, "repeats"_a, nb::kw_only(), "output_size"_a = nb::none());
}

void bind_parts(nb::module_& m) {
  both(m, "select_scatter", [](const Tensor& x, const Tensor& src, int64_t dim, int64_t index) { return select_scatter(x, src, dim, index); }, "src"_a, "dim"_a, "index"_a);
  both(m, "slice_scatter", [](const Tensor& x, const Tensor& src, int64_t dim, OptDim start, OptDim end, int64_t step) {
    return slice_scatter(x, src, dim, start.value_or(0), end.value_or(INT64_MAX), step);
  }, "src"_a, "dim"_a = 0, "start"_a = nb::none(), "end"_a = nb::none(), "step"_a = 1);
  both(m, "diagonal_scatter", [](const Tensor& x, const Tensor& src, int64_t offset, int64_t a, int64_t b) { return diagonal_scatter(x, src, offset, a, b); },
       "src"_a, "offset"_a = 0, "dim1"_a = 0, "dim2"_a = 1);
  both_and_inplace(m, "masked_scatter", [](const Tensor& x, const Tensor& mask, const Tensor& source) { return masked_scatter(x, mask, source); }, "mask"_a, "source"_a);
}

Combine combine_of(const std::string& name) {
  constexpr const char* names[] = {"sum", "mean", "prod", "amax", "amin", "max", "min"};   // the last two are older words
  for (int i = 0; i < 7; i++) if (name == names[i]) return static_cast<Combine>(i < 5 ? i : i - 2);
  fail(ErrorKind::runtime, "scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got ", name, ".");
}

void bind_scatter_reduce(nb::module_& m) {
  both_and_update(m, "scatter_reduce", [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) {
    return scatter_reduce(x, dim, index, src, combine_of(reduce), include_self);
  }, "dim"_a, "index"_a, "src"_a, "reduce"_a, nb::kw_only(), "include_self"_a = true, "`input` with the elements of `src` reduced into the positions `index` along `dim`.");
}

void warn_of_gaps(const std::string& what) {
  warn_once(("torch.searchsorted(): " + what + " is non-contiguous, this will lower the performance due to extra data copy when converting non-contiguous tensor to contiguous, please use contiguous " +
             what + " if possible. This message will only appear once per program.").c_str());
}

Tensor search(const Tensor& sorted, const Operand& values, bool out_int32, bool right, const std::optional<std::string>& side, const Tensor& sorter) {
  expect(!side || *side == "left" || *side == "right", "searchsorted: side can only be 'left' or 'right' but got ", side.value_or(""));
  expect(!right || !side || *side == "right", "searchsorted: side and right can't be set to opposites, got side of left while right was True");
  if (!sorted->contiguous()) warn_of_gaps("boundary tensor");
  if (!values.t->contiguous()) warn_of_gaps("input value tensor");
  const Tensor r = searchsorted(sorter ? gather(sorted, -1, sorter) : sorted, values, right || side == "right");
  return out_int32 ? to_dtype(r, DType::int32) : r;
}

void bind_search(nb::module_& m) {
  function(m, "searchsorted", search, "sorted_sequence"_a, "input"_a, nb::kw_only(), "out_int32"_a = false, "right"_a = false, "side"_a = nb::none(), "sorter"_a.none() = nb::none(),
        "The positions at which the values of `input` keep the last dimension of `sorted_sequence` sorted.");
  function(m, "bucketize", [](const Operand& x, const Tensor& boundaries, bool out_int32, bool right) {
    expect(boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
    return search(boundaries, x, out_int32, right, {}, {});
  },
        "input"_a, "boundaries"_a, nb::kw_only(), "out_int32"_a = false, "right"_a = false);
  function(m, "_histogram", [](const Tensor& points, const TensorVector& edges, const Tensor& weight) { return histogram_of(points, edges, weight); }, "points"_a, "edges"_a, "weight"_a.none());
  function(m, "_histc", histc_of);
  function(m, "_joined_bits", joined_bits_of);
  function(m, "_segments", [](const Tensor& data, const Tensor& offsets, int64_t axis, int64_t how, double initial) { return segments_of(data, offsets, axis, static_cast<Combine>(how), initial); });
  both(m, "bincount", [](const Tensor& x, const Tensor& weights, int64_t minlength) { return bincount(x, weights, minlength); }, "weights"_a.none() = nb::none(), "minlength"_a = 0);
}

}  // namespace

void bind_rearrange(nb::module_& m) {
  bind_stacks(m);
  bind_repetitions(m);
  bind_parts(m);
  bind_scatter_reduce(m);
  bind_search(m);
}

}  // namespace adjoint::python
