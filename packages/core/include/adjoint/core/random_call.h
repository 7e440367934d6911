// Where the random numbers of one call stand, as an attribute: they can be had again (src/ops/random.cpp says how they lie).
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

struct RandomCall {
  uint64_t seed = 0, offset = 0;
  Ref<Storage> state;   // of a call in a captured graph: the seed and the position of a replay, to which those above are added
};
RandomCall next_call(Generator& g, Device device);   // and moves the generator on

// Which elements dropout loses.
struct Dropped {
  uint64_t lost = 0;   // those whose 32 random bits are below
  double kept = 1;     // by what the others are multiplied
  RandomCall call;
  double factor(int64_t i) const;   // by what element i is multiplied, on the CPU
};
Dropped next_dropout(double p, Generator& g, Device device);
Tensor dropout_mask(const Dropped& d, const Dims& sizes, DType dtype, Device device);   // all factors

// Of n normal numbers, the parts of complex ones.
void halve_variances(float* x, int64_t n);
void halve_variances(double* x, int64_t n);

}  // namespace adjoint
