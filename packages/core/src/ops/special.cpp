// Special functions in families that are closed under derivatives: no division by x, so that they are right at 0 in every order.
#include <adjoint/core/special.h>

#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/special.h>
#include <adjoint/core/math/airy.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "keep.h"

namespace adjoint {

namespace {

using Function = Tensor (*)(int64_t n, const Tensor& x);

// Half the sum and half the difference of the neighbours in order: what derivatives of Bessel functions are made of.
Tensor mean(Function f, int64_t n, const Tensor& x) { return n ? (f(n - 1, x) + f(n + 1, x)) * .5 : f(1, x); }
Tensor half_difference(Function f, int64_t n, const Tensor& x) { return n ? (f(n - 1, x) - f(n + 1, x)) * .5 : -f(1, x); }

// By the same polynomials with another parameter (Abramowitz and Stegun, 22.8 and 22.5): V and W are differences and sums of neighbours U = C^1.
Tensor polynomial_slope(const Tensor& x, const Tensor& n, const Polynomials& of) {
  const Tensor degree = trunc(n), below = degree - wrapped(1);
  auto at = [&](const Tensor& k, Family f, double parameter) { return orthogonal_polynomial(x, k, {f, parameter}); };
  auto gegenbauer = [&](const Tensor& k, double parameter) { return at(k, Family::gegenbauer, parameter); };
  switch (of.family) {
    case Family::chebyshev_t: return degree * gegenbauer(below, 1);
    case Family::chebyshev_v: return (gegenbauer(below, 2) - gegenbauer(below - wrapped(1), 2)) * 2.;
    case Family::chebyshev_w: return (gegenbauer(below, 2) + gegenbauer(below - wrapped(1), 2)) * 2.;
    case Family::gegenbauer: return gegenbauer(below, of.parameter + 1) * (2 * of.parameter);
    case Family::hermite: return degree * at(below, Family::hermite, 0) * 2.;
    case Family::hermite_e: return degree * at(below, Family::hermite_e, 0);
    default: return -at(below, Family::laguerre, of.parameter + 1);
  }
}

}  // namespace

const Op op_airy_ai{.name = "airy_ai", .torch = "SpecialAiryAi", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) { return a.n ? v * x * airy_ai(0, x) : v * airy_ai(1, x); })},
    .doc = "Airy's function Ai at each element of `x`, or for n = 1 its derivative.", .reference = elementwise<functors::OfOrder<math::airy>, 1>};
Tensor airy_ai(int64_t n, const Tensor& x) { return apply(op_airy_ai, {x}, Order{n}); }

const Op op_bessel_i{.name = "bessel_i", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) { return v * mean(bessel_i, a.n, x); })},
    .doc = "The modified Bessel function of the first kind and order n at each element of `x`.", .reference = elementwise<functors::OfOrder<math::bessel_i>, 1>};
Tensor bessel_i(int64_t n, const Tensor& x) { return apply(op_bessel_i, {x}, Order{n}); }

const Op op_bessel_i_scaled{.name = "bessel_i_scaled", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) {
      return v * (mean(bessel_i_scaled, a.n, x) - sign(x) * bessel_i_scaled(a.n, x));
    })},
    .doc = "`exp(-abs(x))` times the modified Bessel function of the first kind and order n.", .reference = elementwise<functors::OfOrder<math::bessel_i_scaled>, 1>};
Tensor bessel_i_scaled(int64_t n, const Tensor& x) { return apply(op_bessel_i_scaled, {x}, Order{n}); }

const Op op_bessel_j{.name = "bessel_j", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) { return v * half_difference(bessel_j, a.n, x); })},
    .doc = "The Bessel function of the first kind and order n at each element of `x`.", .reference = elementwise<functors::OfOrder<math::bessel_j>, 1>};
Tensor bessel_j(int64_t n, const Tensor& x) { return apply(op_bessel_j, {x}, Order{n}); }

const Op op_bessel_k{.name = "bessel_k", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) { return -(v * mean(bessel_k, a.n, x)); })},
    .doc = "The modified Bessel function of the second kind and order n at each element of `x`.", .reference = elementwise<functors::OfOrder<math::bessel_k>, 1>};
Tensor bessel_k(int64_t n, const Tensor& x) { return apply(op_bessel_k, {x}, Order{n}); }

const Op op_bessel_k_scaled{.name = "bessel_k_scaled", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) {
      return v * (bessel_k_scaled(a.n, x) - mean(bessel_k_scaled, a.n, x));
    })},
    .doc = "`exp(x)` times the modified Bessel function of the second kind and order n.", .reference = elementwise<functors::OfOrder<math::bessel_k_scaled>, 1>};
Tensor bessel_k_scaled(int64_t n, const Tensor& x) { return apply(op_bessel_k_scaled, {x}, Order{n}); }

const Op op_bessel_y{.name = "bessel_y", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) { return v * half_difference(bessel_y, a.n, x); })},
    .doc = "The Bessel function of the second kind and order n at each element of `x`.", .reference = elementwise<functors::OfOrder<math::bessel_y>, 1>};
Tensor bessel_y(int64_t n, const Tensor& x) { return apply(op_bessel_y, {x}, Order{n}); }

const Op op_entr{.name = "entr", .torch = "SpecialEntr", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return -(v * (log(x) + 1.)); })},
    .doc = "`-x * log(x)` for each element of `x`: 0 at 0, minus infinity below.", .reference = elementwise<functors::Entr, 1>};
Tensor entr(const Tensor& x) { return apply(op_entr, {x}); }

// phi(x) / Phi(x): one form below 0, another above, each of which is finite there, as its derivatives are.
const Op op_log_ndtr{.name = "log_ndtr", .torch = "SpecialLogNdtr", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor negative = lt(x, wrapped(0.)), below = where(negative, x, wrapped(0.)), above = where(negative, wrapped(0.), x);
      return v * where(negative, div(wrapped(0.7978845608028654), erfcx(0, below * -0.7071067811865476)), exp(above * above * -.5 - log_ndtr(above)) * 0.3989422804014327);
    })},
    .doc = "The logarithm of the normal distribution function at each element of `x`.", .reference = elementwise<functors::LogNdtr, 1>};
Tensor log_ndtr(const Tensor& x) { return apply(op_log_ndtr, {x}); }

const Op op_ndtri{.name = "ndtri", .torch = "SpecialNdtri", .types = types::floating,
    .d = {wide_rule([](V v, X<0> p) {
      const Tensor x = ndtri(p);
      return v * (exp(x * x * .5) * 2.5066282746310002);
    })},
    .doc = "Where the normal distribution function has the value `p`, for each element.", .reference = elementwise<functors::Ndtri, 1>};
Tensor ndtri(const Tensor& p) { return apply(op_ndtri, {p}); }

const Op op_erfcx{.name = "erfcx", .torch = "SpecialErfcx", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) { return v * (erfcx(a.n + 1, x) * (-2. * (a.n + 1))); })},
    .doc = "`exp(x**2)` times the n-th repeated integral of erfc from each element of `x` on: `exp(x**2) * erfc(x)` for n = 0.",
    .reference = elementwise<functors::OfOrder<math::erfcx>, 1>};
Tensor erfcx(int64_t n, const Tensor& x) { return apply(op_erfcx, {x}, Order{n}); }

const Op op_orthogonal_polynomial{.name = "orthogonal_polynomial", .fields = fields_of<Polynomials>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, X<1> n, const Polynomials& of) { return v * polynomial_slope(x, n, of); })},
    .doc = "The orthogonal polynomial of degree `n` of a family at each element of `x`.", .reference = elementwise<functors::OrthogonalPolynomial, 2>};
Tensor orthogonal_polynomial(const Tensor& x, const Tensor& n, const Polynomials& of) { return apply(op_orthogonal_polynomial, {x, n}, of); }

const Op op_zeta{.name = "zeta", .torch = "SpecialZeta", .types = types::floating,
    .d = {rule([](V) -> Tensor { fail(ErrorKind::not_implemented, "the derivative for 'zeta: self' is not implemented."); }),
          wide_rule([](V v, X<0> s, X<1> q) { return -(v * s * zeta(s + 1., q)); })},
    .doc = "Hurwitz's zeta function: the sum of `(q + k)**-s` over k >= 0, elementwise.", .reference = elementwise<functors::Zeta, 2>};
Tensor zeta(const Tensor& s, const Tensor& q) { return apply(op_zeta, {s, q}); }

const Op* const special_ops[] = {&op_airy_ai, &op_bessel_i, &op_bessel_i_scaled, &op_bessel_j, &op_bessel_k, &op_bessel_k_scaled, &op_bessel_y, &op_entr, &op_erfcx, &op_log_ndtr, &op_ndtri, &op_orthogonal_polynomial, &op_zeta};
Ops families::special() { return special_ops; }

}  // namespace adjoint
