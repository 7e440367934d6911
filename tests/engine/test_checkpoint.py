"""Checkpoints: what is run again, how far, and what may differ."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import adjoint as ad

checkpoint = ad.utils.checkpoint.checkpoint
CheckpointError = ad.utils.checkpoint.CheckpointError


def leaf(*values: float) -> Any:
    return ad.tensor(values if len(values) > 1 else values[0], dtype=ad.float64, requires_grad=True)


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradient_and_runs(reentrant: bool) -> None:
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(1)
        return x.sin() * x

    x, z = leaf(2.0), leaf(2.0)
    y = checkpoint(f, x, use_reentrant=reentrant)
    y.backward()
    (z.sin() * z).backward()
    assert x.grad.item() == z.grad.item() and len(runs) == 2
    assert (y.grad_fn.name() == "CheckpointFunctionBackward") == reentrant


def test_the_choice_must_be_made() -> None:
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(lambda x: x.sin(), leaf(2.0)).backward()
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(lambda x: x * leaf(3.0), ad.ones(()), use_reentrant=True).requires_grad


def test_reentrant_wants_all_gradients() -> None:
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match="incompatible with .grad()"):
        ad.autograd.grad(checkpoint(lambda x: x * x, x, use_reentrant=True), x)
    with pytest.raises(RuntimeError, match="incompatible with .grad()"):
        checkpoint(lambda x: x * x, x, use_reentrant=True).backward(inputs=[x])
    assert ad.autograd.grad(checkpoint(lambda x: x * x, x, use_reentrant=False), x)[0].item() == 4


@pytest.mark.parametrize("stop", [True, False])
def test_early_stop(stop: bool) -> None:
    steps: list[str] = []

    def f(x: Any) -> Any:
        y = x.sin()
        steps.append("sin")
        z = y + 1
        steps.append("add")
        return z

    with ad.utils.checkpoint.set_checkpoint_early_stop(stop):
        y = checkpoint(f, leaf(2.0), use_reentrant=False)
    y.backward()
    assert steps == ["sin", "add"] + ([] if stop else ["sin", "add"])


def test_the_second_run_must_save_the_same() -> None:
    runs: list[int] = []

    def fewer(x: Any) -> Any:
        runs.append(1)
        return x.sin().cos() if len(runs) == 1 else x.sin()

    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(fewer, leaf(2.0), use_reentrant=False).backward()

    def smaller(x: Any) -> Any:
        runs.append(1)
        return (x if len(runs) % 2 else x[:1]).sin().sum()

    for check in ("default", "none"):
        runs[:] = []
        y = checkpoint(smaller, leaf(2.0, 3.0), use_reentrant=False, determinism_check=check)
        with pytest.raises(RuntimeError, match="different metadata") if check == "default" else contextlib.nullcontext():
            y.backward()
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(lambda x: x, leaf(2.0), use_reentrant=False, determinism_check="sometimes")


def test_arguments_may_not_be_written() -> None:
    y = leaf(2.0) * 1
    z = checkpoint(lambda x: x.sin(), y, use_reentrant=False)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_contexts() -> None:
    log: list[str] = []

    @contextlib.contextmanager
    def context(name: str) -> Iterator[None]:
        log.append(name)
        yield
        log.append(f"end of {name}")

    contexts = lambda: (context("first"), context("second"))  # noqa: E731
    checkpoint(lambda x: x.sin(), leaf(2.0), use_reentrant=False, context_fn=contexts).backward()
    assert log[:3] == ["first", "end of first", "second"]
    with pytest.raises(ValueError, match="context_fn"):
        checkpoint(lambda x: x, leaf(2.0), use_reentrant=True, context_fn=contexts)
    with ad.no_grad():
        assert not checkpoint(lambda x: x.sin(), leaf(2.0), use_reentrant=False).requires_grad


@pytest.mark.parametrize("reentrant", [True, False])
def test_sequences(reentrant: bool) -> None:
    x = leaf(2.0)
    steps = [lambda x: x.sin(), lambda x: x * 2, lambda x: x.exp()]
    ad.utils.checkpoint.checkpoint_sequential(steps, 2, x, use_reentrant=reentrant).backward()
    z = leaf(2.0)
    (z.sin() * 2).exp().backward()
    assert x.grad.item() == pytest.approx(z.grad.item())


def changing(first: Any, later: Any) -> Any:
    """A function that does something else when it is run again."""
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(1)
        return (first if len(runs) == 1 else later)(x)

    return f


def short(x: Any) -> Any:
    return x.sin().exp()


def long(x: Any) -> Any:
    return x.sin().exp().sin()


def test_more_and_fewer_tensors_in_the_second_run() -> None:
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(changing(long, short), leaf(2.0), use_reentrant=False).backward()
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        checkpoint(changing(short, long), leaf(2.0), use_reentrant=False, early_stop=False).backward()
    checkpoint(changing(short, long), leaf(2.0), use_reentrant=False).backward()


@pytest.mark.parametrize(("debug", "enabled", "logs"), [(True, None, True), (False, True, True), (True, False, False)])
def test_debugging_shows_both_runs(debug: bool, enabled: bool | None, logs: bool) -> None:
    other = changing(lambda x: x.sin().exp(), lambda x: x.expand(3).sin().exp().sum())
    match = r"because you passed `debug=True`[\s\S]*sin\(\[\]\).*test_checkpoint.py[\s\S]*recomputation:[\s\S]*sin\(\[3\]\)"
    with ad.utils.checkpoint.set_checkpoint_debug_enabled(enabled):
        y = checkpoint(other, leaf(2.0), use_reentrant=False, debug=debug)
    with pytest.raises(CheckpointError, match=match if logs else "tensors have different metadata"):
        y.backward()


def test_debugging_takes_the_place_of_the_contexts() -> None:
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        checkpoint(short, leaf(2.0), use_reentrant=False, debug=True, context_fn=lambda: (1, 2))


@pytest.mark.parametrize("stop", [True, False])
def test_a_gradient_inside_a_checkpoint(stop: bool) -> None:
    def slope(f: Any) -> Any:
        def g(x: Any) -> Any:
            with ad.enable_grad():
                return ad.autograd.grad(f(x), x, create_graph=True)[0]

        return g

    def again(f: Any) -> Any:
        return lambda x: checkpoint(f, x, use_reentrant=False, early_stop=stop)

    x = leaf(0.7)
    expected = slope(slope(long))(x)
    for f in (slope(again(slope(long))), again(slope(slope(again(long)))), slope(again(slope(again(long))))):
        assert f(x).item() == pytest.approx(expected.item())


def test_arguments_that_are_saved_keep_their_identity() -> None:
    seen: list[Any] = []

    class F(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(y)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend(ctx.saved_tensors)
            return g, None

    y = ad.ones(())
    checkpoint(F.apply, leaf(2.0), y, use_reentrant=False).backward()
    assert seen[0] is y
