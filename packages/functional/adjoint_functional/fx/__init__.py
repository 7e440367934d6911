"""`fx`: programs traced into graphs, rewritten, and compiled into modules again, as PyTorch's room of this name."""

from __future__ import annotations

from .code import PythonCode as PythonCode
from .fake import is_fake as is_fake
from .graph import Graph
from .graph_module import GraphModule
from .graph_module import _CodeOnlyModule as _CodeOnlyModule
from .graph_module import _copy_attr as _copy_attr
from .interpreter import Interpreter, Transformer
from .node import Argument as Argument
from .node import Node, map_arg
from .node import Target as Target
from .node import map_aggregate as map_aggregate
from .proxy import Attribute as Attribute
from .proxy import GraphAppendingTracer as GraphAppendingTracer
from .proxy import Proxy, TraceError
from .proxy import TracerBase as TracerBase
from .rewriting import Match as Match
from .rewriting import ReplacedPatterns as ReplacedPatterns
from .rewriting import replace_pattern
from .rewriting import replace_pattern_with_filters as replace_pattern_with_filters
from .shapes import ShapeProp as ShapeProp
from .shapes import TensorMetadata as TensorMetadata
from .tracer import Tracer, symbolic_trace, wrap

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "TraceError",
    "Tracer",
    "Transformer",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"  # in what PyTorch keeps of a traced module
immutable_list, immutable_dict = list, dict  # the arguments of nodes are set whole: theirs are plain


def get_proxy_mode() -> None:
    """What traces operations at present: nothing; `symbolic_trace` traces Python's calls."""
