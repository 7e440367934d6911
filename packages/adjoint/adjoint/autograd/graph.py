"""The graph: nodes, edges, hooks on saved tensors; the graph drawn; what it keeps in memory."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from adjoint_engine.graph import GradientEdge as GradientEdge
from adjoint_engine.graph import Node as Node
from adjoint_engine.graph import RemovableHandle as RemovableHandle
from adjoint_engine.graph import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from adjoint_engine.graph import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from adjoint_engine.graph import get_gradient_edge as get_gradient_edge
from adjoint_engine.graph import increment_version as increment_version
from adjoint_engine.graph import region_activation_memory_budget as region_activation_memory_budget
from adjoint_engine.graph import register_multi_grad_hook as register_multi_grad_hook
from adjoint_engine.graph import save_on_cpu as save_on_cpu
from adjoint_engine.graph import saved_tensors_hooks as saved_tensors_hooks
from adjoint_engine.graph import set_override_stale_capture_stream as set_override_stale_capture_stream
from adjoint_engine.graph import set_warn_on_accumulate_grad_stream_mismatch as set_warn_on_accumulate_grad_stream_mismatch

if TYPE_CHECKING:
    from adjoint_profiler.graph import Drawing as Drawing
    from adjoint_profiler.graph import show as show
    from adjoint_profiler.graph import to_dot as to_dot
    from adjoint_profiler.graph import to_json as to_json
    from adjoint_profiler.graph import to_mermaid as to_mermaid
    from adjoint_profiler.graph import to_svg as to_svg
    from adjoint_profiler.graph import to_text as to_text
    from adjoint_profiler.ledger import Ledger as Ledger
    from adjoint_profiler.ledger import LedgerDiff as LedgerDiff
    from adjoint_profiler.ledger import ledger as ledger

_LATER = {
    **dict.fromkeys(("Drawing", "show", "to_dot", "to_json", "to_mermaid", "to_svg", "to_text"), "adjoint_profiler.graph"),
    **dict.fromkeys(("Ledger", "LedgerDiff", "ledger"), "adjoint_profiler.ledger"),
}


def __getattr__(name: str) -> object:
    if name in _LATER:  # imported when first used
        return getattr(_import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_LATER]
