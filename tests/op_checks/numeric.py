"""Between tensors and arrays: conversion, inner products, random directions, distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import adjoint as ad

Tensors = Sequence[Any]


def tensors(arrays: Sequence[np.ndarray], dtype: Any = None) -> list[Any]:
    """Fresh tensors of `arrays`; floating ones are cast to `dtype` if it is given."""
    made = [ad.from_numpy(np.array(a, order="C")) for a in arrays]
    return [t.to(dtype) if dtype is not None and is_floating(t) else t for t in made]


def is_floating(t: Any) -> bool:
    return t.is_floating_point() or t.is_complex()


def array(t: Any) -> np.ndarray:
    """The numbers of a tensor; those of small floating types in double precision."""
    if is_floating(t):
        t = t.to(ad.complex128 if t.is_complex() else ad.float64)
    return t.numpy(force=True)


def parts(result: Any) -> list[Any]:
    """The tensors of a result."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def floating(result: Any) -> list[Any]:
    """The tensors of a result that can have a derivative."""
    return [t for t in parts(result) if is_floating(t)]


def inner(us: Tensors, vs: Tensors) -> Any:
    """The real inner product, Re <u, v>, as a differentiable 0-d tensor."""
    return sum(((u.conj() * v).sum().real for u, v in zip(us, vs, strict=True)), start=ad.zeros((), dtype=ad.float64))


def directions(rng: np.random.Generator, like: Tensors) -> list[Any]:
    """A random tensor like each of `like`."""

    def draw(t: Any) -> np.ndarray:
        real = rng.standard_normal(tuple(t.shape))
        return real + 1j * rng.standard_normal(tuple(t.shape)) if t.is_complex() else real

    return [ad.from_numpy(np.asarray(draw(t))).to(t.dtype) for t in like]


def agree(actual: Tensors, expected: Tensors, rtol: float = 1e-9, atol: float = 1e-10) -> None:
    """Assert that two lists of tensors (or arrays) have equal shapes and close numbers."""
    for a, b in zip(actual, expected, strict=True):
        a, b = (t if isinstance(t, np.ndarray) else array(t) for t in (a, b))
        assert a.shape == b.shape, f"got shape {a.shape}, expected {b.shape}"
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def same_number(actual: Any, expected: Any, rtol: float, scale: float = 1.0) -> None:
    """Assert that two scalars agree relative to themselves or to `scale`."""
    a, b = float(actual), float(expected)
    assert abs(a - b) <= rtol * max(abs(a), abs(b), scale), f"got {a!r}, expected {b!r}"


def ulps(actual: np.ndarray, exact: np.ndarray, dtype: Any) -> np.ndarray:
    """Distance in units in the last place of `dtype`; where `exact` overflows it or is NaN, 0 if `actual` says so too."""
    info = ad.finfo(dtype)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(np.abs(exact), info.tiny)))
        distance = np.abs(actual - exact) / (2.0**exponent * info.eps)
        half_past = info.max * (1 + info.eps / 4)
        special = (np.isnan(exact) & np.isnan(actual)) | (
            (np.abs(exact) >= half_past) & np.isinf(actual) & (np.sign(exact) == np.sign(actual))
        )
    return np.where(special, 0.0, np.where(np.isnan(distance), np.inf, distance))
