"""The tensors that a program works on, what an action draws from them, and the table of actions."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import adjoint as ad

SLOTS = 14
MOST = 4096  # elements of a tensor that is kept
SHAPES = [(), (0,), (1,), (3,), (4,), (2, 3), (3, 2), (3, 3), (2, 0, 3), (2, 3, 2), (1, 3), (2, 1, 3, 1)]
DTYPES = (
    [ad.float64] * 6
    + [ad.float32] * 3
    + [ad.complex128, ad.complex64, ad.int64, ad.int64, ad.int32, ad.uint8, ad.bool, ad.float16, ad.bfloat16]
)

Action = Callable[["State", random.Random], Any]
ACTIONS: dict[str, Action] = {}
WEIGHTS: dict[str, int] = {}


def action(weight: int) -> Callable[[Action], Action]:
    """Puts a function in the table, to be drawn that often beside the others; what it returns goes into the pool."""

    def put(f: Action) -> Action:
        ACTIONS[f.__name__], WEIGHTS[f.__name__] = f, weight
        return f

    return put


def program(seed: int, length: int = 300) -> list[tuple[str, int]]:
    r = random.Random(seed)
    names, weights = list(ACTIONS), list(WEIGHTS.values())
    return [(name, r.getrandbits(32)) for name in r.choices(names, weights, k=length)]


class BrokenError(BaseException):
    """What no program may see: an error without a message of ours."""


class State:
    def __init__(self) -> None:
        self.depth = 0
        self.kept: list[Any] = []  # numpy arrays, iterators, nodes, handles, ... that outlive what they came from
        r = random.Random(0)
        self.tensors = [self.fresh(r) for _ in range(SLOTS)]

    # What an action draws

    def fresh(self, r: random.Random, dtype: Any = None, shape: Any = None) -> Any:
        shape, dtype = r.choice(SHAPES) if shape is None else shape, dtype or r.choice(DTYPES)
        count = 1
        for n in shape:
            count *= n
        numbers = [r.choice((0.5, 1.0, 2.0, -1.0, 0.0, 3.0)) for _ in range(count)]
        t = ad.tensor(numbers, dtype=ad.float64).reshape(shape).to(dtype)
        if r.random() < 0.3 and t.dim():
            t = r.choice(
                (
                    lambda t: t.transpose(0, -1),
                    lambda t: t[::2],
                    lambda t: t.unsqueeze(0).expand(2, *t.shape),
                    lambda t: t.flip(0),
                )
            )(t)
        if (dtype.is_floating_point or dtype.is_complex) and r.random() < 0.6:
            t = t.detach().requires_grad_()
        return t

    def pick(self, r: random.Random) -> Any:
        return self.tensors[r.randrange(SLOTS)]

    def floating(self, r: random.Random) -> Any:
        """A tensor that may require a gradient, mostly."""
        for _ in range(4):
            t = self.pick(r)
            if t.is_floating_point() or t.is_complex():
                return t
        return self.fresh(r, ad.float64)

    def partner(self, r: random.Random, t: Any) -> Any:
        """A tensor that broadcasts with `t`, mostly."""
        for _ in range(6):
            u = self.pick(r)
            if u.shape == t.shape or not u.dim():
                return u
        return r.choice((self.pick(r), 2.0, t))

    def dim(self, r: random.Random, t: Any) -> int:
        return r.randrange(-t.dim(), t.dim()) if t.dim() and r.random() < 0.95 else r.choice((0, -1, 1, 7, -9))

    def index(self, r: random.Random, t: Any) -> Any:
        one = [
            lambda: r.randint(-3, 3),
            lambda: slice(r.choice((None, 0, 1, -2)), r.choice((None, 2, -1)), r.choice((None, 1, 2))),
            lambda: ...,
            lambda: None,
            lambda: ad.tensor([r.randint(-2, 2) for _ in range(r.randint(0, 3))], dtype=ad.int64),
            lambda: self.pick(r),
            lambda: t > 0,
            lambda: r.random() < 0.5,
            lambda: [0, -1],
        ]
        many = r.randint(1, 3)
        return r.choice(one)() if many == 1 else tuple(r.choice(one[:5])() for _ in range(many))

    def argument(self, r: random.Random, t: Any) -> Any:
        """Anything that some parameter may take."""
        some = [
            lambda: self.partner(r, t),
            lambda: self.partner(r, t),
            lambda: self.pick(r),
            lambda: self.dim(r, t),
            lambda: self.dim(r, t),
            lambda: r.choice((0, 1, 2, 3, -1, 0.5, 2.0, float("nan"), 1j, True, False, None)),
            lambda: [self.pick(r) for _ in range(r.randint(0, 3))],
            lambda: tuple(r.randint(-1, 3) for _ in range(r.randint(0, 3))),
            lambda: tuple(t.shape),
            lambda: r.choice(DTYPES),
            lambda: ad.tensor([r.randint(-1, 3) for _ in range(r.randint(0, 4))]),
            lambda: r.choice(("sum", "mean", "none", "reflect", "constant", "ij", "fro", "nearest", "linear", "floor")),
            lambda: (t > 0) if not t.is_complex() else None,
            lambda: self.kept[r.randrange(len(self.kept))] if self.kept else None,
        ]
        return r.choice(some)()

    # What becomes of it

    def keep(self, what: Any, r: random.Random) -> None:
        if len(self.kept) >= 40:
            self.kept[r.randrange(40)] = what
        else:
            self.kept.append(what)

    def kept_of(self, kind: type, r: random.Random) -> Any:
        return r.choice([x for x in self.kept if isinstance(x, kind)] or [None])

    def put(self, result: Any, r: random.Random) -> None:
        """Tensors go into the pool, and so do the first few of a tuple."""
        if isinstance(result, ad.Tensor):
            if result.dim() <= 6 and result.numel() <= MOST:
                self.tensors[r.randrange(SLOTS)] = result
        elif isinstance(result, (tuple, list)):
            for part in result[:3]:
                self.put(part, r)

    def act(self, name: str, seed: int) -> None:
        """One action; of exceptions only those count that say something broke below."""
        r = random.Random(seed)
        self.depth += 1
        try:
            self.put(ACTIONS[name](self, r), r)
        except SystemError as error:
            raise BrokenError(f"{name}: {error!r}") from error
        except Exception as error:
            if r.random() < 0.1:
                self.keep(error, r)  # with its traceback, and so the frames and their tensors
        finally:
            self.depth -= 1

    def inner(self, r: random.Random, most: int = 2) -> None:
        """Actions inside of an action, as hooks and bodies of functions do; deep down none."""
        if self.depth > 3:
            return
        names, weights = list(ACTIONS), list(WEIGHTS.values())
        for _ in range(r.randint(0, most)):
            self.act(r.choices(names, weights)[0], r.getrandbits(32))

    def later(self, r: random.Random) -> random.Random:
        """What a function that is called later draws from: its own, so that a program without it draws the same."""
        return random.Random(r.getrandbits(32))


def note_broken(unraisable: Any) -> None:
    """For `sys.unraisablehook`: exceptions in destructors and callbacks are fine, broken ones are not."""
    if isinstance(unraisable.exc_value, (SystemError, BrokenError)):
        sys.__unraisablehook__(unraisable)
