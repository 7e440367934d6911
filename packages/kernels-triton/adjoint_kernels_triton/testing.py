"""Tests of kernels without a GPU: the whole way from a tensor's method to the kernel, on a stand-in driver.

Set TRITON_INTERPRET=1 and ADJOINT_CUDA_DRIVER (tests/cuda/standin_driver.cpp, compiled) before anything is imported, and
call `interpret()`. Launches then run in Triton's interpreter, on the stand-in's memory.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import traceback
from dataclasses import dataclass
from typing import Any

import triton
import triton.language as tl

from . import _build, _compile, _interpreter, _registered
from ._store import Image
from ._variant import EQUAL_TO_ONE, Signature

_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_ubyte), ctypes.c_size_t
)
_ILLEGAL_ADDRESS = 700


@dataclass
class _Kernel:
    function: Any
    signature: Signature


class StandIn:
    """The stand-in driver, and the kernels that were "compiled" for it."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
        self.library.standin_host.restype = ctypes.c_void_p
        self.library.standin_host.argtypes = [ctypes.c_uint64]
        self.kernels: dict[str, _Kernel] = {}
        self.launched: list[str] = []
        self.error: BaseException | None = None
        self._one_at_a_time = threading.Lock()
        self._callback = _Callback(self._launch)
        self.library.standin_on_launch(self._callback)
        self.library.standin_outside.restype = ctypes.c_int64
        self.library.standin_outside.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]

    def check(self, what: str, pointers: Any, mask: Any, bytes: int) -> None:
        """An error where a load or store leaves the memory that is allocated, which would end the process."""
        at = self.library.standin_outside(pointers.ctypes.data, mask.ctypes.data, pointers.size, bytes)
        if at >= 0:
            raise IndexError(f"{what} outside of allocated memory, by element {at} of a block of {pointers.size}")

    def compile(self, function: Any, signature: Signature, arch: int, options: _compile.Options) -> Image:
        """An image that names the kernel and the sizes of its parameters."""
        name = f"{function.fn.__name__}_{len(self.kernels)}"
        self.kernels[name] = _Kernel(function, signature)
        sizes = [size for _, size in signature.parameters] + [8, 8]
        image = b"STANDIN1" + struct.pack(f"<{len(sizes) + 1}I", len(sizes), *sizes)
        return Image(image, name, 0, 32 * options.warps, 1, False, False, 0, signature.parameters)

    def _launch(self, name: bytes, grid: Any, parameters: Any, size: int) -> int:
        kernel = self.kernels.get(name.decode())
        if kernel is None:
            return 0
        self.launched.append(kernel.function.fn.__name__)
        try:
            with self._one_at_a_time:  # the interpreter keeps its state in globals
                arguments = self._arguments(kernel.signature, bytes(parameters[:size]))
                _interpreter.run(kernel.function, arguments, (grid[0], grid[1], grid[2]))
        except BaseException as error:
            traceback.print_exc()
            self.error = error
            return _ILLEGAL_ADDRESS
        return 0

    def _arguments(self, signature: Signature, data: bytes) -> list[Any]:
        values: dict[tuple[int, ...], Any] = {}
        offset = 0
        for leaf in signature.leaves:
            if leaf.argument.form == EQUAL_TO_ONE:
                values[leaf.path] = tl.constexpr(1)
                continue
            raw = data[offset : offset + leaf.argument.size]
            offset += leaf.argument.size
            if leaf.argument.type.startswith("*"):
                address = struct.unpack("<Q", raw)[0]
                raw = struct.pack("<Q", self.library.standin_host(address) or 0) if address else raw
            values[leaf.path] = _interpreter.value(leaf.argument.type, raw)
        return [_tree((i,), type, values, signature, name) for i, (name, type) in enumerate(signature.types.items())]


def _tree(path: tuple[int, ...], type: Any, values: dict[tuple[int, ...], Any], signature: Signature, name: str) -> Any:
    if isinstance(type, tuple):
        return tl.tuple([_tree((*path, i), inner, values, signature, name) for i, inner in enumerate(type)])
    return values[path] if path in values else signature.constants[name]


def interpret() -> StandIn:
    """From now on kernels run in the interpreter on the stand-in driver."""
    if not triton.knobs.runtime.interpret:
        raise RuntimeError("set TRITON_INTERPRET=1 before Triton is imported")
    stand_in = StandIn()
    _interpreter.repair(stand_in.check, stand_in.library.standin_host)
    _registered.indices = []
    _build.compile_image = stand_in.compile
    return stand_in
