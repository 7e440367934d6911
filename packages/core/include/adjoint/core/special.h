// Special functions that rules and Python call; the frequent ones are in ops.h.
#pragma once
#include <adjoint/core/op_attrs.h>
#include <adjoint/core/tensor.h>

namespace adjoint {

// Airy's function Ai for n = 0, its derivative for 1.
ADJOINT_API Tensor airy_ai(int64_t n, const Tensor& x);

// Bessel functions of whole order n >= 0. Scaled: e^-|x| I_n(x) and e^x K_n(x).
ADJOINT_API Tensor bessel_i(int64_t n, const Tensor& x), bessel_i_scaled(int64_t n, const Tensor& x);
ADJOINT_API Tensor entr(const Tensor& x), log_ndtr(const Tensor& x), ndtri(const Tensor& p), bessel_j(int64_t n, const Tensor& x), bessel_y(int64_t n, const Tensor& x);
ADJOINT_API Tensor bessel_k(int64_t n, const Tensor& x), bessel_k_scaled(int64_t n, const Tensor& x);

// e^(x^2) times the n-th repeated integral of erfc from x on.
ADJOINT_API Tensor erfcx(int64_t n, const Tensor& x);

// The polynomial of degree n, cut to an integer, at x; 0 of negative degree. No derivative in n.
ADJOINT_API Tensor orthogonal_polynomial(const Tensor& x, const Tensor& n, const Polynomials& of);

// Hurwitz's zeta function.
ADJOINT_API Tensor zeta(const Tensor& s, const Tensor& q);

}  // namespace adjoint
