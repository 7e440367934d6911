"""autograd.graph: nodes, edges, hooks on saved tensors."""

from ._backward import GradientEdge as GradientEdge
from ._backward import get_gradient_edge as get_gradient_edge
from ._graph import Node as Node
from ._graph import RemovableHandle as RemovableHandle
from ._graph import increment_version as increment_version
from ._graph import register_multi_grad_hook as register_multi_grad_hook
from ._graph import save_on_cpu as save_on_cpu
from ._graph import saved_tensors_hooks as saved_tensors_hooks
