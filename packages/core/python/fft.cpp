// Fourier transforms: adjoint_core.fft gives them their names, sizes and norms.
#include <adjoint/core/fft.h>

#include "module.h"

namespace adjoint::python {

void bind_fft(nb::module_& m) {
  function(m, "_fft", [](const Tensor& x, int64_t dim, bool inverse, double scale) { return fft(x, dim, inverse, scale); }, "input"_a, "dim"_a, "inverse"_a, "scale"_a);
  function(m, "_rfft", [](const Tensor& x, int64_t dim, double scale) { return rfft(x, dim, scale); }, "input"_a, "dim"_a, "scale"_a);
  function(m, "_irfft", [](const Tensor& x, int64_t dim, int64_t n, double scale) { return irfft(x, dim, n, scale); }, "input"_a, "dim"_a, "n"_a, "scale"_a);
}

}  // namespace adjoint::python
