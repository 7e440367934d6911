// Discrete Fourier transforms along one dimension.
#pragma once
#include <adjoint/core/ops.h>

#include <cmath>

namespace adjoint {

// Of the records. A forward transform has e^(-2 pi i j k / n), an inverse one the conjugate; `size`: elements of a real signal.
struct Fourier { int dim; bool inverse; double scale; int64_t size; };

// The transform of all elements, times `scale`.
ADJOINT_API Tensor fft(const Tensor& x, int64_t dim, bool inverse, double scale);
// The first n / 2 + 1 elements of the transform of a real signal of n elements, which are all it takes.
ADJOINT_API Tensor rfft(const Tensor& x, int64_t dim, double scale);
// The real signal of n elements whose transform begins with the n / 2 + 1 elements x: the inverse transform.
ADJOINT_API Tensor irfft(const Tensor& x, int64_t dim, int64_t n, double scale);

// e^(-2 pi i j / n) for 0 <= j < n: the angle is reduced to an eighth of a turn before it is rounded.
inline Complex<double> root_of_unity(int64_t j, int64_t n) {
  constexpr double turn = 6.283185307179586476925;
  const int64_t eighth = 8 * j / n;
  const auto angle = [&](int64_t part) { return turn * static_cast<double>(part) / (8 * static_cast<double>(n)); };   // part: of 8 n
  const int64_t at = 8 * j;
  double c = 0, s = 0;
  switch (eighth) {
    case 0: c = std::cos(angle(at)), s = std::sin(angle(at)); break;
    case 1: c = std::sin(angle(2 * n - at)), s = std::cos(angle(2 * n - at)); break;
    case 2: c = -std::sin(angle(at - 2 * n)), s = std::cos(angle(at - 2 * n)); break;
    case 3: c = -std::cos(angle(4 * n - at)), s = std::sin(angle(4 * n - at)); break;
    case 4: c = -std::cos(angle(at - 4 * n)), s = -std::sin(angle(at - 4 * n)); break;
    case 5: c = -std::sin(angle(6 * n - at)), s = -std::cos(angle(6 * n - at)); break;
    case 6: c = std::sin(angle(at - 6 * n)), s = -std::cos(angle(at - 6 * n)); break;
    default: c = std::cos(angle(8 * n - at)), s = -std::sin(angle(8 * n - at)); break;
  }
  return {c, -s};
}

}  // namespace adjoint
