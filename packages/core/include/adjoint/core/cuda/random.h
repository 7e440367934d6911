// Random numbers made on a GPU: the bits of the CPU's, whose layout ops/random.cpp describes.
#pragma once
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/random_call.h>

namespace adjoint::cuda {

enum class Draw : int { uniform, normal, integers, mask, dropout };

// Their kernels, by name: random_uniform, random_normal, random_integers, random_mask, random_dropout. Arguments: the output (of dropout,
// before it the mask and the operand); how many numbers (two for
// a complex one), the seed and the position as plain integers; a pointer to the seed and the position that count in a replayed graph, where
// the position among the arguments is relative; `low`, `range` and `value`. Constants: whether that pointer counts, whether numbers are
// parts of complex ones, and how many blocks of 128 bits a program makes.
struct RandomKernel { DeviceKernel kernel; int block; };
ADJOINT_API void register_random(const std::string& name, std::unique_ptr<RandomKernel> kernel);

RandomCall next_call(Generator& g, int device);   // in a capture, the position is that of each replay

// Fills t; of a generator, with its next call.
ADJOINT_API Tensor draw(Draw what, const Tensor& t, const RandomCall& at, int64_t low = 0, uint64_t range = 0, double value = 0);
inline Tensor draw(Draw what, const Tensor& t, Generator& g, int64_t low = 0, uint64_t range = 0) { return draw(what, t, next_call(g, t.device().index), low, range); }
// Dropout of a dense operand: y[0] = x[0] times `value` where `range` lets it, else times 0, and which these are to y[1].
void draw_dropout(const Launch& l, const RandomCall& at, uint64_t range, double value);

}  // namespace adjoint::cuda
