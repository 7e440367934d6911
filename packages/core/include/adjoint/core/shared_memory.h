// Several blocks over one memory, each of which counts its own writes: x.data and what took its place.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

// A fact of `flags`: tensors that it is no view of, nor they of it (`detach`, `x.data`), look at its memory, or did.
constexpr uint16_t flag_detached = 8;

// A new block over the memory of `from`. Blocks of blocks look at the first one: no chain grows.
ADJOINT_API Storage* sharing(Storage* from);
// The block that `s` looks at; null if it holds memory of its own.
ADJOINT_API Storage* shared_by(const Storage* s) noexcept;

}  // namespace adjoint
