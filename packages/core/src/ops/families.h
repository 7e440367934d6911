// The table of records, by subject: each file of ops lists its own.
#pragma once
#include <adjoint/core/op.h>

namespace adjoint {
using Ops = std::span<const Op* const>;

namespace families {
Ops activation(), binary(), cast(), compare(), complex(), conv(), cross_entropy(), determinant(), embedding(), embedding_bag(), factor(), fft(), index(), index_along(), join(), ldl(), linalg(), loss(), matrix_function(), normalise(), pick(), pool(), random(), reduce(), reflections(), scan(), search(), solve(), sort(), sparse(), sparse_products(), special(), spectral(), standardise_vjp(), statistics(), unary(), view();
}
}  // namespace adjoint
