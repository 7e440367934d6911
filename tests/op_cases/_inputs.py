"""What the cases are fed: a shape, a domain, and whether one may differentiate with respect to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Shape = tuple[int, ...]
Sample = Callable[[np.random.Generator, Shape], np.ndarray]


@dataclass(frozen=True, eq=False)
class Input:
    """A tensor argument of a case: `sample(rng, shape)` draws it."""

    shape: Shape
    sample: Sample
    differentiable: bool = True

    def draw(self, rng: np.random.Generator, shape: Shape | None = None, imaginary: bool = False) -> np.ndarray:
        """An array of this input, at another `shape` if one is given, with an imaginary part if asked and floating."""
        shape = self.shape if shape is None else shape
        array = np.asarray(self.sample(rng, shape))
        return array + 0.5j * rng.standard_normal(shape) if imaginary and array.dtype.kind == "f" else array


def x(*shape: int) -> Input:
    """Any real number."""
    return Input(shape, lambda rng, s: rng.standard_normal(s))


def between(low: float, high: float, *shape: int) -> Input:
    """Numbers of an open interval."""
    return Input(shape, lambda rng, s: rng.uniform(low, high, s))


def positive(*shape: int) -> Input:
    """Positive numbers, away from zero."""
    return between(0.3, 2.5, *shape)


def unit(*shape: int) -> Input:
    """Numbers in (-0.9, 0.9)."""
    return between(-0.9, 0.9, *shape)


def prob(*shape: int) -> Input:
    """Numbers in (0.1, 0.9)."""
    return between(0.1, 0.9, *shape)


def nonzero(*shape: int) -> Input:
    """Numbers of both signs, away from zero."""
    return Input(shape, lambda rng, s: rng.uniform(0.3, 2.0, s) * rng.choice([-1.0, 1.0], s))


def data(*shape: int) -> Input:
    """Any real number, not differentiated."""
    return Input(shape, lambda rng, s: rng.standard_normal(s), differentiable=False)


def idx(*shape: int, hi: int) -> Input:
    """Indices in [0, hi), with repetitions."""
    return Input(shape, lambda rng, s: rng.integers(0, hi, s), differentiable=False)


def perm(*shape: int, hi: int) -> Input:
    """Indices in [0, hi), distinct along the last dimension."""

    def sample(rng: np.random.Generator, s: Shape) -> np.ndarray:
        return rng.permuted(np.broadcast_to(np.arange(hi), (*s[:-1], hi)), axis=-1)[..., : s[-1]]

    return Input(shape, sample, differentiable=False)


def mask(*shape: int) -> Input:
    """Truth values."""
    return Input(shape, lambda rng, s: rng.random(s) < 0.5, differentiable=False)


def fixed(values: object) -> Input:
    """These very values, not differentiated."""
    array = np.asarray(values)
    return Input(array.shape, lambda rng, s: array, differentiable=False)
