"""Hooks on tensors, leaves, nodes and groups: order, replacement, removal."""

import gc
import weakref

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import graph


def leaf(*values):
    return ad.tensor(values or (1.0, 2.0), requires_grad=True)


def test_order_around_a_node():
    calls = []
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: calls.append("tensor"))
    y.grad_fn.register_prehook(lambda gs: calls.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: calls.append("post"))
    x.register_hook(lambda g: calls.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: calls.append(p.grad.tolist()))
    y.sum().backward()
    assert calls == ["tensor", "pre", "post", "leaf", [2.0, 2.0]]


@pytest.mark.parametrize("place", ["tensor", "pre", "post", "leaf"])
def test_what_a_hook_returns_replaces_the_gradient(place):
    x = leaf()
    y = x * 2
    {
        "tensor": lambda: y.register_hook(lambda g: g * 10),
        "pre": lambda: y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,)),
        "post": lambda: y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, *gi[1:])),
        "leaf": lambda: x.register_hook(lambda g: g * 10),
    }[place]()
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_hooks_chain_and_retain_grad_sees_the_last():
    x = leaf()
    y = x * 1
    y.retain_grad()
    for factor in (2, 3, 5):
        y.register_hook(lambda g, factor=factor: g * factor)
    y.sum().backward()
    assert y.grad.tolist() == [30.0, 30.0] == x.grad.tolist()


@pytest.mark.parametrize("how", ["remove", "with", "twice", "during"])
def test_removal(how):
    x, calls = leaf(), []
    handle = x.register_hook(lambda g: calls.append(1) or (handle.remove() if how == "during" else None))
    if how == "with":
        with handle:
            pass
    elif how != "during":
        handle.remove()
        if how == "twice":
            handle.remove()
    for _ in range(2):
        (x * 2).sum().backward()
    assert len(calls) == (how == "during")


@pytest.mark.parametrize("wrong", [lambda g: 3, lambda g: g.sum(), lambda g: g.to(ad.float64)])
def test_wrong_results_are_told(wrong):
    x = leaf()
    x.register_hook(wrong)
    with pytest.raises((RuntimeError, TypeError)):
        (x * 2).sum().backward()


def test_tensors_without_gradient_take_no_hooks():
    for register in (
        lambda t: t.register_hook(id),
        lambda t: t.register_post_accumulate_grad_hook(id),
        lambda t: t.retain_grad(),
    ):
        with pytest.raises(RuntimeError, match="requires_grad=False|doesn't require grad"):
            register(ad.ones(1))
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf() * 2).register_post_accumulate_grad_hook(id)


def test_multi_grad_hooks_follow_each_backward():
    calls = []
    a, b = leaf(), leaf()
    c, d = a * b, a * b
    handle = graph.register_multi_grad_hook((a, b, c, d), lambda gs: calls.append([g is not None for g in gs]))
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    (c + d).sum().backward(retain_graph=True)
    handle.remove()
    c.sum().backward()
    assert calls == [[True, True, True, False], [True, False, True, False], [True] * 4]


def test_multi_grad_hooks_of_mode_any_run_once_a_backward():
    calls = []
    a, b = leaf(), leaf()
    c = a * b
    graph.register_multi_grad_hook((a, b), calls.append, mode="any")
    for n in (1, 2):
        c.sum().backward(retain_graph=True)
        assert len(calls) == n
    with pytest.raises(ValueError, match="mode"):
        graph.register_multi_grad_hook((a,), id, mode="some")


def test_a_backward_inside_a_hook_is_its_own():
    a, b, inner = leaf(), leaf(), []
    graph.register_multi_grad_hook((a, b), lambda gs: inner.append(len(gs)))
    y = a * 3
    y.register_hook(ad.enable_grad()(lambda g: (leaf() * 2).sum().backward()))
    (y * b).sum().backward()
    assert inner == [2] and a.grad.tolist() == [3.0, 6.0]


def test_hook_dicts_of_old():
    x = leaf()
    y = x * 2
    y._backward_hooks = {0: lambda g: g * 7}
    y.grad_fn._register_hook_dict(y)
    y.sum().backward()
    assert x.grad.tolist() == [14.0, 14.0]


def test_hooks_see_create_graph():
    x, states = leaf(), []
    y = x * x
    y.register_hook(lambda g: states.append(ad.is_grad_enabled()))
    autograd.grad(y.sum(), x, create_graph=True)
    autograd.grad(y.sum(), x)
    assert states == [True, False]


@pytest.mark.parametrize("cut", [lambda y: y.unbind(), lambda y: y.split(1), lambda y: y.chunk(2)])
def test_pieces_of_a_hooked_tensor(cut):
    x, seen = leaf(), []
    y = x * 2
    y.register_hook(seen.append)
    a, b = cut(y)
    assert a.grad_fn is b.grad_fn
    (a * b).sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [4.0 * v for v in reversed(x.tolist())]


@pytest.mark.parametrize("place", ["tensor", "pre", "post"])
def test_a_hook_may_remove_itself_and_run_a_backward(place):
    x = leaf()
    y = x * x

    def hook(*args):
        handle.remove()
        with ad.enable_grad():
            inner = leaf()
            (inner * 2).sum().backward()
        replaced = {"tensor": args[0], "pre": args[0], "post": args[0]}[place]
        return replaced + inner.grad if place == "tensor" else tuple(g + inner.grad for g in replaced)

    register = {"tensor": y.register_hook, "pre": y.grad_fn.register_prehook, "post": y.grad_fn.register_hook}[place]
    handle = register(hook)
    y.sum().backward(retain_graph=True)
    first = x.grad.tolist()
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0] != first


def test_callbacks_may_queue_callbacks_and_run_backwards():
    order, queue = [], autograd.Variable._execution_engine.queue_callback

    def first():
        order.append("first")
        queue(lambda: order.append("queued by first"))
        (leaf() * 2).sum().backward()

    y = leaf() * 3
    y.register_hook(lambda g: [queue(first), queue(lambda: order.append("second"))] and None)
    y.sum().backward()
    assert order == ["first", "second", "queued by first"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        queue(print)


def test_after_an_error_no_callback_is_left():
    order, queue = [], autograd.Variable._execution_engine.queue_callback

    def boom():
        raise ValueError("boom")

    y = leaf() * 3
    y.register_hook(lambda g: [queue(boom), queue(lambda: order.append("late"))] and None)
    with pytest.raises(ValueError, match="boom"):
        y.sum().backward()
    (leaf() * 2).sum().backward()
    assert order == []


def _node_hook(x, hook):
    x.grad_fn.register_hook(lambda gi, go: (hook(gi[0]), *gi[1:]))


def _node_prehook(x, hook):
    x.grad_fn.register_prehook(lambda go: (hook(go[0]),))


@pytest.mark.parametrize("register", [_node_hook, _node_prehook, lambda x, hook: x.register_hook(hook)])
@pytest.mark.parametrize("dtype", [ad.float64, ad.complex64])
def test_hooks_may_not_change_the_type(register, dtype):
    y = leaf() * 2
    register(y, lambda g: g.to(dtype))
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        y.sum().backward()


@pytest.mark.parametrize(
    "register",
    [
        lambda x, f: x.register_hook(f),
        lambda x, f: x.register_post_accumulate_grad_hook(f),
        lambda x, f: graph.get_gradient_edge(x).node.register_hook(f),
        lambda x, f: graph.register_multi_grad_hook((x,), f),
    ],
)
def test_a_kept_handle_lets_its_owner_go(register):
    class Module:
        def __init__(self):
            self.weight = leaf()
            self.handle = register(self.weight, self.seen)

        def seen(self, *grads):
            pass

    module = Module()
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None


def test_removed_hooks_leave_no_trace():
    x = leaf()
    for _ in range(3000):
        x.register_hook(lambda g: g * 0).remove()
    kept = x.register_hook(lambda g: g * 3)
    x.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    kept.remove()
    kept.remove()
    x.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_the_first_gradient_is_reported_once_whatever_runs_in_between():
    a, b = leaf(), leaf()
    calls = []
    graph.register_multi_grad_hook((a, b), calls.append, mode="any")
    y = b * 1

    def inner(g):
        with ad.enable_grad():
            (a * 1).sum().backward()

    y.register_hook(inner)
    (y.sum() + (a * 1).sum()).backward()
    assert len(calls) == 2  # once for each of the two backwards
