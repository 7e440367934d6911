"""autograd.graph: nodes, edges, hooks on saved tensors."""

from ._backward import GradientEdge as GradientEdge
from ._backward import get_gradient_edge as get_gradient_edge
from ._graph.handle import RemovableHandle as RemovableHandle
from ._graph.node import Node as Node
from ._graph.node import increment_version as increment_version
from ._graph.node import region_activation_memory_budget as region_activation_memory_budget
from ._graph.node import register_multi_grad_hook as register_multi_grad_hook
from ._graph.node import set_override_stale_capture_stream as set_override_stale_capture_stream
from ._graph.node import set_warn_on_accumulate_grad_stream_mismatch as set_warn_on_accumulate_grad_stream_mismatch
from ._graph.saved_hooks import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from ._graph.saved_hooks import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from ._graph.saved_hooks import save_on_cpu as save_on_cpu
from ._graph.saved_hooks import saved_tensors_hooks as saved_tensors_hooks
