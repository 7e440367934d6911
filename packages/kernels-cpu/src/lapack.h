// LAPACK under one name for each function, whatever the element type. Matrices lie by columns.
#pragma once
#include <adjoint/core/complex.h>

#include <complex>
#include <cstdint>

#define LAPACK_COMPLEX_CPP
#include <lapacke.h>

#include "blas.h"

namespace adjoint::cpu::lapack {

using blas::UnderWay;
using F = float;
using D = double;
using C = Complex<float>;
using Z = Complex<double>;
inline auto* raw(C* p) { return reinterpret_cast<lapack_complex_float*>(p); }
inline auto* raw(Z* p) { return reinterpret_cast<lapack_complex_double*>(p); }
inline auto* raw(const C* p) { return reinterpret_cast<const lapack_complex_float*>(p); }
inline auto* raw(const Z* p) { return reinterpret_cast<const lapack_complex_double*>(p); }
constexpr int columns = LAPACK_COL_MAJOR;

// The upper triangle u of a = u^H u; the order of the leading minor that is not positive, or 0.
inline int potrf(int n, F* a) { const UnderWay call; return scipy_LAPACKE_spotrf(columns, 'U', n, a, n); }
inline int potrf(int n, D* a) { const UnderWay call; return scipy_LAPACKE_dpotrf(columns, 'U', n, a, n); }
inline int potrf(int n, C* a) { const UnderWay call; return scipy_LAPACKE_cpotrf(columns, 'U', n, raw(a), n); }
inline int potrf(int n, Z* a) { const UnderWay call; return scipy_LAPACKE_zpotrf(columns, 'U', n, raw(a), n); }

// The lower triangle a of p l d l^T p^T, or l^H, and b (n, k) = a^-1 b; which block of d is zero, or 0.
inline int ldl(bool, int n, F* a, int32_t* p) { const UnderWay call; return scipy_LAPACKE_ssytrf(columns, 'L', n, a, n, p); }
inline int ldl(bool, int n, D* a, int32_t* p) { const UnderWay call; return scipy_LAPACKE_dsytrf(columns, 'L', n, a, n, p); }
inline int ldl(bool hermitian, int n, C* a, int32_t* p) { const UnderWay call; return (hermitian ? scipy_LAPACKE_chetrf : scipy_LAPACKE_csytrf)(columns, 'L', n, raw(a), n, p); }
inline int ldl(bool hermitian, int n, Z* a, int32_t* p) { const UnderWay call; return (hermitian ? scipy_LAPACKE_zhetrf : scipy_LAPACKE_zsytrf)(columns, 'L', n, raw(a), n, p); }
inline int ldl_solve(bool, int n, int k, const F* a, const int32_t* p, F* b) { const UnderWay call; return scipy_LAPACKE_ssytrs(columns, 'L', n, k, a, n, p, b, n); }
inline int ldl_solve(bool, int n, int k, const D* a, const int32_t* p, D* b) { const UnderWay call; return scipy_LAPACKE_dsytrs(columns, 'L', n, k, a, n, p, b, n); }
inline int ldl_solve(bool hermitian, int n, int k, const C* a, const int32_t* p, C* b) { const UnderWay call; return (hermitian ? scipy_LAPACKE_chetrs : scipy_LAPACKE_csytrs)(columns, 'L', n, k, raw(a), n, p, raw(b), n); }
inline int ldl_solve(bool hermitian, int n, int k, const Z* a, const int32_t* p, Z* b) { const UnderWay call; return (hermitian ? scipy_LAPACKE_zhetrs : scipy_LAPACKE_zsytrs)(columns, 'L', n, k, raw(a), n, p, raw(b), n); }

// a (m, n): r above, reflections below the diagonal and in tau; then the first `wide` columns of their product.
inline int geqrf(int m, int n, F* a, F* tau) { const UnderWay call; return scipy_LAPACKE_sgeqrf(columns, m, n, a, m, tau); }
inline int geqrf(int m, int n, D* a, D* tau) { const UnderWay call; return scipy_LAPACKE_dgeqrf(columns, m, n, a, m, tau); }
inline int geqrf(int m, int n, C* a, C* tau) { const UnderWay call; return scipy_LAPACKE_cgeqrf(columns, m, n, raw(a), m, raw(tau)); }
inline int geqrf(int m, int n, Z* a, Z* tau) { const UnderWay call; return scipy_LAPACKE_zgeqrf(columns, m, n, raw(a), m, raw(tau)); }
inline int orgqr(int m, int wide, int k, F* a, const F* tau) { const UnderWay call; return scipy_LAPACKE_sorgqr(columns, m, wide, k, a, m, tau); }
inline int orgqr(int m, int wide, int k, D* a, const D* tau) { const UnderWay call; return scipy_LAPACKE_dorgqr(columns, m, wide, k, a, m, tau); }
inline int orgqr(int m, int wide, int k, C* a, const C* tau) { const UnderWay call; return scipy_LAPACKE_cungqr(columns, m, wide, k, raw(a), m, raw(tau)); }
inline int orgqr(int m, int wide, int k, Z* a, const Z* tau) { const UnderWay call; return scipy_LAPACKE_zungqr(columns, m, wide, k, raw(a), m, raw(tau)); }

// op(q) c, or c op(q), in place in c (m, n), q being the whole product of k reflections in a (side, k); `how`: N, or T for the adjoint.
inline int ormqr(char side, char how, int m, int n, int k, const F* a, const F* tau, F* c) { const UnderWay call; return scipy_LAPACKE_sormqr(columns, side, how, m, n, k, a, side == 'L' ? m : n, tau, c, m); }
inline int ormqr(char side, char how, int m, int n, int k, const D* a, const D* tau, D* c) { const UnderWay call; return scipy_LAPACKE_dormqr(columns, side, how, m, n, k, a, side == 'L' ? m : n, tau, c, m); }
inline int ormqr(char side, char how, int m, int n, int k, const C* a, const C* tau, C* c) { const UnderWay call; return scipy_LAPACKE_cunmqr(columns, side, how == 'T' ? 'C' : how, m, n, k, raw(a), side == 'L' ? m : n, raw(tau), raw(c), m); }
inline int ormqr(char side, char how, int m, int n, int k, const Z* a, const Z* tau, Z* c) { const UnderWay call; return scipy_LAPACKE_zunmqr(columns, side, how == 'T' ? 'C' : how, m, n, k, raw(a), side == 'L' ? m : n, raw(tau), raw(c), m); }

// The same with reflections in blocks of `block`, t (block, min(m, n)): their product times c (m, wide), in place.
inline int geqrt(int m, int n, int block, F* a, F* t) { const UnderWay call; return scipy_LAPACKE_sgeqrt(columns, m, n, block, a, m, t, block); }
inline int geqrt(int m, int n, int block, D* a, D* t) { const UnderWay call; return scipy_LAPACKE_dgeqrt(columns, m, n, block, a, m, t, block); }
inline int geqrt(int m, int n, int block, C* a, C* t) { const UnderWay call; return scipy_LAPACKE_cgeqrt(columns, m, n, block, raw(a), m, raw(t), block); }
inline int geqrt(int m, int n, int block, Z* a, Z* t) { const UnderWay call; return scipy_LAPACKE_zgeqrt(columns, m, n, block, raw(a), m, raw(t), block); }
inline int gemqrt(int m, int wide, int k, int block, const F* a, const F* t, F* c) { const UnderWay call; return scipy_LAPACKE_sgemqrt(columns, 'L', 'N', m, wide, k, block, a, m, t, block, c, m); }
inline int gemqrt(int m, int wide, int k, int block, const D* a, const D* t, D* c) { const UnderWay call; return scipy_LAPACKE_dgemqrt(columns, 'L', 'N', m, wide, k, block, a, m, t, block, c, m); }
inline int gemqrt(int m, int wide, int k, int block, const C* a, const C* t, C* c) { const UnderWay call; return scipy_LAPACKE_cgemqrt(columns, 'L', 'N', m, wide, k, block, raw(a), m, raw(t), block, raw(c), m); }
inline int gemqrt(int m, int wide, int k, int block, const Z* a, const Z* t, Z* c) { const UnderWay call; return scipy_LAPACKE_zgemqrt(columns, 'L', 'N', m, wide, k, block, raw(a), m, raw(t), block, raw(c), m); }

// The eigenvalues w of the Hermitian matrix whose lower triangle a holds; how = V: its eigenvectors in a.
inline int eigh(char how, int n, F* a, F* w) { const UnderWay call; return scipy_LAPACKE_ssyevd(columns, how, 'L', n, a, n, w); }
inline int eigh(char how, int n, D* a, D* w) { const UnderWay call; return scipy_LAPACKE_dsyevd(columns, how, 'L', n, a, n, w); }
inline int eigh(char how, int n, C* a, F* w) { const UnderWay call; return scipy_LAPACKE_cheevd(columns, how, 'L', n, raw(a), n, w); }
inline int eigh(char how, int n, Z* a, D* w) { const UnderWay call; return scipy_LAPACKE_zheevd(columns, how, 'L', n, raw(a), n, w); }

// a (m, n) = u s vh; how = A: square u and vh, S: of min(m, n) columns and rows, N: none. `ldvh`: rows of vh.
inline int gesdd(char how, int m, int n, F* a, F* s, F* u, F* vh, int ldvh) { const UnderWay call; return scipy_LAPACKE_sgesdd(columns, how, m, n, a, m, s, u, m, vh, ldvh); }
inline int gesdd(char how, int m, int n, D* a, D* s, D* u, D* vh, int ldvh) { const UnderWay call; return scipy_LAPACKE_dgesdd(columns, how, m, n, a, m, s, u, m, vh, ldvh); }
inline int gesdd(char how, int m, int n, C* a, F* s, C* u, C* vh, int ldvh) { const UnderWay call; return scipy_LAPACKE_cgesdd(columns, how, m, n, raw(a), m, s, raw(u), m, raw(vh), ldvh); }
inline int gesdd(char how, int m, int n, Z* a, D* s, Z* u, Z* vh, int ldvh) { const UnderWay call; return scipy_LAPACKE_zgesdd(columns, how, m, n, raw(a), m, s, raw(u), m, raw(vh), ldvh); }

// Eigenvalues and, where v is not null, vectors; of a real matrix in LAPACK's packed form.
template <class T> char vectors(const T* v) { return v ? 'V' : 'N'; }
inline int geev(int n, F* a, F* re, F* im, F* v) { const UnderWay call; return scipy_LAPACKE_sgeev(columns, 'N', vectors(v), n, a, n, re, im, nullptr, 1, v, n); }
inline int geev(int n, D* a, D* re, D* im, D* v) { const UnderWay call; return scipy_LAPACKE_dgeev(columns, 'N', vectors(v), n, a, n, re, im, nullptr, 1, v, n); }
inline int geev(int n, C* a, C* w, C* v) { const UnderWay call; return scipy_LAPACKE_cgeev(columns, 'N', vectors(v), n, raw(a), n, raw(w), nullptr, 1, raw(v), n); }
inline int geev(int n, Z* a, Z* w, Z* v) { const UnderWay call; return scipy_LAPACKE_zgeev(columns, 'N', vectors(v), n, raw(a), n, raw(w), nullptr, 1, raw(v), n); }

}  // namespace adjoint::cpu::lapack
