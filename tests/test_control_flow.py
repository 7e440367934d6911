"""Choices, loops and scans as functions. Expected: the same computation step by step."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import adjoint as ad

ops = importlib.import_module("adjoint._higher_order_ops")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(n: int, reverse: bool) -> None:
    """The recurrence of state space models: pairs, which do not commute."""
    ad.manual_seed(n)
    a, b = (ad.rand(2, n, 3, dtype=ad.float64, requires_grad=True) for _ in range(2))
    combine = lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1])  # noqa: E731
    found = ops.associative_scan(combine, (a, b), 1, reverse)
    steps, state = [], None
    for i in reversed(range(n)) if reverse else range(n):
        state = (a[:, i], b[:, i]) if state is None else combine(state, (a[:, i], b[:, i]))
        steps.append(state)
    if reverse:
        steps.reverse()
    for x, y in zip(found, zip(*steps, strict=True), strict=True):
        ad.testing.assert_close(x, ad.stack(list(y), 1))
    grads = ad.autograd.grad(found[1].sin().sum(), (a, b), materialize_grads=True)
    wanted = ad.autograd.grad(ad.stack([s[1] for s in steps], 1).sin().sum(), (a, b), materialize_grads=True)
    for g, h in zip(grads, wanted, strict=True):
        ad.testing.assert_close(g, h)


def test_scan() -> None:
    x = ad.arange(6.0, requires_grad=True)
    last, sums = ops.scan(lambda c, row: (c + row["x"], {"sum": c + row["x"]}), ad.zeros(2), {"x": x.view(3, 2)})
    assert last.tolist() == [6, 9] and sums["sum"].tolist() == [[0, 1], [2, 4], [6, 9]]
    assert ops.scan(lambda c, y: (c + y, c), ad.tensor(0.0), x, reverse=True)[1].tolist() == [15, 14, 12, 9, 5, 0]
    assert ad.autograd.grad(sums["sum"].sum(), x)[0].tolist() == [3, 3, 2, 2, 1, 1]


def test_cond_and_while_loop() -> None:
    x = ad.tensor(2.0, requires_grad=True)
    y = ad.cond(x > 1, lambda x: x**3, lambda x: x, (x,))
    assert ad.autograd.grad(y, x)[0] == 12 and ad.cond(False, lambda: 1, lambda: 2) == 2
    n, z = ops.while_loop(lambda n, z: n < 3, lambda n, z: (n + 1, z * x), (ad.tensor(0), x))
    assert n == 3 and z == 16 and ad.autograd.grad(z, x)[0] == 32


def test_sizes_that_differ() -> None:
    with pytest.raises(RuntimeError, match="same size along dim 0"):
        ops.associative_scan(lambda x, y: x, (ad.ones(2), ad.ones(3)), 0)


def test_each_is_found_in_a_module_of_its_own() -> None:
    names = "associative_scan", "cond", "scan", "while_loop"
    lines = [f"from torch._higher_order_ops.{name} import {name}" for name in names]
    program = "\n".join(
        ["import adjoint.as_torch", *lines, "assert while_loop(lambda n: n < 3, lambda n: (n + 1,), (0,)) == (3,)"]
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
