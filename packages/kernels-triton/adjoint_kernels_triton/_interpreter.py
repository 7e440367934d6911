"""Triton's interpreter, repaired where it is silently wrong or refuses: for tests, never for results.

It computes bfloat16 as integers, keeps comparisons as bytes, and has no libdevice. What it cannot show: races, and the
order of atomic operations.
"""

from __future__ import annotations

import ctypes
import inspect
import math
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
from triton.language.extra.cuda import libdevice
from triton.runtime import interpreter

Handle = interpreter.TensorHandle
Builder = interpreter.InterpreterBuilder


def to_bfloat16(x: Any) -> Any:
    """float32 to the bits of bfloat16, to nearest even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded).astype(np.uint16).reshape(np.shape(x))


def from_bfloat16(bits: Any) -> Any:
    """The bits of bfloat16 to float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _cast(original: Callable[..., Any]) -> Callable[..., Any]:
    def cast(self: Any, source: Any, type: Any) -> Any:
        before, after = source.dtype.scalar, type.scalar
        if before == tl.bfloat16 and after != tl.bfloat16:
            source = Handle(from_bfloat16(source.data), tl.float32)
            return source if after == tl.float32 else original(self, source, type)
        if after == tl.bfloat16 and before != tl.bfloat16:
            return Handle(to_bfloat16(source.data.astype(np.float32)), tl.bfloat16)
        return original(self, source, type)

    return cast


def _comparison(original: Callable[..., Any]) -> Callable[..., Any]:
    def compare(self: Any, left: Any, right: Any) -> Any:
        return Handle(original(self, left, right).data.astype(np.bool_), tl.int1)

    return compare


def _dot(original: Callable[..., Any]) -> Callable[..., Any]:
    def dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        wide = [Handle(from_bfloat16(x.data), tl.float32) if x.dtype.scalar == tl.bfloat16 else x for x in (a, b)]
        return original(self, *wide, *rest)

    return dot


_each = np.vectorize


def _inverse_erf(x: float) -> float:
    """By Newton's method."""
    if not -1 < x < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    w = -math.log((1 - x) * (1 + x))
    y = math.copysign(math.sqrt(w) * 0.88, x)
    for _ in range(60):
        slope = 1.1283791670955126 * math.exp(-y * y)
        error = math.erf(y) - x if abs(x) < 0.5 else math.copysign(1, x) * ((1 - abs(x)) - math.erfc(abs(y)))
        y -= error / slope / (1 + y * error / slope)
    return y


def _log_gamma(x: float) -> float:
    """log |Gamma(x)|, with infinities where `math.lgamma` raises."""
    if math.isinf(x) or math.isnan(x):
        return abs(x)
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def _gamma(x: float) -> float:
    """Gamma itself, with infinities where `math.gamma` raises."""
    if x == 0:
        return math.copysign(math.inf, x)
    if x < 0 and x == math.floor(x):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


def _normal_quantile(p: float) -> float:
    if not 0 < p < 1:
        return math.inf if p == 1 else -math.inf if p == 0 else math.nan
    return statistics.NormalDist().inv_cdf(p)


def _scaled_erfc(x: float) -> float:
    """e^(x^2) erfc(x), by a continued fraction where erfc is small."""
    if x < -26.7:
        return math.inf
    if not x > 5:
        return math.exp(x * x) * math.erfc(x)
    y = x
    for k in range(60, 0, -1):
        y = x + 0.5 * k / y
    return 0.5641895835477563 / y


def _of_order(name: str) -> Callable[..., Any]:
    """A function of C's library of a whole number and another."""
    function = getattr(ctypes.CDLL(None), name)
    function.argtypes, function.restype = [ctypes.c_int, ctypes.c_double], ctypes.c_double
    return np.vectorize(lambda n, x: function(int(n), x), otypes=[float])


@np.vectorize
def _first_bessel_i(x: float) -> float:
    """I_1, by its power series."""
    term = total = 0.5 * x
    k = 1
    while abs(term) > 1e-18 * abs(total) and abs(total) < math.inf:
        term *= 0.25 * x * x / (k * (k + 1))
        total += term
        k += 1
    return total


LIBDEVICE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("tanh", "sinh", "cosh", "tan", "sin", "cos", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
                                            "sqrt", "floor", "ceil", "trunc", "rint", "fmod", "hypot", "copysign", "fmax", "fmin", "cbrt")},
    **{name: getattr(np, "arc" + name[1:]) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
    "cospi": lambda x: np.cos(np.pi * x), "sinpi": lambda x: np.sin(np.pi * x),
    "sqrt_rn": np.sqrt, "fsqrt_rn": np.sqrt, "dsqrt_rn": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "pow": np.power, "fabs": np.abs,
    "erf": _each(math.erf), "erfc": _each(math.erfc), "erfinv": _each(_inverse_erf), "normcdfinv": _each(_normal_quantile), "lgamma": _each(_log_gamma),
    "tgamma": _each(_gamma, otypes=[float]), "erfcx": _each(_scaled_erfc), "jn": _of_order("jn"), "yn": _of_order("yn"),
    "cyl_bessel_i0": np.i0, "cyl_bessel_i1": _first_bessel_i,
}  # fmt: skip


def _extern(self: Any, library: str, path: str, symbol: str, arguments: list[Any], result: Any, pure: bool) -> Any:
    name = symbol.removeprefix("__nv_")
    function = LIBDEVICE.get(name) or LIBDEVICE.get(name.removesuffix("f"))
    if function is None:
        raise NotImplementedError(f"the interpreter has no {symbol}")
    with np.errstate(all="ignore"):
        wide = [x.data.astype(np.float64) for x in arguments]
        return Handle(np.asarray(function(*wide)).astype(interpreter._get_np_dtype(result)), result.scalar)


def _call(self: Any, *arguments: Any, **named: Any) -> Any:
    return self.rewrite()(*arguments, **named)


def _combined(self: Any, left: list[Any], right: list[Any], input: Any) -> list[Any]:
    """The combining function of a reduction or scan on whole arrays."""
    wrap = [[self.to_tensor(data, one.dtype) for data, one in zip(side, input, strict=True)] for side in (left, right)]
    result = self.combine_fn.fn(*wrap[0], *wrap[1])
    result = result if isinstance(result, tuple) else (result,)
    return [np.broadcast_to(r.handle.data, a.shape).astype(a.dtype) for r, a in zip(result, left, strict=True)]


def _reduce(self: Any, input: Any) -> list[Any]:
    """By pairs of neighbours, all at once: Triton's own goes element by element."""
    rank = input[0].handle.data.ndim
    whole = self.axis is None
    input, axis = self.unravel(input, self.axis)
    data = [np.moveaxis(one.handle.data, axis, 0) for one in input]
    while len(data[0]) > 1:
        data = _combined(self, [d[0::2] for d in data], [d[1::2] for d in data], input)
    found = [d[0] for d in data]
    if self.keep_dims:
        found = [d.reshape([1] * rank) if whole else np.expand_dims(d, axis) for d in found]
    return [self.to_tensor(d, one.dtype) for d, one in zip(found, input, strict=True)]


def _scan(self: Any, input: Any) -> list[Any]:
    """By distances that double, all at once."""
    data = [np.moveaxis(one.handle.data, self.axis, 0) for one in input]
    distance = 1
    while distance < len(data[0]):
        found = _combined(self, [np.roll(d, distance, 0) for d in data], data, input)  # the first have nothing before them
        data = [np.concatenate([d[:distance], f[distance:]]) for d, f in zip(data, found, strict=True)]
        distance *= 2
    return [self.to_tensor(np.moveaxis(d, 0, self.axis), one.dtype) for d, one in zip(data, input, strict=True)]


Check = Callable[[str, Any, Any, int], None]
"Called before memory is touched: with a verb, addresses, which of them count, and bytes of an element."


def _guarded(original: Callable[..., Any], verb: str, check: Check) -> Callable[..., Any]:
    place = 1 if verb == "reads" else 2

    def access(self: Any, pointers: Any, *rest: Any) -> Any:
        bits = pointers.get_element_ty().scalar.primitive_bitwidth
        mask = np.ascontiguousarray(np.broadcast_to(rest[place - 1].data, pointers.data.shape), np.bool_)
        check(verb, np.ascontiguousarray(pointers.data, np.uint64), mask, max(1, bits // 8))
        return original(self, pointers, *rest)

    return access


def _pointer_from(host: Callable[[int], int | None]) -> Callable[..., Any]:
    """An address on the device, read from memory, as the interpreter's pointers are."""

    def convert(self: Any, number: Any, type: Any) -> Any:
        found = [host(int(address)) or 0 for address in number.data.ravel()]
        return Handle(np.array(found, np.uint64).reshape(number.data.shape), type.scalar)

    return convert


def repair(check: Check, host: Callable[[int], int | None]) -> None:
    """Puts the repairs in, for the rest of the process. `host` says where a device's memory lies."""
    tl.constexpr.__len__ = lambda self: len(self.value)
    Builder.create_int_to_ptr = _pointer_from(host)
    Builder.create_masked_load = _guarded(Builder.create_masked_load, "reads", check)
    Builder.create_masked_store = _guarded(Builder.create_masked_store, "writes", check)
    for name in dir(Builder):
        if name.startswith(("create_icmp", "create_fcmp")):
            setattr(Builder, name, _comparison(getattr(Builder, name)))
    Builder.cast_impl = _cast(Builder.cast_impl)
    Builder.create_dot = _dot(Builder.create_dot)
    interpreter.ReduceOps.generic_reduce = _reduce
    interpreter.ScanOps.generic_scan = _scan
    Builder.create_extern_elementwise = _extern
    interpreter.InterpretedFunction.__call__ = _call  # the language is patched once for a launch, not for each call
    for name, member in inspect.getmembers(libdevice):
        if tl.core.is_builtin(member):
            setattr(libdevice, name, _builtin(member))


def _builtin(member: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        named.pop("_semantic", None)
        return member(*arguments, **named, _semantic=interpreter.interpreter_semantic)

    return call


@contextmanager
def language() -> Iterator[None]:
    """Triton's language means the interpreter here."""
    scope = interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        scope.restore()


def value(type: str, data: bytes) -> Any:
    """An argument of a kernel from its type and bytes: a pointer or a number."""
    if type.startswith("*"):
        pointer = tl.str_to_ty(type, None)
        return tl.tensor(Handle(np.frombuffer(data, np.uint64).copy(), pointer), pointer)
    scalar = tl.str_to_ty(type, None)
    numbers = np.frombuffer(data, interpreter._get_np_dtype(scalar)).copy()
    return tl.tensor(Handle(numbers, scalar), scalar)


def run(function: Any, arguments: list[Any], grid: tuple[int, int, int]) -> None:
    """All programs of a launch, one after another."""
    interpreter.interpreter_builder.set_grid_dim(*grid)
    body = function.rewrite()
    with language():
        for x in range(grid[0]):
            for y in range(grid[1]):
                for z in range(grid[2]):
                    interpreter.interpreter_builder.set_grid_idx(x, y, z)
                    body(*arguments)
