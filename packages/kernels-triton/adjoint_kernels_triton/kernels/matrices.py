"""What the kernels of linear algebra share. A program holds a tile of a matrix in registers, each number as two parts a + b i; of real
numbers the second is never looked at, and the compiler leaves it out."""

import triton
import triton.language as tl

from .complex import quotient

# Columns of a tile that reaches over all `rows`: 64 KB at most, in the registers of 4 or 8 warps; with more, complex128 would spill.
BYTES = "(32768 if itemsize(x0) == 16 else 65536)"
WIDTH = f"max(4, min(next_pow2(columns), min(64, {BYTES} // (itemsize(x0) * next_pow2(rows)))))"
NAMES = {"rows": "size(x0, -2)", "columns": "size(x0, -1)", "most": "min(rows, columns)", "width": WIDTH}
SUITS = "rows < 8193"  # beyond, columns spill, and take minutes to compile
ROUNDS = "max(1, cdiv(most, width))"  # one for each panel
TILE = {"PARTS": "parts(x0)", "ROWS": "next_pow2(rows)", "WIDTH": WIDTH}


def warps(parts: int, rows: int, width: int, *rest: int) -> int:
    """So that a thread holds some 16 numbers of a tile: there are several tiles at a time."""
    numbers = parts * rows * width
    return 1 if numbers <= 512 else 4 if numbers <= 2048 else 8 if numbers <= 8192 else 16


@triton.jit
def load(x, at, inside, PARTS: tl.constexpr):
    """Elements, 0 where `inside` says that there are none."""
    if PARTS == 2:
        return tl.load(x + 2 * at, mask=inside, other=0.0), tl.load(x + 2 * at + 1, mask=inside, other=0.0)
    else:
        a = tl.load(x + at, mask=inside, other=0.0)
        return a, tl.zeros_like(a)


@triton.jit
def store(y, at, a, b, inside, PARTS: tl.constexpr):
    if PARTS == 2:
        tl.store(y + 2 * at, a, mask=inside)
        tl.store(y + 2 * at + 1, b, mask=inside)
    else:
        tl.store(y + at, a, mask=inside)


@triton.jit
def tile_of(matrix, rows, columns, first, down, right, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Rows and columns of a tile, where it lies, and what of it there is."""
    row = tl.arange(0, ROWS)
    column = first + tl.arange(0, WIDTH)
    at = matrix * rows * columns + row.to(tl.int64)[:, None] * down + column.to(tl.int64)[None, :] * right
    return row, column, at, (row < rows)[:, None] & (column < columns)[None, :]


@triton.jit
def load_either(x, y, second, at, inside, PARTS: tl.constexpr):
    """From y, but the first time from x."""
    if second:
        a, b = load(y, at, inside, PARTS)
    else:
        a, b = load(x, at, inside, PARTS)
    return a, b


@triton.jit
def times(a, b, c, d, PARTS: tl.constexpr):
    if PARTS == 2:
        return a * c - b * d, a * d + b * c
    else:
        return a * c, b


@triton.jit
def conjugate_times(a, b, c, d, PARTS: tl.constexpr):
    """(a - b i) (c + d i)"""
    if PARTS == 2:
        return a * c + b * d, a * d - b * c
    else:
        return a * c, b


@triton.jit
def over(a, b, c, d, PARTS: tl.constexpr):
    if PARTS == 2:
        none = tl.zeros_like(a)
        return quotient(a, b, c + none, d + none)
    else:
        return a / c, b


@triton.jit
def picked(a, b, mask, AXIS: tl.constexpr, PARTS: tl.constexpr):
    """The sum along an axis of the elements that a mask names: usually one."""
    p = tl.sum(tl.where(mask, a, 0.0), AXIS)
    if PARTS == 2:
        return p, tl.sum(tl.where(mask, b, 0.0), AXIS)
    else:
        return p, tl.zeros_like(p)


@triton.jit
def chosen(mask, a, b, c, d, PARTS: tl.constexpr):
    """a + b i where the mask says so, else c + d i."""
    p = tl.where(mask, a, c)
    if PARTS == 2:
        return p, tl.where(mask, b, d)
    else:
        return p, tl.zeros_like(p)


@triton.jit
def less(a, b, c, d, e, f, PARTS: tl.constexpr):
    """a + b i less the product of a column c + d i and a row e + f i."""
    p, q = times(c[:, None], d[:, None], e[None, :], f[None, :], PARTS)
    if PARTS == 2:
        return a - p, b - q
    else:
        return a - p, b


@triton.jit
def exchanged(place, k, q):
    """Positions after rows k and q have changed theirs."""
    return tl.where(place == k, q, tl.where(place == q, k, place))


@triton.jit
def substitute(a, b, f, row, n, down, right, UPPER: tl.constexpr, UNIT: tl.constexpr, PARTS: tl.constexpr):
    """The tile times the inverse of a triangle of the matrix f, whose strides are (down, right): row by row, each less the product of
    those before it."""
    for index in range(0, n):
        if UPPER:
            k = n - 1 - index
            before = (row > k) & (row < n)
        else:
            k = index
            before = row < k
        c, d = load(f, tl.cast(k, tl.int64) * down + row * right, before, PARTS)
        p, q = times(c[:, None], d[:, None], a, b, PARTS)
        p, q = chosen((row == k)[:, None], a, b, -p, -q, PARTS)
        p, q = picked(p, q, (before | (row == k))[:, None], 0, PARTS)
        if not UNIT:
            c, d = load(f, tl.cast(k, tl.int64) * (down + right), k < n, PARTS)
            p, q = over(p, q, c, d, PARTS)
        a, b = chosen((row == k)[:, None], p[None, :], q[None, :], a, b, PARTS)
    return a, b
