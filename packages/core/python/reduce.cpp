// Reductions, scans and sorting.
#include <adjoint/core/linalg.h>
#include <adjoint/core/nanmedian.h>
#include <adjoint/core/observer.h>

#include <limits>
#include <map>
#include <string_view>

#include "direct.h"
#include "warn.h"

namespace adjoint::python {

namespace {

using OptDType = std::optional<DType>;
using OptDim = std::optional<int64_t>;

// max(x, dim) and its kind return a named pair: made as a tuple is, past the constructor that Python wrote for the type.
nb::object pair(const char* name, Tensor first, Tensor second) {
  static std::map<std::string, PyObject*, std::less<>> types;   // they live as long as the process
  auto type = types.find(std::string_view(name));
  if (type == types.end()) type = types.emplace(name, nb::object(nb::module_::import_("adjoint_core._results").attr(name)).release().ptr()).first;
  static const auto make = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  const nb::object parts = nb::make_tuple(std::move(first), std::move(second));
  const nb::object args = nb::steal(PyTuple_Pack(1, parts.ptr()));
  PyObject* made = args ? make(reinterpret_cast<PyTypeObject*>(type->second), args.ptr(), nullptr) : nullptr;
  if (!made) throw nb::python_error();
  return nb::steal(made);
}
nb::object pair(const char* name, Values v) { return pair(name, std::move(v.values), std::move(v.indices)); }

void bind_sums(nb::module_& m) {
  both(m, "sum", [](const Tensor& x, const OptionalDims& dim, bool keepdim, OptDType dtype) { warn_of_cast(x, dtype); return sum(x, dim, keepdim, dtype); },
       "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none(), "The sum over `dim` (all, if none).");
  both(m, "mean", [](const Tensor& x, const OptionalDims& dim, bool keepdim, OptDType dtype) { warn_of_cast(x, dtype); return mean(x, dim, keepdim, dtype); },
       "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none(), "The mean over `dim` (all, if none).");
  function(m, "_sum_to_size", [](const Tensor& x, const Dims& sizes) {
    const int extra = x.dim() - sizes.size();
    bool fits = extra >= 0;
    for (int i = 0; fits && i < sizes.size(); i++) fits = sizes[i] == 1 || sizes[i] == x.size(i + extra);
    expect(fits, "size ", sizes, " is not expandable to size ", x.sizes(), ".");
    return sizes.empty() ? sum(x) : unbroadcast(x, sizes);
  }, "input"_a, "size"_a);
  direct_both<Tensor>(m, "sum", [](const Tensor& x) { return sum(x, {}, false, {}); });
  direct_both<Tensor, int64_t>(m, "sum", [](const Tensor& x, int64_t dim) { return sum(x, Dims{dim}, false, {}); });
  direct_both<Tensor>(m, "mean", [](const Tensor& x) { return mean(x, {}, false, {}); });
  both(m, "nansum", [](const Tensor& x, const OptionalDims& dim, bool keepdim, OptDType dtype) {
    if (is_integral(x.dtype())) return sum(x, dim, keepdim, dtype);
    if (is_complex(x.dtype()) || (dtype && is_integral(*dtype))) return sum(where(isnan(x), wrapped(0.0), x), dim, keepdim, dtype);
    return apply(*find_op("nansum"), {dtype ? to_dtype(x, *dtype) : x}, Reduce{normal_dims(dim, x.dim(), "nansum"), keepdim});
  }, "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none());
  both(m, "prod", [](const Tensor& x, OptDim dim, bool keepdim, OptDType dtype) { warn_of_cast(x, dtype); return prod(x, dim, keepdim, dtype); },
       "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "dtype"_a = nb::none());
  both(m, "all", [](const Tensor& x, const OptionalDims& dim, bool keepdim) { return all(x, dim, keepdim); }, "dim"_a = nb::none(), "keepdim"_a = false);
  both(m, "any", [](const Tensor& x, const OptionalDims& dim, bool keepdim) { return any(x, dim, keepdim); }, "dim"_a = nb::none(), "keepdim"_a = false);
  both(m, "count_nonzero", [](const Tensor& x, const OptionalDims& dim) { return sum(x.dtype() == DType::bool_ ? x : ne(x, wrapped(0)), dim); }, "dim"_a = nb::none());
  both(m, "logsumexp", [](const Tensor& x, const Dims& dim, bool keepdim) { return logsumexp(x, dim, keepdim); }, "dim"_a, "keepdim"_a = false);
}

// The order that norm's `p` names.
double order_of(const nb::object& p) {
  if (p.is_none()) return 2;
  if (!PyUnicode_Check(p.ptr())) return nb::cast<double>(nb::float_(p));
  const auto name = nb::cast<std::string>(p);
  expect(name == "fro", "norm: expected p to be a number, 'fro' or 'nuc', got '", name, "'");
  return 2;
}

// The sum of the singular values of the matrices in two dimensions.
Tensor nuclear_norm(const Tensor& x, const OptionalDims& dim, bool keepdim, OptDType dtype) {
  expect(x.dim() >= 2, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got ", x.dim(), ".");
  const Dims two = normal_dims(dim, x.dim(), "linalg.matrix_norm");
  expect(two.size() == 2, "linalg.matrix_norm: expected two dimensions, got ", two.size());
  const Tensor matrices = movedim(movedim(dtype ? to_dtype(x, *dtype) : x, two[0], -1), two[1] - 1, -1);
  const Tensor y = sum(svdvals(matrices), Dims{-1});
  return keepdim ? unsqueeze(unsqueeze(y, two[0]), two[1]) : y;
}

void bind_norms(nb::module_& m) {
  both(m, "norm", [](const Tensor& x, const nb::object& p, const OptionalDims& dim, bool keepdim, OptDType dtype) {
    return PyUnicode_Check(p.ptr()) && nb::cast<std::string>(p) == "nuc" ? nuclear_norm(x, dim, keepdim, dtype) : vector_norm(x, order_of(p), dim, keepdim, dtype);
  },
       "p"_a.none() = "fro", "dim"_a = nb::none(), "keepdim"_a = false, "dtype"_a = nb::none(), "(sum |x|^p)^(1/p) over `dim` (all, if none); p may be infinite.");
  function(m, "_vector_norm", [](const Tensor& x, double p, const OptionalDims& dim, bool keepdim, OptDType dtype) { return vector_norm(x, p, dim, keepdim, dtype); },
        "x"_a, "ord"_a, "dim"_a.none(), "keepdim"_a, "dtype"_a.none());
}

double correction_of(std::optional<bool> unbiased, std::optional<double> correction) { return correction.value_or(unbiased.value_or(true) ? 1 : 0); }

// Elements of x to one of the result that its moment is taken of, less what is taken off them.
void expect_freedom(const Tensor& x, const OptionalDims& dim, double correction, const char* name) {
  double n = static_cast<double>(x.numel());
  if (dim && !dim->empty()) {
    n = 1;
    for (int64_t d : *dim) n *= static_cast<double>(x.size(wrap_dim(d, x.dim(), name)));
  }
  if (!(n - correction <= 0) || x.device().type == DeviceType::meta) return;
  warn((std::string(name) + "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output numel).").c_str());
}

void bind_moments(nb::module_& m) {
  auto define = [&](const char* name, auto moment) {
    auto f = [name, moment](const Tensor& x, const OptionalDims& dim, double correction, bool keepdim) {
      nb::object y(moment(x, dim, correction, keepdim));
      expect_freedom(x, dim, correction, name);
      return y;
    };
    // var(x, unbiased): the old form, told apart by the boolean.
    both(m, name, [f](const Tensor& x, bool unbiased) { return f(x, {}, unbiased ? 1 : 0, false); }, nb::arg("unbiased").noconvert());
    both(m, name, [f](const Tensor& x, const OptionalDims& dim, std::optional<bool> unbiased, bool keepdim, std::optional<double> correction) {
      return f(x, dim, correction_of(unbiased, correction), keepdim);
    }, "dim"_a = nb::none(), "unbiased"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), "correction"_a = nb::none());
  };
  define("var", [](const Tensor& x, const OptionalDims& d, double c, bool k) { return nb::cast(var(x, d, c, k)); });
  define("std", [](const Tensor& x, const OptionalDims& d, double c, bool k) { return nb::cast(std(x, d, c, k)); });
  define("var_mean", [](const Tensor& x, const OptionalDims& d, double c, bool k) { return nb::object(nb::make_tuple(var(x, d, c, k), mean(x, d, k))); });
  define("std_mean", [](const Tensor& x, const OptionalDims& d, double c, bool k) { return nb::object(nb::make_tuple(std(x, d, c, k), mean(x, d, k))); });
}

// All elements that equal the median share its gradient, as those of amax do.
Tensor median_of_all(const Tensor& x, Values (*along)(const Tensor&, int64_t, bool), const char* name, const char* node) {
  const Named named(name, {&x, 1}, node);
  if (x.numel() == 0) return full({}, is_integral(x.dtype()) ? Scalar(std::numeric_limits<int64_t>::min()) : Scalar(std::numeric_limits<double>::quiet_NaN()), x.dtype(), x.device());
  const Tensor y = along(reshape(x, {-1}), 0, false).values;
  if (is_integral(x.dtype()) || !x->keys) return y;   // nobody asks for a gradient
  return amax(where(logical_or(eq(x, y), logical_and(isnan(x), isnan(y))), x, wrapped(-std::numeric_limits<double>::infinity())));
}

Values kth_value(const Tensor& x, int64_t k, int64_t dim, bool keepdim) {
  if (x.dim() == 0) return kth_value(reshape(x, {1}), k, dim, false);
  const int64_t n = x.size(wrap_dim(dim, x.dim(), "kthvalue"));
  expect(k >= 1 && k <= n, "kthvalue(): selected number k out of range for dimension ", dim, ", got ", k, " of ", n);
  const bool first_are_less_work = k <= (n > 128 ? n / 64 : n / 8);  // long lines are sorted by their digits
  const Values v = first_are_less_work ? topk(x, k, dim, false) : sort(x, dim);
  const Tensor values = contiguous(select(v.values, dim, k - 1)), indices = contiguous(select(v.indices, dim, k - 1));
  return keepdim ? Values{unsqueeze(values, dim), unsqueeze(indices, dim)} : Values{values, indices};
}

Tensor whole_extreme(Tensor (*f)(const Tensor&, const OptionalDims&, bool), const char* node, const Tensor& x) {
  const NodeName named(node);
  return f(x, {}, false);
}

void bind_extremes(nb::module_& m) {
  both(m, "amax", [](const Tensor& x, const OptionalDims& dim, bool keepdim) { return amax(x, dim, keepdim); }, "dim"_a = nb::none(), "keepdim"_a = false);
  both(m, "amin", [](const Tensor& x, const OptionalDims& dim, bool keepdim) { return amin(x, dim, keepdim); }, "dim"_a = nb::none(), "keepdim"_a = false);
  both(m, "aminmax", [](const Tensor& x, OptDim dim, bool keepdim) {
    const OptionalDims d = dim ? OptionalDims(Dims{*dim}) : OptionalDims();
    return pair("aminmax", amin(x, d, keepdim), amax(x, d, keepdim));
  }, nb::kw_only(), "dim"_a = nb::none(), "keepdim"_a = false);
  both(m, "argmax", [](const Tensor& x, OptDim dim, bool keepdim) { return argmax(x, dim, keepdim); }, "dim"_a = nb::none(), "keepdim"_a = false);
  both(m, "argmin", [](const Tensor& x, OptDim dim, bool keepdim) { return argmin(x, dim, keepdim); }, "dim"_a = nb::none(), "keepdim"_a = false);
  auto define = [&](const char* name, auto whole, auto along, auto elementwise) {
    both(m, name, [whole](const Tensor& x) { return whole(x); });
    both(m, name, [along, name](const Tensor& x, int64_t dim, bool keepdim) { return pair(name, along(x, dim, keepdim)); }, "dim"_a, "keepdim"_a = false);
    both(m, name, [elementwise](const Tensor& x, const Tensor& y) { return elementwise(x, y); }, "other"_a);
  };
  define("max", [](const Tensor& x) { return whole_extreme(amax, "MaxBackward1", x); }, [](const Tensor& x, int64_t d, bool k) { return max(x, d, k); }, [](const Tensor& x, const Tensor& y) { return maximum(x, y); });
  define("min", [](const Tensor& x) { return whole_extreme(amin, "MinBackward1", x); }, [](const Tensor& x, int64_t d, bool k) { return min(x, d, k); }, [](const Tensor& x, const Tensor& y) { return minimum(x, y); });
  both(m, "median", [](const Tensor& x) { return median_of_all(x, median, "median", "MedianBackward0"); });
  both(m, "median", [](const Tensor& x, int64_t dim, bool keepdim) { return pair("median", median(x, dim, keepdim)); }, "dim"_a, "keepdim"_a = false);
  both(m, "nanmedian", [](const Tensor& x) { return median_of_all(x, nanmedian, "nanmedian", "NanmedianBackward0"); });
  both(m, "nanmedian", [](const Tensor& x, int64_t dim, bool keepdim) { return pair("nanmedian", nanmedian(x, dim, keepdim)); }, "dim"_a, "keepdim"_a = false);
}

void bind_scans(nb::module_& m) {
  both_and_inplace(m, "cumsum", [](const Tensor& x, int64_t dim, OptDType t) { warn_of_cast(x, t); return t ? to_dtype(cumsum(to_dtype(x, *t), dim), *t) : cumsum(x, dim); }, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  both_and_inplace(m, "cumprod", [](const Tensor& x, int64_t dim, OptDType t) { warn_of_cast(x, t); return t ? to_dtype(cumprod(to_dtype(x, *t), dim), *t) : cumprod(x, dim); }, "dim"_a, nb::kw_only(), "dtype"_a = nb::none());
  both(m, "logcumsumexp", [](const Tensor& x, int64_t dim) { return logcumsumexp(x, dim); }, "dim"_a);
  both(m, "cummax", [](const Tensor& x, int64_t dim) { return pair("cummax", cummax(x, dim)); }, "dim"_a);
  both(m, "cummin", [](const Tensor& x, int64_t dim) { return pair("cummin", cummin(x, dim)); }, "dim"_a);
}

void bind_sorting(nb::module_& m) {
  both(m, "sort", [](const Tensor& x, int64_t dim, bool descending, std::optional<bool>) { return pair("sort", sort(x, dim, descending)); }, "dim"_a = -1, "descending"_a = false, "stable"_a.none() = false);
  both(m, "argsort", [](const Tensor& x, int64_t dim, bool descending, bool) { return sort(x, dim, descending).indices; }, "dim"_a = -1, "descending"_a = false, "stable"_a = false);
  both(m, "topk", [](const Tensor& x, int64_t k, int64_t dim, bool largest, bool sorted) { return pair("topk", topk(x, k, dim, largest, sorted)); },
       "k"_a, "dim"_a = -1, "largest"_a = true, "sorted"_a = true);
  both(m, "kthvalue", [](const Tensor& x, int64_t k, int64_t dim, bool keepdim) {
    return pair("kthvalue", kth_value(x, k, dim, keepdim));
  }, "k"_a, "dim"_a = -1, "keepdim"_a = false);
  both(m, "unique", [](const Tensor& x, bool, bool return_inverse, bool return_counts, OptDim dim) -> nb::object {
    if (dim) return nb::module_::import_("adjoint_core._unique").attr("unique_slices")(x, return_inverse, return_counts, *dim);
    Unique u = unique(x);
    if (!return_inverse && !return_counts) return nb::cast(u.values);
    if (!return_counts) return nb::make_tuple(u.values, u.inverse);
    if (!return_inverse) return nb::make_tuple(u.values, u.counts);
    return nb::make_tuple(u.values, u.inverse, u.counts);
  }, "sorted"_a = true, "return_inverse"_a = false, "return_counts"_a = false, "dim"_a = nb::none());
}

}  // namespace

void bind_reduce(nb::module_& m) {
  bind_sums(m);
  bind_norms(m);
  bind_moments(m);
  bind_extremes(m);
  bind_scans(m);
  bind_sorting(m);
}

}  // namespace adjoint::python
