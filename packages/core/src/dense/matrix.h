// Matrices of the reference kernels: row-major, in double precision, real or complex; and their way from and to views.
#pragma once
#include <adjoint/core/kernel.h>
#include <adjoint/core/math/bits.h>

#include <cmath>
#include <vector>

namespace adjoint::dense {

inline double conjugate(double x) { return x; }
inline Complex<double> conjugate(Complex<double> x) { return {x.re, -x.im}; }
inline double real(double x) { return x; }
inline double real(Complex<double> x) { return x.re; }
inline double imag(double) { return 0; }
inline double imag(Complex<double> x) { return x.im; }
inline double magnitude(double x) { return std::fabs(x); }
inline double magnitude(Complex<double> x) { return std::hypot(x.re, x.im); }
// LAPACK's measure of pivots: cheaper than the magnitude.
inline double size(double x) { return std::fabs(x); }
inline double size(Complex<double> x) { return std::fabs(x.re) + std::fabs(x.im); }

template <class C> struct Matrix {
  int64_t rows, columns;
  std::vector<C> values;
  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(rows * columns, C(0)) {}
  static Matrix identity(int64_t rows, int64_t columns) {
    Matrix m(rows, columns);
    for (int64_t i = 0; i < rows && i < columns; i++) m(i, i) = C(1);
    return m;
  }
  C& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  const C& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
  void swap_rows(int64_t i, int64_t k) { for (int64_t j = 0; i != k && j < columns; j++) std::swap((*this)(i, j), (*this)(k, j)); }
};

template <class C> Matrix<C> adjoint(const Matrix<C>& a) {
  Matrix<C> b(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; i++)
    for (int64_t j = 0; j < a.columns; j++) b(j, i) = conjugate(a(i, j));
  return b;
}
template <class C> Matrix<C> multiply(const Matrix<C>& a, const Matrix<C>& b) {
  Matrix<C> c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; i++)
    for (int64_t k = 0; k < a.columns; k++)
      for (int64_t j = 0; j < b.columns; j++) c(i, j) += a(i, k) * b(k, j);
  return c;
}

// ---- memory

// Where item `b` of the batch begins, the last `inner` dimensions being one item.
inline int64_t offset_of(const View& v, int64_t b, int inner) {
  int64_t offset = 0;
  for (int d = v.ndim - inner; d-- > 0; b /= v.sizes[d]) offset += b % v.sizes[d] * v.strides[d];
  return offset;
}
inline int64_t batches(const View& v, int inner) {
  int64_t n = 1;
  for (int d = 0; d < v.ndim - inner; d++) n *= v.sizes[d];
  return n;
}

template <class C> Matrix<C> load(const View& v, int64_t b) {
  Matrix<C> m(v.sizes[v.ndim - 2], v.sizes[v.ndim - 1]);
  with_type(v.dtype, [&](auto tag) {
    const auto* p = v.as<typename decltype(tag)::type>() + offset_of(v, b, 2);
    for (int64_t i = 0; i < m.rows; i++)
      for (int64_t j = 0; j < m.columns; j++) m(i, j) = convert<C>(p[i * v.strides[v.ndim - 2] + j * v.strides[v.ndim - 1]]);
  });
  return m;
}
template <class C> void store(const View& v, int64_t b, const Matrix<C>& m) {
  with_type(v.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = v.as<T>() + offset_of(v, b, 2);
    for (int64_t i = 0; i < v.sizes[v.ndim - 2]; i++)
      for (int64_t j = 0; j < v.sizes[v.ndim - 1]; j++) p[i * v.strides[v.ndim - 2] + j * v.strides[v.ndim - 1]] = convert<T>(m(i, j));
  });
}
template <class C> std::vector<C> load_vector(const View& v, int64_t b) {
  std::vector<C> x(v.sizes[v.ndim - 1]);
  with_type(v.dtype, [&](auto tag) {
    const auto* p = v.as<typename decltype(tag)::type>() + offset_of(v, b, 1);
    for (size_t i = 0; i < x.size(); i++) x[i] = convert<C>(p[static_cast<int64_t>(i) * v.strides[v.ndim - 1]]);
  });
  return x;
}
template <class C> void store_vector(const View& v, int64_t b, const std::vector<C>& x) {
  with_type(v.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = v.as<T>() + offset_of(v, b, 1);
    for (int64_t i = 0; i < v.sizes[v.ndim - 1]; i++) p[i * v.strides[v.ndim - 1]] = convert<T>(x[i]);
  });
}
template <class C> void store_number(const View& v, int64_t b, C x) {
  with_type(v.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    v.as<T>()[offset_of(v, b, 0)] = convert<T>(x);
  });
}

// f(tag of the type to compute in, matrix number) for each matrix of the batch of x.
template <class F> void for_matrices(const View& x, F&& f) {
  for (int64_t b = 0; b < batches(x, 2); b++) {
    if (is_complex(x.dtype)) f(TypeTag<Complex<double>>{}, b);
    else f(TypeTag<double>{}, b);
  }
}

}  // namespace adjoint::dense
