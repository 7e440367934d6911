// What a function made of several gives is no view of what only that function had, as in PyTorch, though its last step may be one.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

ADJOINT_API extern void (*settle_view)(TensorImpl&) noexcept;   // installed by the engine, which makes views
inline void settle(TensorImpl& t) noexcept { if (t.keys & key_view) settle_view(t); }

}  // namespace adjoint
