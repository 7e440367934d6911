"""Selective checkpoints: which operations a policy is asked about, what is kept, and what may happen to it."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad

aten = ad.ops.aten
saving = ad.utils.checkpoint.create_selective_checkpoint_contexts
Policy = ad.utils.checkpoint.CheckpointPolicy


def run(f: Callable[..., Any], policy: Any, *args: Any, **options: Any) -> Any:
    contexts = functools.partial(saving, policy, **options)
    return ad.utils.checkpoint.checkpoint(f, *args, use_reentrant=False, context_fn=contexts)


def leaf(*shape: int) -> Any:
    return ad.randn(*shape, dtype=ad.float64, requires_grad=True)


def layers(x: Any, w: Any) -> Any:
    noise = ad.nn.functional.dropout(x @ w, 0.5)
    rows = ad.cat([noise.sin(), noise.t()], 1).softmax(1)
    return rows.sum(0) * ad.vmap(lambda r: r.exp() @ r)(rows).sum()


@pytest.mark.parametrize("seed", range(8))
def test_gradients_do_not_depend_on_the_policy(seed: int) -> None:
    ad.manual_seed(seed)
    x, w, asked = leaf(3, 3), leaf(3, 3), []
    state = ad.get_rng_state()
    layers(x, w).sum().backward()
    expected, x.grad, w.grad = (x.grad, w.grad), None, None

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(str(op))
        outputs = context.op_output if isinstance(context.op_output, tuple) else (context.op_output,)
        assert not context.is_recompute and all(isinstance(y, ad.Tensor) and y.grad_fn is None for y in outputs)
        kinds = [*Policy, True, False]
        return kinds[(seed * 5 + len(asked) * 3) % len(kinds)]

    ad.set_rng_state(state)
    y = run(layers, policy, x, w)
    once = len(asked)
    y.sum().backward()
    assert len(asked) == once and {"aten.mm.default", "aten.sin.default", "aten.cat.default", "aten._softmax.default"} <= set(
        asked
    )
    assert ad.equal(x.grad, expected[0]) and ad.equal(w.grad, expected[1])


def test_what_was_kept_is_used() -> None:
    outputs, x = [], leaf(3)

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
        if op == aten.sin.default:
            assert args == (x,) and kwargs == {}
            outputs.append(context.op_output)
        return bool(op == aten.sin.default)

    def f(x: Any) -> Any:
        return x.sin().exp().cos()

    run(f, policy, x, allow_cache_entry_mutation=True).sum().backward()
    assert ad.allclose(x.grad, ad.autograd.grad(f(x).sum(), x)[0])
    y = run(f, policy, x, allow_cache_entry_mutation=True)
    outputs[-1].fill_(0.5)
    assert ad.allclose(
        ad.autograd.grad(y.sum(), x)[0], -ad.sin(ad.tensor(0.5).exp().double()) * ad.tensor(0.5).exp().double() * x.cos()
    )
    y = run(f, policy, x)
    outputs[-1].fill_(0.5)
    with pytest.raises(RuntimeError, match="has been mutated"):
        y.sum().backward()


def test_backward_uses_it_once() -> None:
    x = leaf(3)
    y = run(lambda x: x.sin().cos().exp(), [aten.sin.default], x)
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.sum().backward()


def test_runs_that_differ() -> None:
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(1)
        y = x.sin() if len(runs) == 1 else x.sin().cosh()
        return y.exp().cos()

    with pytest.raises(RuntimeError, match="aten.cosh.default encountered during backward but not found in storage"):
        run(f, [aten.exp.default], leaf(3)).sum().backward()
    runs.clear()

    def twice(x: Any) -> Any:
        runs.append(1)
        return (x.sin() if len(runs) == 1 else x.sin().sin()).exp().cos()

    with pytest.raises(RuntimeError, match="aten.sin.default invocation index 1 encountered"):
        run(twice, [aten.sin.default], leaf(3)).sum().backward()


def test_nested_policies() -> None:
    x, outside, inside = leaf(3), [], []

    def outer(context: Any, op: Any, *args: Any, **kwargs: Any) -> Policy:
        outside.append(str(op))
        return Policy.MUST_SAVE if op == aten.exp.default else Policy.MUST_RECOMPUTE

    def inner(context: Any, op: Any, *args: Any, **kwargs: Any) -> Policy:
        inside.append(str(op))
        return Policy.MUST_SAVE if op == aten.sin.default else Policy.MUST_RECOMPUTE

    def f(x: Any) -> Any:
        return run(lambda x: x.sin().exp().cos(), inner, x.cosh()).exp().tanh()

    run(f, outer, x).sum().backward()
    assert ad.allclose(x.grad, ad.autograd.grad(x.cosh().sin().exp().cos().exp().tanh().sum(), x)[0])
    assert [name.split(".")[1] for name in outside] == ["cosh", "sin", "exp", "cos", "exp", "tanh"]
    assert [name.split(".")[1] for name in inside] == ["sin", "exp", "cos"] * 2  # the outer second run runs it from the start


def test_writes_in_place_are_made_again() -> None:
    x, names = leaf(3), []

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
        names.append(str(op))
        return bool(op == aten.mul_.default)

    run(lambda x: x.sin().mul_(2.0).cos(), policy, x).sum().backward()
    assert ad.allclose(x.grad, -(2 * x.sin()).sin() * 2 * x.cos()) and "aten.mul_.default" in names


def test_kept_results_go_with_the_graph() -> None:
    gc.disable()
    try:
        x, contexts = leaf(3), saving([aten.exp.default])
        kept = weakref.ref(contexts[1])
        y = ad.utils.checkpoint.checkpoint(lambda x: x.exp().sin().cos(), x, use_reentrant=False, context_fn=[contexts].pop)
        del contexts
        assert kept() is not None
        del y
        assert kept() is None
    finally:
        gc.enable()


def test_functions_without_a_graph_and_with_failing_policies() -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise LookupError("policy")

    with ad.no_grad():
        assert not run(ad.sin, fail, leaf(3)).requires_grad
    with pytest.raises(LookupError, match="policy"):
        run(ad.sin, fail, leaf(3))
    assert ad.ones(()).sin().item() == pytest.approx(0.8414709848)


def test_operations_by_name() -> None:
    assert (
        repr(aten.mm.default) == "<OpOverload(op='aten.mm', overload='default')>" and str(aten.mm.default) == "aten.mm.default"
    )
    assert aten.mm.default in {aten.mm.out} and aten.mm.default != aten.bmm.default and aten.mm.default.name() == "aten::mm"
    assert (
        aten.mul.Tensor.overloadpacket.__name__ == "mul"
        and aten.sin.default(ad.zeros(())).item() == aten.sin(ad.zeros(())).item() == 0
    )
    with pytest.raises(NotImplementedError, match="ops.aten.nothing: there is no function"):
        aten.nothing.default()
    for wrong, error, words in [
        ([2], ValueError, "Expected op in `op_list` to be an OpOverload"),
        ([aten.sin], ValueError, "update the OpOverloadPacket to a specific OpOverload"),
        (2, TypeError, "either a function or a list of ops"),
    ]:
        with pytest.raises(error, match=words):
            saving(wrong)
