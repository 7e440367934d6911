// Matrix products.
#include <adjoint/core/linalg.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/one_type.h>
#include <adjoint/core/types.h>

#include "convert.h"
#include "direct.h"
#include "fits.h"
#include "warn.h"

namespace adjoint::python {

namespace {

using Product = Tensor (*)(const Tensor&, const Tensor&);

Tensor tensordot_any(const Tensor& a, const Tensor& b, const nb::object& dims) {
  if (is_sequence(dims.ptr())) return tensordot(a, b, nb::cast<Dims>(dims[0]), nb::cast<Dims>(dims[1]));
  const auto n = static_cast<int>(nb::cast<int64_t>(dims));
  Dims left, right;
  for (int i = 0; i < n; i++) { left.push_back(a.dim() - n + i); right.push_back(i); }
  return tensordot(a, b, left, right);
}

// beta * c + alpha * f(a, b, in_float): where all are of one half type, only the sum is rounded.
template <class F> auto plus_product(const char* name, F f) {
  return [name, f](const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
    const Given given(c, a, b);
    const Named named(name, given);
    expect_type(name, "input", c, "the product", a);
    const Scalar own = factor_in_float(beta, c.dtype()), other = factor_in_float(alpha, c.dtype());
    Tensor product = f(a, b, half_type(c, a, b).has_value());
    expect(broadcast(c.sizes(), product.sizes(), name) == product.sizes(), ErrorKind::shape, name, ": input of shape ", c.sizes(), " does not fit a result of shape ", product.sizes());
    return scaled_sum(c, std::move(product), own, other);
  };
}

// cross without a dim takes the first one of length 3.
int64_t cross_dim(const Tensor& x, std::optional<int64_t> dim) {
  if (dim) return *dim;
  warn_once("Using torch.cross without specifying the dim arg is deprecated. Please either pass the dim explicitly or simply use torch.linalg.cross. "
            "The default value of dim will change to agree with that of linalg.cross in a future release.");
  for (int i = 0; i < x.dim(); i++) if (x.size(i) == 3) return i;
  fail(ErrorKind::shape, "cross: no dimension of size 3 in input of shape ", x.sizes());
}

// The letters of one operand of einsum that are written as numbers: 0 is A, 26 is a, ... is itself.
std::string letters(nb::handle subscripts) {
  std::string s;
  for (nb::handle i : subscripts) {
    if (i.ptr() == Py_Ellipsis) { s += "..."; continue; }
    const auto n = nb::cast<int64_t>(i);
    expect(n >= 0 && n < 52, "einsum(): not within the valid range [0, 52): subscript ", n);
    s += static_cast<char>(n < 26 ? 'A' + n : 'a' + n - 26);
  }
  return s;
}

// einsum(a, [0, 1], b, [1, 2], [0, 2])
Tensor einsum_of_lists(const nb::args& args) {
  std::string equation;
  TensorVector operands;
  const size_t pairs = args.size() / 2;
  for (size_t i = 0; i < pairs; i++) {
    operands.push_back(nb::cast<Tensor>(args[2 * i]));
    equation += (i ? "," : "") + letters(args[2 * i + 1]);
  }
  if (args.size() % 2) equation += "->" + letters(args[2 * pairs]);
  return einsum(equation.c_str(), operands);
}

}  // namespace

void bind_linalg(nb::module_& m) {
  constexpr std::pair<const char*, Product> products[] = {{"matmul", matmul}, {"mm", mm}, {"bmm", bmm}, {"mv", mv}, {"dot", dot}, {"outer", outer}, {"ger", outer}};
  for (auto [name, f] : products) {
    const char* other = std::string(name) == "mm" || std::string(name) == "bmm" ? "mat2" : std::string(name) == "mv" ? "vec" : std::string(name) == "dot" ? "tensor" : std::string(name) == "matmul" ? "other" : "vec2";
    both(m, name, [f = f](const Tensor& a, const Tensor& b) { return f(a, b); }, nb::arg(other));
    direct_both<Tensor, Tensor>(m, name, f);
  }
  function(m, "_product", [](const Tensor& a, const Tensor& b) { return matmul(a, b, true); }, "matmul that does not round to half types: it gives float32 for them.");
  both(m, "inner", [](const Tensor& a, const Tensor& b) {
    if (a.dim() == 0 || b.dim() == 0) return mul(a, b);
    expect(a.size(-1) == b.size(-1), ErrorKind::shape, "inner: the last dimension must match on both input tensors but got shapes ", a.sizes(), " and ", b.sizes());
    return tensordot(a, b, {-1}, {-1});
  }, "other"_a);
  both(m, "vdot", [](const Tensor& a, const Tensor& b) { return dot(is_complex(a.dtype()) ? conj(a) : a, b); }, "other"_a);
  both_and_inplace(m, "addmm", [](const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) { return addmm(c, a, b, factor_in_float(beta, c.dtype()), factor_in_float(alpha, c.dtype())); },
       "mat1"_a, "mat2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
  both_and_inplace(m, "addmv", plus_product("addmv", [](const Tensor& a, const Tensor& b, bool in_float) { return mv(a, b, in_float); }),
       "mat"_a, "vec"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
  both_and_inplace(m, "addr", [](const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
    const Tensor all[] = {c, a, b};
    const DType t = result_type(all);
    return addr(c, a, b, factor_of_kind("beta", beta, t), factor_of_kind("alpha", alpha, t));
  },
       "vec1"_a, "vec2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
  both_and_inplace(m, "baddbmm", plus_product("baddbmm", [](const Tensor& a, const Tensor& b, bool in_float) { return bmm(a, b, in_float); }),
       "batch1"_a, "batch2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
  both_and_inplace(m, "addbmm", plus_product("addbmm", [](const Tensor& a, const Tensor& b, bool in_float) { const Tensor each = bmm(a, b, in_float);
    return sum(each, Dims{0}, false, each.dtype());
  }),
       "batch1"_a, "batch2"_a, nb::kw_only(), "beta"_a = 1, "alpha"_a = 1);
  function(m, "tensordot", [](const Tensor& a, const Tensor& b, const nb::object& dims) { return tensordot_any(a, b, dims); }, "a"_a, "b"_a, "dims"_a = 2);
  function(m, "_multi_dot", [](const TensorVector& x) { return multi_dot(x); }, "tensors"_a);
  function(m, "_block_diag", [](const TensorVector& x) { return block_diag(x); }, "tensors"_a);
  both(m, "trace", [](const Tensor& x) { return trace(x); });
  function(m, "einsum", [](const std::string& equation, const nb::args& operands) {
    nb::object given = operands.size() == 1 && is_sequence(nb::handle(operands[0]).ptr()) ? nb::object(operands[0]) : nb::object(operands);
    return einsum(equation.c_str(), nb::cast<TensorVector>(nb::list(given)));
  }, "equation"_a, "operands"_a, "A sum of products written with letters: `einsum('ij,jk->ik', a, b)`.");
  function(m, "einsum", einsum_of_lists, "args"_a);
  both(m, "kron", [](const Tensor& a, const Tensor& b) { return kron(a, b); }, "other"_a);
  both(m, "cross", [](const Tensor& a, const Tensor& b, std::optional<int64_t> dim) { return cross(a, b, cross_dim(a, dim)); }, "other"_a, "dim"_a = nb::none());
}

}  // namespace adjoint::python
