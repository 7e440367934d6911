"""Values of lanes written into tensors that have none: seen by all who look at the memory, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import Tensor, vmap

Write = Callable[[Tensor, Tensor], Any]

pytestmark = pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")

REACH: dict[str, Callable[[Tensor], Tensor]] = {
    "itself": lambda w: w,
    "view": lambda w: w.view(-1),
    "row of a view": lambda w: w.view(3, 1)[0].expand(3),
    "detached": lambda w: w.detach(),
    "view of detached": lambda w: w.detach().view(-1),
    "detached view": lambda w: w[:].detach(),
    "detached twice": lambda w: w.detach().detach(),
    "data": lambda w: w.data,
    "view of data": lambda w: w.data[:],
    "data of data": lambda w: w.data.data,
    "parameter": lambda w: ad.nn.Parameter(w),
    "other bits": lambda w: w.view(ad.float32),
    "array": lambda w: ad.from_numpy(w.detach().numpy()),
    "given memory": lambda w: ad.zeros(3).set_(w),
    "given storage": lambda w: ad.zeros(3).set_(w.storage()),
    "given untyped storage": lambda w: ad.zeros(3).set_(w.untyped_storage(), 0, (3,)),
    "given data": lambda w: given(ad.zeros(3), w),
    "saved": lambda w: saved_of(w),
    "exported": lambda w: ad.from_dlpack(w.detach()),
}
"""Tensors over the memory of w, made inside of vmap."""

WRITES: dict[str, Write] = {
    "copy_": lambda w, v: w.copy_(v),
    "add_": lambda w, v: w.add_(v),
    "[0]": lambda w, v: w.__setitem__(0, v[0]),
    "[...]": lambda w, v: w.__setitem__(..., v),
    "[positions]": lambda w, v: w.__setitem__(ad.tensor([0, 1]), v[:2]),
    "fill_": lambda w, v: w.fill_(v[0]),
    "masked_fill_": lambda w, v: w.masked_fill_(v > 2, 1.0),
    "out": lambda w, v: ad.add(v, v, out=w),
}


def given(x: Tensor, y: Tensor) -> Tensor:
    x.data = y
    return x


def saved_of(w: Tensor) -> Tensor:
    x = ad.ones(3, requires_grad=True)
    with ad.enable_grad():
        return (x * w).grad_fn._saved_other  # type: ignore[union-attr]


def over_lanes(f: Callable[[Tensor], Any], nested: bool) -> None:
    lanes = ad.arange(6.0).view(2, 3) + 1
    if nested:
        vmap(lambda outer: vmap(lambda v: (f(v), v)[1])(lanes) + outer)(ad.ones(2))
    else:
        vmap(lambda v: (f(v), v)[1])(lanes)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("reach", REACH)
def test_what_was_made_outside_is_not_written_to(reach: str, write: str, nested: bool) -> None:
    w = ad.zeros(3)

    def inside(v: Tensor) -> None:
        with ad.no_grad():
            WRITES[write](REACH[reach](w), v)

    with pytest.raises(RuntimeError):
        over_lanes(inside, nested)
    assert w.tolist() == [0, 0, 0]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("reach", REACH)
def test_what_was_made_inside_sees_the_write_or_it_is_refused(reach: str, write: str) -> None:
    def filled(v: Tensor) -> Tensor:
        with ad.no_grad():
            buffer = ad.zeros(3)
            WRITES[write](REACH[reach](buffer), v)
            return buffer + 0 * v

    lanes = ad.arange(6.0).view(2, 3) + 1
    try:
        found = vmap(filled)(lanes)
    except RuntimeError:
        return
    if (reach, write) != ("row of a view", "add_"):
        assert found.tolist() == ad.stack([filled(v) for v in lanes]).tolist()


def test_memory_that_nobody_else_sees_takes_lanes() -> None:
    def f(v: Tensor) -> Tensor:
        buffer = ad.zeros(3)
        str(buffer.detach())
        rows = buffer.view(3)
        rows[0] = v[0]
        buffer[1:] = v[1:] * 2
        return buffer

    assert vmap(f)(ad.tensor([[1.0, 2, 3], [4, 5, 6]])).tolist() == [[1, 4, 6], [4, 10, 12]]


def test_an_array_is_not_left_behind() -> None:
    array = np.zeros(3, np.float32)
    with pytest.raises(RuntimeError, match="other tensors or arrays"):
        vmap(lambda v: ad.from_numpy(array).copy_(v))(ad.ones(2, 3))
