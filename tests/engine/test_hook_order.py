"""What hooks are given, when they move with a tensor, and what they may return."""

import math

import pytest

import adjoint as ad


def test_hooks_after_a_node_see_what_the_hooks_before_it_made():
    seen = []
    x = ad.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda grads, cotangents: seen.append((grads[0].tolist(), cotangents[0].tolist())))
    y.grad_fn.register_prehook(lambda cotangents: (cotangents[0] * 5,))
    y.sum().backward()
    assert seen == [([10, 10], [5, 5])]


def test_hooks_after_accumulation_return_nothing():
    x = ad.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad)
    with pytest.raises(RuntimeError, match=r"post accumulate grad hooks should return None, hook '<lambda>' did not"):
        x.sum().backward()
    y = ad.zeros(2, requires_grad=True)
    y.register_post_accumulate_grad_hook(lambda leaf: leaf.sub_(leaf.grad))  # a step of descent returns the leaf
    y.sum().backward()
    assert y.tolist() == [-1, -1]


def test_retain_grad_follows_every_view_of_what_is_written():
    base = ad.ones(2, requires_grad=True).clone()
    first, second = base[:], base[:]
    for t in (base, first, second):
        t.retain_grad()
    first.mul_(3)
    (first + 2 * second).sum().backward()
    assert first.grad.tolist() == [1, 1] and second.grad.tolist() == [2, 2] and base.grad.tolist() == [3, 3]


@pytest.mark.parametrize("seen_by_python", [False, True])
def test_a_gradient_that_nobody_else_holds_becomes_the_leafs(seen_by_python):
    places = []
    a, b = ad.ones(4, requires_grad=True), ad.ones(4, requires_grad=True)
    y = a + b
    if seen_by_python:
        y.register_hook(lambda g: places.append(g.data_ptr()))
    (y * 2).sum().backward()
    assert a.grad.data_ptr() != b.grad.data_ptr()
    assert not seen_by_python or places[0] in (a.grad.data_ptr(), b.grad.data_ptr())


def test_a_gradient_that_a_hook_keeps_stays_as_it_was():
    kept = []
    x = ad.ones(2, requires_grad=True)
    y = x * 3
    y.register_hook(kept.append)
    x.register_hook(kept.append)
    for again in (True, False):
        y.sum().backward(retain_graph=again)
    assert [g.tolist() for g in kept] == [[1, 1], [3, 3]] * 2 and x.grad.tolist() == [6, 6]


class Nothing(ad.autograd.Function):
    """Hands on its argument, and no gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return None


def test_hooks_are_called_for_gradients_that_are_absent():
    x = ad.ones(2, requires_grad=True)
    y, seen = x * 2, []
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("tensor", g)))
    y.grad_fn.register_prehook(lambda gs: seen.append(("before", *gs)))
    y.grad_fn.register_hook(lambda grads, gs: seen.append(("after", grads[0], *gs)))
    x.register_hook(lambda g: seen.append(("leaf", g)))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("accumulated", leaf.grad)))
    Nothing.apply(y).sum().backward()
    assert seen == [("tensor", None), ("before", None), ("after", None, None), ("leaf", None), ("accumulated", None)]
    assert y.grad is None

    first, second = x.unbind()
    first.register_hook(seen.append)
    second.backward()
    assert seen[-1] == ("accumulated", x.grad) and seen[-3] is None and x.grad.tolist() == [0, 1]


def test_hooks_of_a_lone_root_are_called_whatever_is_wanted_behind_it():
    seen = []
    x, other = ad.ones(2, requires_grad=True), ad.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.grad_fn.register_prehook(seen.append)
    ad.autograd.graph.register_multi_grad_hook((y,), seen.append, mode="all")
    ad.autograd.graph.register_multi_grad_hook((y,), lambda g: seen.append("any"), mode="any")
    assert ad.autograd.grad(y, other, ad.ones(2), allow_unused=True) == (None,) and seen == [[1, 1], "any"]
    ad.autograd.backward((y, other.sum()), (ad.ones(2), None), inputs=other)
    assert len(seen) == 2 and x.grad is None


def test_any_of_several_gradients_passes_over_tensors_without():
    seen = []
    x = ad.ones(2, requires_grad=True)
    ad.autograd.graph.register_multi_grad_hook((ad.ones(2), x), seen.append, mode="any")
    x.sum().backward()
    assert [g.tolist() for g in seen] == [[1, 1]]
    with pytest.raises(RuntimeError, match="require"):
        ad.autograd.graph.register_multi_grad_hook((ad.ones(2), x), seen.append)


def test_hooks_on_one_output_stand_together():
    seen = []
    first, second = ad.ones(2, 2, requires_grad=True).clone().unbind()
    for name, piece in (("a", second), ("b", first), ("c", second)):
        piece.register_hook(lambda g, name=name: seen.append(name))
    remove = first.register_hook(lambda g: seen.append("removed")).remove
    y = (first + second).sum()
    y.backward(retain_graph=True)
    assert seen == ["a", "c", "b", "removed"]
    second.register_hook(lambda g: remove())
    y.backward()
    assert seen[4:] == ["a", "c", "b"]


def test_a_hook_that_is_added_while_its_node_runs_is_called_after_it():
    seen = []

    def unpack(saved):
        node = ad._C._current_autograd_node()
        node.register_hook(lambda grads, cotangents: seen.append(cotangents) or tuple(g / 2 for g in grads))
        return saved

    x = ad.full((2,), 3.0, requires_grad=True)
    with ad.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp().log1p()
    y.sum().backward(retain_graph=True)
    assert seen == [(None,)] * 2 and x.grad.tolist() == pytest.approx([0.25 / (1 + math.exp(-3))] * 2)
    y.sum().backward()
    assert [c == (None,) for c in seen] == [True] * 2 + [False] * 4


def test_hooks_after_a_function_see_gradients_of_its_tensors():
    seen = []

    class Scaled(ad.autograd.Function):
        @staticmethod
        def forward(ctx, before, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return None, g * ctx.factor, None

    x = ad.ones(2, requires_grad=True)
    y = Scaled.apply("no tensor", x, 3)
    y.grad_fn.register_hook(lambda grads, cotangents: seen.append([g.tolist() for g in grads]) or (grads[0] * 2,))
    y.sum().backward()
    assert seen == [[[3, 3]]] and x.grad.tolist() == [6, 6]
    assert [n.variable for n, _ in y.grad_fn.next_functions] == [x]


@pytest.mark.parametrize(
    "register",
    [
        lambda y, f: y.register_hook(lambda g: f()),
        lambda y, f: y.grad_fn.register_prehook(lambda gs: (f(),)),
        lambda y, f: y.grad_fn.register_hook(lambda grads, gs: (f(), *grads[1:])),
    ],
)
def test_hooks_make_no_gradient_out_of_nothing(register):
    x = ad.ones(2, requires_grad=True)
    y = x * 2
    register(y, lambda: ad.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        Nothing.apply(y).sum().backward()


@pytest.mark.parametrize("place", ["tensor", "pre", "post", "accumulated"])
def test_what_hooks_add_and_remove_counts_from_the_next_time_on(place):
    x = ad.ones(2, requires_grad=True)
    y, calls = x * 2, []
    register = {
        "tensor": y.register_hook,
        "pre": y.grad_fn.register_prehook,
        "post": y.grad_fn.register_hook,
        "accumulated": x.register_post_accumulate_grad_hook,
    }[place]

    def first(*_):
        calls.append("first")
        second.remove()
        if calls.count("first") == 1:
            register(lambda *_: calls.append("added"))

    register(first)
    second = register(lambda *_: calls.append("second"))
    y.sum().backward(retain_graph=True)
    assert calls == ["first", "second"]
    y.sum().backward()
    assert calls[2:] == ["first", "added"]


def test_backward_into_a_result_runs_the_hooks_of_its_node():
    x, calls = ad.ones(2, requires_grad=True), []
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: calls.append("before"))
    y.grad_fn.register_hook(lambda grads, gs: calls.append("after"))
    y.register_hook(lambda g: calls.append("tensor") or g * 3)
    y.sum().backward(inputs=(y,))
    assert calls == ["tensor", "before", "after"] and y.grad.tolist() == [3, 3] and x.grad is None


def test_hooks_after_a_leafs_node_see_what_was_accumulated():
    x = ad.ones(2, requires_grad=True)
    node = ad.autograd.graph.get_gradient_edge(x).node
    x.register_post_accumulate_grad_hook(lambda leaf: [leaf.grad.add_(0.5)] and None)
    node.register_prehook(lambda gs: (gs[0] * 3,))
    node.register_hook(lambda _, gs: setattr(x, "grad", gs[0] * 10))
    x.sum().backward()
    assert x.grad.tolist() == [35, 35]


def test_the_node_that_runs_is_known_in_hooks():
    x = ad.ones(2, requires_grad=True)
    y, seen = x * 2, []
    for register in (x.register_hook, y.register_hook, y.grad_fn.register_prehook):
        register(lambda g: seen.append(ad._C._current_autograd_node()))
    y.sum().backward()
    assert seen == [y.grad_fn, y.grad_fn, y.grad_fn.next_functions[0][0]] and ad._C._current_autograd_node() is None


@pytest.mark.parametrize("retained", [False, True])
@pytest.mark.parametrize("by_edge", [False, True])
def test_backward_into_a_result_retains_its_gradient_once(retained, by_edge):
    x = ad.ones(2, requires_grad=True)
    y = x * 2
    if retained:
        y.retain_grad()
    root = ad.autograd.graph.get_gradient_edge(y.sum()) if by_edge else y.sum()
    ad.autograd.backward(root, inputs=[y], retain_graph=True)
    assert y.grad.tolist() == [1, 1] and y.retains_grad and x.grad is None
    y.sum().backward()
    assert y.grad.tolist() == [2, 2] and x.grad.tolist() == [2, 2]
