// A pass over all numbers, which is compiled for speed.
#include <adjoint/core/random_call.h>

namespace adjoint {

template <class T> static void scale_parts_of(T* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = static_cast<T>(static_cast<double>(x[i]) * 0.70710678118654752);
}
void halve_variances(float* x, int64_t n) { scale_parts_of(x, n); }
void halve_variances(double* x, int64_t n) { scale_parts_of(x, n); }

}  // namespace adjoint
