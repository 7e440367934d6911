// The instruction sets that kernels are compiled for, and the one that this process uses.
#pragma once
#include <adjoint/core/export.h>

namespace adjoint::isa {

// Of x86-64: its baseline (SSE2), with AVX2 and FMA (v3), with AVX-512 (v4), with products of bfloat16 besides, in vectors or in tiles of
// matrices (AMX) too. Every other processor has one level, the first: NEON on ARM64.
enum Level : int { baseline = 0, avx2 = 1, avx512 = 2, avx512_bf16 = 3, amx_bf16 = 4 };
constexpr int levels = 5;

// "baseline", "avx2", "avx512", "avx512_bf16", "amx_bf16", or "neon".
ADJOINT_API const char* name(Level level);

// The highest that this processor has.
ADJOINT_API Level best();

// Asks the system for room for tiles, once, and says whether this process has it. From then on signals need larger stacks of their own:
// nobody asks before it has a product for them.
ADJOINT_API bool may_use_tiles();

// The level named by the environment variable ADJOINT_ISA, or the best. Raises where the processor lacks it, or nobody knows it.
ADJOINT_API Level chosen();

}  // namespace adjoint::isa
