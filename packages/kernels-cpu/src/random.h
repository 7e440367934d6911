// The words behind random numbers.
#pragma once
#include <cstdint>

namespace adjoint::cpu {

// As core's RandomWords has them.
void random_blocks(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset);
void random_twist(uint32_t* state, uint32_t* words);
void random_uniforms(float* to, const uint32_t* bits, int64_t n);
void random_normals(float* to, const uint32_t* bits, int64_t n);
void random_normal_sixteens(float* x, int64_t n);

}  // namespace adjoint::cpu
