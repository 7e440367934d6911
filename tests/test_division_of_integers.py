"""Quotients, remainders and powers of integers of every size, beside Python's."""

from collections.abc import Callable

import numpy as np
import pytest

import adjoint as ad

COUNT = 1200


def draw(rng: np.random.Generator, dtype: type, bits: int) -> np.ndarray:
    """Of about so many bits, with both signs."""
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -(2**bits)), min(info.max, 2**bits), COUNT, dtype=np.int64).astype(dtype)


def wrapped(values: list[int], dtype: type) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([(v - info.min) % 2**info.bits + info.min for v in values], dtype)


def trunc(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


DIVISIONS: dict[str, tuple[Callable, Callable[[int, int], int]]] = {
    "floor_divide": (lambda x, y: x // y, lambda x, y: x // y),
    "remainder": (lambda x, y: x % y, lambda x, y: x % y),
    "fmod": (ad.fmod, lambda x, y: x - trunc(x, y) * y),
    "trunc_divide": (lambda x, y: ad.div(x, y, rounding_mode="trunc"), trunc),
}


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_divisions_are_exact(name: str, dtype: type) -> None:
    """Also next to multiples, where a rounded quotient would be one too large, and beyond what a double holds."""
    divide, exact = DIVISIONS[name]
    rng = np.random.default_rng(0)
    top = np.iinfo(dtype).bits - 1
    for bits in (4, 20, 31, 50, 51, 53, 63):
        y = draw(rng, dtype, min(bits, top) // 2 + 1)
        y = np.where(y == 0, 1, y).astype(dtype)
        near = wrapped(
            [
                v * w + d
                for v, w, d in zip(y.tolist(), draw(rng, dtype, bits // 2).tolist(), rng.integers(-1, 2, COUNT).tolist())
            ],
            dtype,
        )
        for x in (near, draw(rng, dtype, min(bits, top))):
            found = divide(ad.tensor(x), ad.tensor(y))
            expected = wrapped([exact(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], dtype)
            assert np.array_equal(found.numpy(), expected), bits
    lowest = np.array([np.iinfo(dtype).min] * 3, dtype)
    found = divide(ad.tensor(lowest), ad.tensor(np.array([-1, 1, np.iinfo(dtype).min], dtype)))
    assert np.array_equal(found.numpy(), wrapped([exact(int(lowest[0]), b) for b in (-1, 1, int(lowest[0]))], dtype))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(ad.tensor(x), ad.zeros(COUNT, dtype=ad.tensor(x).dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_powers_wrap(dtype: type) -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([draw(rng, dtype, 2), draw(rng, dtype, 30)])
    y = rng.integers(-3, 70, len(x)).astype(dtype)

    def power(a: int, b: int) -> int:
        if b < 0:
            return (a if b % 2 else 1) if abs(a) == 1 else 0
        return a**b

    expected = wrapped([power(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], dtype)
    assert np.array_equal((ad.tensor(x) ** ad.tensor(y)).numpy(), expected)
    assert np.array_equal((ad.tensor(x) ** 3).numpy(), wrapped([a**3 for a in x.tolist()], dtype))
    assert np.array_equal((2 ** ad.tensor(y)).numpy(), wrapped([power(2, b) for b in y.tolist()], dtype))
