// Elementwise functions and methods.
#include <limits>

#include <adjoint/core/special.h>

#include "direct.h"

namespace adjoint::python {

namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

constexpr std::pair<const char*, Unary> unary_functions[] = {
    {"neg", neg}, {"negative", neg}, {"abs", abs}, {"absolute", abs}, {"sign", sign}, {"sgn", sgn}, {"square", square}, {"reciprocal", reciprocal},
    {"exp", exp}, {"exp2", exp2}, {"expm1", expm1}, {"log", log}, {"log2", log2}, {"log10", log10}, {"log1p", log1p}, {"sqrt", sqrt}, {"rsqrt", rsqrt},
    {"floor", floor}, {"ceil", ceil}, {"trunc", trunc}, {"fix", trunc}, {"frac", frac},
    {"sin", sin}, {"cos", cos}, {"tan", tan}, {"asin", asin}, {"arcsin", asin}, {"acos", acos}, {"arccos", acos}, {"atan", atan}, {"arctan", atan},
    {"sinh", sinh}, {"cosh", cosh}, {"tanh", tanh}, {"asinh", asinh}, {"arcsinh", asinh}, {"acosh", acosh}, {"arccosh", acosh}, {"atanh", atanh}, {"arctanh", atanh},
    {"erf", erf}, {"erfc", erfc}, {"erfinv", erfinv}, {"lgamma", lgamma}, {"digamma", digamma}, {"sinc", sinc}, {"rad2deg", rad2deg}, {"deg2rad", deg2rad},
    {"logical_not", logical_not}, {"bitwise_not", bitwise_not}, {"sigmoid", sigmoid}, {"relu", relu}, {"isnan", isnan}, {"isinf", isinf}, {"isfinite", isfinite}};
constexpr std::pair<const char*, Binary> binary_functions[] = {
    {"mul", mul}, {"multiply", mul}, {"pow", pow}, {"floor_divide", floor_divide}, {"remainder", remainder}, {"fmod", fmod},
    {"atan2", atan2}, {"arctan2", atan2}, {"hypot", hypot}, {"igamma", igamma}, {"igammac", igammac}, {"maximum", maximum}, {"minimum", minimum}, {"fmax", fmax}, {"fmin", fmin},
    {"xlogy", xlogy}, {"logaddexp", logaddexp}, {"logaddexp2", logaddexp2}, {"copysign", copysign},
    {"eq", eq}, {"ne", ne}, {"not_equal", ne}, {"lt", lt}, {"less", lt}, {"le", le}, {"less_equal", le}, {"gt", gt}, {"greater", gt}, {"ge", ge}, {"greater_equal", ge},
    {"logical_and", logical_and}, {"logical_or", logical_or}, {"logical_xor", logical_xor},
    {"bitwise_and", bitwise_and}, {"bitwise_or", bitwise_or}, {"bitwise_xor", bitwise_xor}, {"bitwise_left_shift", bitwise_left_shift}, {"bitwise_right_shift", bitwise_right_shift}};

// f(x, ...) into x: by the record if there is one.
template <class F> Tensor write(const Tensor& x, const char* name, Tensors others, F&& f) {
  const Op* op = find_op(name);
  if (!op) return into(x, f);
  apply_inplace(*op, x, others);
  return x;
}

void bind_special(nb::module_& m) {
  for (auto [name, f] : {std::pair<const char*, Tensor (*)(int64_t, const Tensor&)>("_bessel_i", bessel_i), {"_bessel_i_scaled", bessel_i_scaled}, {"_bessel_j", bessel_j}, {"_bessel_k", bessel_k}, {"_bessel_k_scaled", bessel_k_scaled}, {"_bessel_y", bessel_y}, {"_erfcx", erfcx}})
    function(m, name, [f = f](int64_t n, const Tensor& x) {
      expect(n >= 0 && n < 100, "expected an order in [0, 99], got ", n);
      return f(n, x);
    }, "n"_a, "input"_a);
  function(m, "_airy_ai", [](const Tensor& x) { return airy_ai(0, x); }, "input"_a);
  function(m, "_orthogonal_polynomial", [](const Tensor& x, const Tensor& n, int64_t family, double parameter) {
    return orthogonal_polynomial(x, n, {static_cast<Family>(family), parameter});
  }, "input"_a, "n"_a, "family"_a, "parameter"_a);
  function(m, "_entr", entr, "input"_a);
  function(m, "_spherical_bessel_j0", [](const Tensor& x) {
    constexpr double largest = std::numeric_limits<double>::max();   // 0, as infinity
    const Tensor wide = to_dtype(x, DType::float64);                 // in single precision the angle would be another one
    return to_dtype(sinc(div(clamp(wide, wrapped(-largest), wrapped(largest)), wrapped(3.141592653589793))), x.dtype());
  }, "input"_a);
  function(m, "_log_ndtr", log_ndtr, "input"_a);
  function(m, "_ndtri", ndtri, "input"_a);
  function(m, "_mantissa", mantissa, "input"_a);
  function(m, "_exponent", exponent, "input"_a);
  function(m, "_zeta", [](const Operand& s, const Operand& q) { return zeta(s.t, q.t); }, "input"_a, "other"_a);
}

}  // namespace

void bind_elementwise(nb::module_& m) {
  const Methods t;
  bind_special(m);
  both(m, "nextafter", nextafter, "other"_a, find_op("nextafter")->doc);
  t.def("nextafter_", [](const Tensor& self, const Tensor& other) {
    return into(self, [&](const Tensor& x) { return nextafter(x, other); });
  }, "other"_a);
  for (auto [name, f] : unary_functions) {
    const Op* op = find_op(name);
    both(m, name, [f = f](const Tensor& x) { return f(x); }, op ? op->doc : "");
    t.def((std::string(name) + "_").c_str(), [f = f, name = name](const Tensor& x) { return write(x, name, {}, f); });
    direct_both<Tensor>(m, name, f);
  }
  for (auto [name, f] : binary_functions) {
    const Op* op = find_op(name);
    both(m, name, [f = f](const python::Operand& a, const python::Operand& b) { return of_numbers(f(a, b)); }, "other"_a, op ? op->doc : "");
    t.def((std::string(name) + "_").c_str(), [f = f, name = name](const Tensor& self, const python::Operand& b) {
      return write(self, name, {&b.t, 1}, [&](const Tensor& x) { return f(x, b.t); });
    }, "other"_a);
    direct_both<Operand, Operand>(m, name, [f = f](const Tensor& a, const Tensor& b) { return of_numbers(f(a, b)); });
    if (op) direct_inplace((std::string(name) + "_").c_str(), *op);
  }
}

}  // namespace adjoint::python
