"""`testing`: whether values are close, with messages that say where they are not, and tensors to try things on."""

from __future__ import annotations

import cmath
import numbers
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, dtype

from ._random_tensors import make_tensor
from .tensor.tables import unravel_index

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# What is allowed by default, relative to the expected value and absolutely, by element type; the others must be equal.
_TOLERANCES = {
    core.float16: (1e-3, 1e-5),
    core.bfloat16: (1.6e-2, 1e-5),
    core.float32: (1.3e-6, 1e-5),
    core.float64: (1e-7, 1e-7),
    core.complex64: (1.3e-6, 1e-5),
    core.complex128: (1e-7, 1e-7),
}
_OLDER_TOLERANCES = {core.float16: (1e-3, 1e-3), core.float32: (1e-4, 1e-5), core.float64: (1e-5, 1e-8)}
_NUMBERS = {float: core.float64, complex: core.complex128}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises unless ``|actual - expected| <= atol + rtol · |expected|`` for each element.

    Arguments:
        actual, expected: tensors or arrays of the same shape, numbers, None, or sequences and mappings of these.
        allow_subclasses: compares a tensor with one of a subclass.
        rtol, atol: both or neither; by default what fits the less precise element type. Integers and bools must be equal.
        equal_nan: NaN is close to NaN.
        check_device, check_dtype, check_layout, check_stride: whether these must agree as well.
        msg: the text of the error, or a function that makes it of the one that was generated.

    Raises:
        AssertionError: they are not close; the text says how many elements differ, and which one most.
        TypeError: values of kinds that cannot be compared.
        ValueError: one of ``rtol`` and ``atol`` only.

    Example::

        >>> ad.testing.assert_close(ad.tensor([1.0, 2.0]), ad.tensor([1.0, 2.5]))
        Traceback (most recent call last):
        AssertionError: Tensor-likes are not close!
        <BLANKLINE>
        Mismatched elements: 1 / 2 (50.0%)
        Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
        Greatest relative difference: 0.20000000298023224 at index (1,) (up to 1.3e-06 allowed)
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}."
        )
    given = None if rtol is None or atol is None else (rtol, atol)
    checks = {"layout": check_layout, "stride()": check_stride, "device": check_device, "dtype": check_dtype}
    compare = _Comparison(given, equal_nan, checks, allow_subclasses)
    try:
        for place, a, e in list(_leaves(actual, expected, "")):
            problem = compare.values(a, e)
            if problem is not None:
                raise AssertionError(f"{problem}\n\nThe failure occurred for item {place}" if place else problem)
    except AssertionError as error:
        text = str(error)
        raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg) from None


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """`assert_close` with older tolerances, whatever the element types are; NaN is close to NaN. Deprecated.

    Raises:
        AssertionError, ValueError: as `assert_close`.
    """
    warnings.warn("testing.assert_allclose() is deprecated; use testing.assert_close() instead", FutureWarning, stacklevel=2)
    a = actual if isinstance(actual, Tensor) else core.tensor(actual)
    e = expected if isinstance(expected, Tensor) else core.tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        known = [_OLDER_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (a, e)]
        rtol, atol = max(r for r, _ in known), max(t for _, t in known)
    assert_close(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _leaves(actual: Any, expected: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """The pairs of values in containers of the same form, and where each stands."""

    def both(kind: type) -> bool:
        return all(isinstance(v, kind) and not isinstance(v, str) for v in (actual, expected))

    if both(Sequence):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        keys: Sequence[Any] = range(len(actual))
    elif both(Mapping):
        if set(actual) != set(expected):
            missing, more = ([k for k in one if k not in other] for one, other in ((expected, actual), (actual, expected)))
            raise AssertionError(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                f"Additional keys in the actual mapping: {sorted(more, key=str)}"
            )
        keys = list(actual)
    else:
        yield place, actual, expected
        return
    for key in keys:
        yield from _leaves(actual[key], expected[key], f"{place}[{key!r}]")


class _Comparison:
    """Compares pairs of values; each method gives the text of an error, or None."""

    def __init__(
        self, tolerances: tuple[float, float] | None, equal_nan: bool, checks: dict[str, bool], allow_subclasses: bool
    ) -> None:
        self._tolerances, self._equal_nan = tolerances, equal_nan
        self._checks, self._allow_subclasses = checks, allow_subclasses

    def values(self, a: Any, e: Any) -> str | None:
        """Two values of any kind."""
        if a is None or e is None:
            return None if a is e else f"None mismatch: {a} is not {e}"
        if isinstance(a, bool) and isinstance(e, bool):
            return None if a is e else f"Booleans mismatch: {a} is not {e}"
        if isinstance(a, numbers.Number) and isinstance(e, numbers.Number):
            return self._numbers(getattr(a, "item", lambda: a)(), getattr(e, "item", lambda: e)())
        related = isinstance(a, type(e)) or isinstance(e, type(a))
        if not related or not (self._allow_subclasses or type(a) is type(e)):
            raise _incomparable(a, e)
        try:
            x, y = core.as_tensor(a).detach(), core.as_tensor(e).detach()
        except (TypeError, ValueError, RuntimeError) as error:
            raise _incomparable(a, e) from error
        return self._tensors(x, y)

    def _allowed(self, *types: dtype | None) -> tuple[float, float]:
        if self._tolerances is not None:
            return self._tolerances
        known = [_TOLERANCES.get(t, (0.0, 0.0)) if t is not None else (0.0, 0.0) for t in types]
        return max(r for r, _ in known), max(a for _, a in known)

    def _numbers(self, a: Any, e: Any) -> str | None:
        if self._checks["dtype"] and type(a) is not type(e):
            return f"The (d)types do not match: {type(a)} != {type(e)}."
        rtol, atol = self._allowed(_NUMBERS.get(type(a)), _NUMBERS.get(type(e)))
        if a == e or (self._equal_nan and cmath.isnan(a) and cmath.isnan(e)):
            return None
        difference = abs(a - e)
        if cmath.isfinite(difference) and difference <= atol + rtol * abs(e):
            return None
        relative = difference / abs(e) if e else float("inf")
        lines = [f"Expected {e} but got {a}.", _line("Absolute", difference, "", atol), _line("Relative", relative, "", rtol)]
        return _text("Scalars", lines, rtol, atol)

    def _tensors(self, a: Tensor, e: Tensor) -> str | None:
        for name, pair in _attributes(a, e).items():
            if self._checks.get(name, True) and pair[0] != pair[1]:
                return f"The values for attribute '{name}' do not match: {pair[0]} != {pair[1]}."
        allowed = self._allowed(a.dtype, e.dtype)
        if a.layout is e.layout is core.sparse_coo:
            return self._sparse(a, e, allowed)
        a, e = (x.to_dense() if x.is_sparse else x for x in (a, e))
        return self._elements(a.cpu(), e.cpu(), *allowed, "Tensor-likes")

    def _sparse(self, a: Tensor, e: Tensor, allowed: tuple[float, float]) -> str | None:
        if a._nnz() != e._nnz():
            return f"The number of specified values in sparse COO tensors does not match: {a._nnz()} != {e._nnz()}"
        places = self._elements(a._indices().cpu(), e._indices().cpu(), 0, 0, "Sparse COO indices")
        return places or self._elements(a._values().cpu(), e._values().cpu(), *allowed, "Sparse COO values")

    def _elements(self, a: Tensor, e: Tensor, rtol: float, atol: float, what: str) -> str | None:
        t = core.promote_types(a.dtype, e.dtype)
        a, e = a.to(t), e.to(t)
        close = core.isclose(a, e, rtol=rtol, atol=atol, equal_nan=self._equal_nan)
        if bool(close.all()):
            return None
        if a.ndim == 0:
            return self._numbers_of(a, e, rtol, atol)
        exact = a if t.is_floating_point or t.is_complex else a.long()
        difference = core.where(close, 0, (exact - e.to(exact.dtype)).abs())
        relative = core.where(close, 0, difference / e.to(exact.dtype).abs())
        wrong, n = int((~close).sum()), a.numel()
        lines = [f"Mismatched elements: {wrong} / {n} ({wrong / n:.1%})"]
        for name, by, tolerance in (("absolute", difference, atol), ("relative", relative, rtol)):
            worst = by.flatten().argmax()
            index = tuple(int(i) for i in unravel_index(worst, a.shape))
            lines.append(_line(f"Greatest {name}", by.flatten()[worst].item(), f" at index {index}", tolerance))
        return _text(what, lines, rtol, atol)

    def _numbers_of(self, a: Tensor, e: Tensor, rtol: float, atol: float) -> str | None:
        return _Comparison((rtol, atol), self._equal_nan, self._checks, True)._numbers(a.item(), e.item())


def _incomparable(a: Any, e: Any) -> TypeError:
    return TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(e)}.")


def _attributes(a: Tensor, e: Tensor) -> dict[str, tuple[Any, Any]]:
    strided = a.layout is e.layout is core.strided
    return {
        "shape": (a.shape, e.shape),
        "layout": (a.layout, e.layout),
        "stride()": (a.stride(), e.stride()) if strided else ((), ()),
        "device": (a.device, e.device),
        "dtype": (a.dtype, e.dtype),
    }


def _line(name: str, difference: float, place: str, tolerance: float) -> str:
    return f"{name} difference: {difference}{place}" + (f" (up to {tolerance} allowed)" if tolerance else "")


def _text(what: str, lines: list[str], rtol: float, atol: float) -> str:
    return f"{what} are not {'equal' if rtol == 0 and atol == 0 else 'close'}!\n\n" + "\n".join(lines)
