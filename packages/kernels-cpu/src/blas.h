// OpenBLAS under one name for each function, whatever the element type.
#pragma once
#include <adjoint/core/complex.h>

#include <cblas.h>

#include "blas_call.h"

namespace adjoint::cpu::blas {

inline CBLAS_TRANSPOSE flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

// c (m, n) = op(a) op(b), all row-major with the given row lengths.
inline void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, float beta = 0) {
  const InBuffer buffer;
  scipy_cblas_sgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc, double beta = 0) {
  const InBuffer buffer;
  scipy_cblas_dgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const Complex<float>* a, int64_t lda, const Complex<float>* b, int64_t ldb, Complex<float>* c, int64_t ldc, Complex<float> beta = 0) {
  const Complex<float> one = 1;
  const InBuffer buffer;
  scipy_cblas_cgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, &one, a, lda, b, ldb, &beta, c, ldc);
}
inline void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const Complex<double>* a, int64_t lda, const Complex<double>* b, int64_t ldb, Complex<double>* c, int64_t ldc, Complex<double> beta = 0) {
  const Complex<double> one = 1;
  const InBuffer buffer;
  scipy_cblas_zgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, &one, a, lda, b, ldb, &beta, c, ldc);
}

// y = op(a) x; a (rows, columns) row-major.
inline void gemv(bool ta, int64_t rows, int64_t columns, const float* a, int64_t lda, const float* x, int64_t incx, float* y, int64_t incy) {
  const UnderWay call;
  scipy_cblas_sgemv(CblasRowMajor, flag(ta), rows, columns, 1, a, lda, x, incx, 0, y, incy);
}
inline void gemv(bool ta, int64_t rows, int64_t columns, const double* a, int64_t lda, const double* x, int64_t incx, double* y, int64_t incy) {
  const UnderWay call;
  scipy_cblas_dgemv(CblasRowMajor, flag(ta), rows, columns, 1, a, lda, x, incx, 0, y, incy);
}
inline void gemv(bool ta, int64_t rows, int64_t columns, const Complex<float>* a, int64_t lda, const Complex<float>* x, int64_t incx, Complex<float>* y, int64_t incy) {
  const Complex<float> one = 1, zero = 0;
  const UnderWay call;
  scipy_cblas_cgemv(CblasRowMajor, flag(ta), rows, columns, &one, a, lda, x, incx, &zero, y, incy);
}
inline void gemv(bool ta, int64_t rows, int64_t columns, const Complex<double>* a, int64_t lda, const Complex<double>* x, int64_t incx, Complex<double>* y, int64_t incy) {
  const Complex<double> one = 1, zero = 0;
  const UnderWay call;
  scipy_cblas_zgemv(CblasRowMajor, flag(ta), rows, columns, &one, a, lda, x, incx, &zero, y, incy);
}

}  // namespace adjoint::cpu::blas
