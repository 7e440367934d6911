"""What programs say to PyTorch's compiler, of which there is none here: `adjoint.compiler` under the names of its inside."""

from collections.abc import Callable
from typing import Any

from adjoint_functional.compiler import _same
from adjoint_functional.compiler import allow_in_graph as allow_in_graph
from adjoint_functional.compiler import assume_constant_result as assume_constant_result
from adjoint_functional.compiler import disable as disable
from adjoint_functional.compiler import is_compiling as is_compiling
from adjoint_functional.compiler import reset as reset
from adjoint_functional.compiler import set_stance as set_stance
from adjoint_functional.optimized import OptimizedModule as OptimizedModule

from . import config as config

disallow_in_graph = forbid_in_graph = nonstrict_trace = run = _same


def optimize(*args: Any, **kwargs: Any) -> Any:
    """A decorator that gives the function itself."""
    return _same


def explain(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call of `f` is for a compiler: one piece, which is run. The arguments may come later."""
    from .backends.debugging import ExplainOutput

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        f(*args, **kwargs)
        return ExplainOutput([], 1, 0, [], 0)

    return explained(*args, **kwargs) if args or kwargs else explained


def graph_break(msg: str = "") -> None:
    """Nothing: no graph is made."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Nothing: no size is fixed."""


maybe_mark_dynamic = mark_static = mark_static_address = mark_dynamic


def is_dynamo_supported() -> bool:
    """False: nothing is compiled."""
    return False
