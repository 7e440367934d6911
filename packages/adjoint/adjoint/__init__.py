"""Automatic differentiation with the semantics of torch.autograd, small and fast.

Everything is re-exported from the packages below; there is no logic here.
"""

import importlib as _importlib
import typing as _typing

import adjoint_core as _core
import adjoint_engine as _engine
import adjoint_kernels_cpu as _kernels_cpu
from adjoint_core import *  # noqa: F403
from adjoint_core._compose import make_face as _make_face
from adjoint_core._tensor import _rebuild
from adjoint_engine import detach as detach
from adjoint_engine import detach_ as detach_
from adjoint_engine import enable_grad as enable_grad
from adjoint_engine import inference_mode as inference_mode
from adjoint_engine import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from adjoint_engine import is_anomaly_enabled as is_anomaly_enabled
from adjoint_engine import is_grad_enabled as is_grad_enabled
from adjoint_engine import is_inference as is_inference
from adjoint_engine import is_inference_mode_enabled as is_inference_mode_enabled
from adjoint_engine import is_warn_always_enabled as is_warn_always_enabled
from adjoint_engine import no_grad as no_grad
from adjoint_engine import set_grad_enabled as set_grad_enabled
from adjoint_engine import set_warn_always as set_warn_always
from adjoint_engine import vmap as vmap
from adjoint_engine.operators import ops as ops
from adjoint_functional.composed import *  # noqa: F403
from adjoint_functional.switches import *  # noqa: F403
from adjoint_functional.switches import _assert as _assert
from adjoint_functional.switches import _assert_async as _assert_async
from adjoint_functional.switches import _check as _check

from . import _array_namespace, _plugins
from . import autograd as autograd
from . import cuda as cuda
from . import nn as nn

_make_face(globals(), [f"{__name__}.{space}" for space in ("fft", "linalg", "nn.functional", "special")])
__version__ = "0.1.0"
_rebuild.__module__ = __name__  # pickles name it by this module: who loads one has the kernels too

if _typing.TYPE_CHECKING:
    from adjoint_functional.amp import GradScaler as GradScaler
    from adjoint_functional.amp import autocast as autocast
    from adjoint_functional.compiler import compile as compile
    from adjoint_functional.control_flow import cond as cond
    from adjoint_functional.control_flow import while_loop as while_loop
    from adjoint_functional.file_reader import PyTorchFileReader as PyTorchFileReader
    from adjoint_functional.futures import Future as Future
    from adjoint_functional.jit import ScriptFunction as ScriptFunction
    from adjoint_functional.jit import ScriptModule as ScriptModule
    from adjoint_functional.jit import fork as fork
    from adjoint_functional.jit import wait as wait
    from adjoint_functional.narrow_types import *  # noqa: F403
    from adjoint_functional.nn.modules.cells import *  # noqa: F403
    from adjoint_functional.nn.recurrent_functions import *  # noqa: F403
    from adjoint_functional.nn.utils.hooked_weights import norm_except_dim as norm_except_dim
    from adjoint_functional.script_types import DeviceObjType as DeviceObjType
    from adjoint_functional.streams import Event as Event
    from adjoint_functional.streams import Stream as Stream
    from adjoint_functional.symbols import *  # noqa: F403

    from . import _C as _C
    from . import accelerator as accelerator
    from . import amp as amp
    from . import array_api as array_api
    from . import backends as backends
    from . import compiler as compiler
    from . import cpu as cpu
    from . import distributed as distributed
    from . import fft as fft
    from . import func as func
    from . import futures as futures
    from . import fx as fx
    from . import hub as hub
    from . import jit as jit
    from . import library as library
    from . import linalg as linalg
    from . import masked as masked
    from . import monitor as monitor
    from . import multiprocessing as multiprocessing
    from . import nested as nested
    from . import optim as optim
    from . import overrides as overrides
    from . import profiler as profiler
    from . import quasirandom as quasirandom
    from . import random as random
    from . import serialization as serialization
    from . import signal as signal
    from . import sparse as sparse
    from . import special as special
    from . import testing as testing
    from . import types as types
    from . import utils as utils
    from . import version as version
    from ._made import *  # noqa: F403

_LATER = {  # imported when first used
    "_C",
    "__config__",
    "__future__",
    "_dynamo",
    "_higher_order_ops",
    "_inductor",
    "_subclasses",
    "_utils",
    "_vmap_internals",
    "accelerator",
    "amp",
    "ao",
    "array_api",
    "backends",
    "compiler",
    "cpu",
    "distributed",
    "distributions",
    "fft",
    "func",
    "futures",
    "fx",
    "hub",
    "jit",
    "library",
    "linalg",
    "masked",
    "monitor",
    "multiprocessing",
    "nested",
    "onnx",
    "optim",
    "overrides",
    "profiler",
    "quasirandom",
    "random",
    "return_types",
    "safetensors",
    "serialization",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "types",
    "utils",
    "version",
}
_OF_ROOMS = {  # names of rooms of `functional`
    "Event": "streams",
    "Future": "futures",
    "GradScaler": "amp",
    "PyTorchFileReader": "file_reader",
    "DeviceObjType": "script_types",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
    "Stream": "streams",
    "_addmm_activation": "nn.functional.native",
    "_chunk_cat": "tensor.segments",
    "_convert_indices_from_coo_to_csr": "tensor.index_forms",
    "_convert_indices_from_csr_to_coo": "tensor.index_forms",
    "_dirichlet_grad": "distributions.sampling",
    "_has_compatible_shallow_copy_type": "nn.conversion",
    "_native_batch_norm_legit": "nn.functional.native",
    "_sample_dirichlet": "distributions.sampling",
    "_segment_reduce": "tensor.segments",
    "_shape_as_tensor": "tensor.index_forms",
    "_standard_gamma": "distributions.sampling",
    "_standard_gamma_grad": "distributions.sampling",
    "_unsafe_masked_index": "nn.functional.native",
    "_unsafe_masked_index_put_accumulate": "nn.functional.native",
    "autocast": "amp",
    "compile": "compiler",
    "cond": "control_flow",
    "while_loop": "control_flow",
    "_weight_norm": "nn.utils.hooked_weights",
    "norm_except_dim": "nn.utils.hooked_weights",
    **dict.fromkeys(("gru", "lstm", "rnn_relu", "rnn_tanh"), "nn.recurrent_functions"),
    **dict.fromkeys(
        (
            "chalf",
            "complex32",
            "float4_e2m1fn_x2",
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "float8_e8m0fnu",
            "qint8",
            "qint32",
            "quint2x4",
            "quint4x2",
            "quint8",
        ),
        "narrow_types",
    ),
    "fork": "jit",
    "wait": "jit",
    **dict.fromkeys(("gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"), "nn.modules.cells"),
    **dict.fromkeys(
        ("SymBool", "SymFloat", "SymInt", "has_lapack", "has_mkl", "has_openmp", "has_spectral", "is_distributed"), "symbols"
    ),
    **dict.fromkeys(("sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"), "symbols"),
    **dict.fromkeys(
        ("get_num_interop_threads", "set_default_tensor_type", "set_flush_denormal", "set_num_interop_threads"), "symbols"
    ),
}
_METHODS = {"as_strided_", "conj_physical_", "gcd_", "get_device", "i0_", "lcm_", "ldexp_"}  # functions that are the methods


def __getattr__(name: str) -> object:
    if name in _LATER:
        return _importlib.import_module("." + name, __name__)
    if "autocast" in name or name in _OF_ROOMS:
        room = _importlib.import_module("adjoint_functional." + _OF_ROOMS.get(name, "amp.state"))
        found = {"__name__": __name__, name: getattr(room, name)}
        _make_face(found)
        return found[name]
    if name in _METHODS:
        return getattr(Tensor, name)  # noqa: F405
    if name.startswith("_foreach_"):
        return _importlib.import_module("adjoint_functional.foreach").foreach(name.removeprefix("_foreach_"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_OF_ROOMS})
