"""What hooks are given, when they move with a tensor, and what they may return."""

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
