// The words behind random numbers.
#pragma once
#include <cstdint>

namespace adjoint::cpu {

// As core's RandomWords::fill.
void random_blocks(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset);

// As RandomWords::uniform.
void random_uniforms(float* to, const uint32_t* bits, int64_t n);

// As RandomWords::normal.
void random_normals(float* to, const uint32_t* bits, int64_t n);

}  // namespace adjoint::cpu
