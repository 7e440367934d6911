// Functions that cut a tensor into several views (unbind, split): the engine joins their histories into one node.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

struct Cut { const char* name; int dim; bool stacked; };   // stacked: the pieces lack the dimension
ADJOINT_API extern void (*several_views)(const Cut& cut, const Tensor& x, Tensors pieces);   // null without an engine

}  // namespace adjoint
