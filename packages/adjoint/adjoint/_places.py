"""Modules of PyTorch that hold nothing but names which stand elsewhere here too; as `torch` they can be imported."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

# For each module of the right the modules that have what PyTorch has in those of the left, below `adjoint`, which is the dot, or in a room.
_SOURCES = {
    "_higher_order_ops.associative_scan _higher_order_ops.cond _higher_order_ops.scan _higher_order_ops.while_loop": "adjoint_functional.control_flow",
    "functional": ".",
    "_C._functorch": "adjoint_functional._func.wrapped",
    "_functorch.apis _functorch.eager_transforms _functorch.functional_call _functorch.vmap": "adjoint_functional.func",
    "_functorch.make_functional": "adjoint_functional._func.stateless",
    "_lobpcg _lowrank": ".",
    "_dynamo.eval_frame": "_dynamo",
    "_guards": "_subclasses.fake_tensor",
    "_ops": "adjoint_engine.operators",
    "_tensor_str": "adjoint_core._tensor.printing",
    "accelerator.memory": "accelerator",
    "amp.autocast_mode amp.grad_scaler": "amp",
    "compiler.config": "_dynamo.config",
    "cpu.amp.autocast_mode cpu.amp.grad_scaler": "cpu.amp",
    "cuda.amp.autocast_mode cuda.amp.common cuda.amp.grad_scaler": "cuda.amp",
    "cuda.graphs cuda.memory cuda.random cuda.streams": "cuda",
    "distributed.algorithms.ddp_comm_hooks.debugging_hooks": "distributed.algorithms.ddp_comm_hooks.default_hooks",
    "distributed.autograd distributed.rpc": "adjoint_functional.distributed.remote_calls",
    "distributed.constants distributed.distributed_c10d distributed.rendezvous": "distributed",
    "distributed.checkpoint.api distributed.checkpoint.default_planner distributed.checkpoint.filesystem distributed.checkpoint.metadata "
    "distributed.checkpoint.planner distributed.checkpoint.state_dict_loader distributed.checkpoint.state_dict_saver "
    "distributed.checkpoint.stateful distributed.checkpoint.storage": "distributed.checkpoint",
    "distributed.elastic distributed.elastic.multiprocessing distributed.elastic.multiprocessing.errors": "adjoint_functional.distributed.elastic_errors",
    "distributed.fsdp.api distributed.fsdp.fully_sharded_data_parallel distributed.fsdp.sharded_grad_scaler distributed.fsdp.wrap": "distributed.fsdp",
    "distributed.optim.optimizer": "distributed.optim",
    "distributed.tensor.device_mesh": "distributed.device_mesh",
    "distributed.tensor.placement_types": "distributed.tensor",
    "distributed.tensor.parallel.api distributed.tensor.parallel.loss distributed.tensor.parallel.style": "distributed.tensor.parallel",
    "masked.maskedtensor masked.maskedtensor.core masked.maskedtensor.creation": "masked",
    "xpu mps mtia": "adjoint_functional.absent_devices",
    "_VF": ".",
    "_tensor": ".",
    "utils._contextlib": "autograd.grad_mode",
    "_jit_internal jit.annotations": "adjoint_functional.script_types",
    "testing._comparison testing._creation": "testing",
    "testing._internal testing._internal.common_utils": "adjoint_functional.test_case",
    "multiprocessing.pool": "multiprocessing",
    "nn.parallel.comm": "nn.parallel",
    "optim._multi_tensor": "adjoint_functional.optim._multi_tensor",
    "nn.parallel.data_parallel": "adjoint_functional.nn.parallel.data_parallel",
    "nn.utils.spectral_norm nn.utils.weight_norm": "adjoint_functional.nn.utils.hooked_weights",
    "profiler.profiler": "profiler",
    "signal.windows.windows": "signal.windows",
    "sparse.semi_structured": "sparse",
    "utils.data.datapipes utils.data.datapipes.iter utils.data.datapipes.iter.combinatorics": "adjoint_functional.utils.data.shuffled_pipe",
    "utils.benchmark.utils utils.benchmark.utils.common utils.benchmark.utils.compare utils.benchmark.utils.timer": "utils.benchmark",
}  # fmt: skip
PLACES = {place: source for places, source in _SOURCES.items() for place in places.split()}


class _Place(ModuleType):
    """A module whose names are another's. Where PyTorch has a function in front of the module, it can be called as that."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


def is_place(name: str) -> bool:
    """Whether `adjoint.x.y` is such a module, or one above it."""
    return any((place + ".").startswith(name.removeprefix("adjoint.") + ".") for place in PLACES)


def make_place(name: str) -> ModuleType | None:
    """The module `adjoint.x.y`, or None if that is no such module."""
    source = PLACES.get(name.removeprefix("adjoint."))
    if source is None:
        return None
    of = importlib.import_module(
        "adjoint" if source == "." else source if source.startswith("adjoint_") else f"adjoint.{source}"
    )
    made = _Place(name, f"What PyTorch has in this module: names of {of.__name__}.")
    made.__path__ = []
    made.__getattr__ = lambda attribute: _found(made, of, attribute)  # type: ignore[method-assign]
    sys.modules[name] = made
    return made


def _found(place: ModuleType, of: ModuleType, attribute: str) -> Any:
    value = None if attribute.startswith("__") else getattr(of, attribute, None)
    if value is None:
        raise AttributeError(f"module {place.__name__!r} has no attribute {attribute!r}")
    return value


# What PyTorch's files below a package import from around them: programs take such names from these files as well.
_AROUND = {
    "adjoint.functional": (),
    "adjoint.nn.functional": (),
    "adjoint.nn.modules.": ("nn.modules.utils", "nn.modules", "nn", "nn.utils.rnn", "."),
    "adjoint.optim.": ("optim.optimizer", "optim", "."),
    "adjoint.distributions.": ("distributions.utils", "distributions", "."),
    "adjoint.utils.data.": ("utils.data", "."),
}
_SHORT = {"F": "adjoint.nn.functional", "init": "adjoint.nn.init", "torch": "adjoint"}


def imported(name: str, attribute: str) -> Any:
    """What a file of PyTorch's, `adjoint.x.y` here, has of its surroundings under a name; None if it has nothing of the kind."""
    for below, sources in _AROUND.items():
        if name.startswith(below) and not attribute.startswith("__"):
            modules = [importlib.import_module("adjoint" if s == "." else f"adjoint.{s}") for s in sources]
            found = next((vars(m)[attribute] for m in modules if attribute in vars(m)), None)
            return importlib.import_module(_SHORT[attribute]) if attribute in _SHORT else found
    return None
