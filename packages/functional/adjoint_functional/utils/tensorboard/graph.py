"""The graph of a model for TensorBoard: the operations of one call, in the modules that they belong to."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from adjoint_core import Tensor
from adjoint_engine.dispatch import TorchDispatchMode

from ...nn.modules.module import Module


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _shape(x: Tensor) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in x.shape])


class _Recorder(TorchDispatchMode):
    """Makes a node of each operation, named after the module that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[Any] = []
        self.scope: list[str] = []
        self._made: dict[int, str] = {}  # which node a tensor is from
        self._kept: list[Tensor] = []  # so that no id is given twice
        self._names: set[str] = set()

    def add(self, name: str, op: str, inputs: list[str], results: list[Tensor]) -> None:
        """A node, from which the results are."""
        unique, n = name, 1
        while unique in self._names:
            unique, n = f"{name}_{n}", n + 1
        self._names.add(unique)
        shapes = AttrValue(list=AttrValue.ListValue(shape=[_shape(x) for x in results]))
        self.nodes.append(NodeDef(name=unique, op=op, input=inputs, attr={"_output_shapes": shapes}))
        self._kept += results
        self._made.update({id(x): unique for x in results})

    def enter(self, scope: str, *_: Any) -> None:
        """A module begins to run."""
        self.scope.append(scope)

    def leave(self, *_: Any) -> None:
        """It ends."""
        self.scope.pop()

    def source(self, x: Tensor) -> str:
        """The node that a tensor is from; one that no operation made is a constant."""
        if id(x) not in self._made:
            self.add("/".join([*self.scope, "constant"]), "Constant", [], [x])
        return self._made[id(x)]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        inputs = list(dict.fromkeys(self.source(x) for x in _tensors([args, kwargs])))
        packet = func.overloadpacket.__name__
        self.add("/".join([*self.scope, packet]), f"{func.namespace}::{packet}", inputs, list(_tensors(found)))
        return found


def _watch(model: Module, recorder: _Recorder, stack: ExitStack) -> None:
    """Names the parameters and buffers of the modules, and tells the recorder which module runs."""
    scopes = {"": type(model).__name__}
    for path, module in model.named_modules():
        above, _, name = path.rpartition(".")
        if path:
            scopes[path] = f"{scopes[above]}/{type(module).__name__}[{name}]"
        scope = scopes[path]
        for kind, values in (("Parameter", module._parameters), ("Buffer", module._buffers)):
            for own, x in values.items():
                if x is not None:
                    recorder.add(f"{scope}/{own}", kind, [], [x])
        enter = module.register_forward_pre_hook(functools.partial(recorder.enter, scope.rpartition("/")[2]))
        leave = module.register_forward_hook(recorder.leave)
        stack.callback(enter.remove)
        stack.callback(leave.remove)


def graph(model: Module, input_to_model: Any) -> Any:
    """The `GraphDef` of a call of the model with the input, or with the inputs of a tuple or list."""
    if not isinstance(model, Module):
        raise TypeError(f"add_graph: model must be a Module, got {type(model).__name__}")
    if input_to_model is None:
        raise ValueError("add_graph: input_to_model must be what the model is called with, got None")
    inputs = tuple(input_to_model) if isinstance(input_to_model, (tuple, list)) else (input_to_model,)
    recorder = _Recorder()
    for x in _tensors(inputs):
        recorder.add("input/input", "IO Node", [], [x])
    with ExitStack() as stack:
        _watch(model, recorder, stack)
        with recorder:
            results = model(*inputs)
    for x in list(_tensors(results)):
        recorder.add("output/output", "IO Node", [recorder.source(x)], [x])
    return GraphDef(node=recorder.nodes, versions=VersionDef(producer=22))
