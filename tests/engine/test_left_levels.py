"""Tensors that outlive their level, and duals whose parts are written to: clear errors, or what the tensor is without its level."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint import func
from adjoint.autograd import forward_ad


def left(x: Any) -> Any:
    """What a function saw of `x` inside of forward mode, which has ended."""
    kept = []

    def f(x: Any) -> Any:
        kept.append(x)
        return x * 2

    func.jvp(f, (x,), (ad.ones_like(x),))
    return kept[0]


def test_hooks_on_what_left_its_level():
    x = ad.ones(3, requires_grad=True)
    t, seen = left(x), []
    assert t.requires_grad
    t.register_hook(lambda g: seen.append(g.tolist()))
    ad.autograd.graph.register_multi_grad_hook([t], lambda g: seen.append(len(g)))
    assert len(t._backward_hooks) == 2
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf"):
        t.register_post_accumulate_grad_hook(lambda t: None)
    (t * 3).sum().backward()
    assert sorted(map(str, seen)) == ["1", "[3.0, 3.0, 3.0]"] and x.grad.tolist() == [3.0] * 3


def test_shapes_changed_in_place_of_what_left_its_level():
    x = ad.arange(3.0)
    t = left(x)
    t.unsqueeze_(0)
    assert t.shape == (1, 3) and (t * 2).tolist() == [[0.0, 2.0, 4.0]]
    t.t_()
    assert t.shape == (3, 1) and x.shape == (3,)


@pytest.mark.parametrize("write", ["add_", "mul_", "copy_"])
def test_a_tangent_that_is_written_to_with_its_own_dual(write):
    with forward_ad.dual_level():
        tangent = ad.ones(3)
        x = forward_ad.make_dual(ad.full((3,), 2.0), tangent)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="the primal or tangent of a dual tensor was written to"):
                getattr(tangent, write)(x)
        assert tangent.tolist() == [1.0] * 3
        assert forward_ad.unpack_dual(x * x).tangent.tolist() == [4.0] * 3


def test_a_sparse_dual_has_a_sparse_tangent():
    with forward_ad.dual_level():
        x = ad.eye(2)
        for pair in ((x.to_sparse(), x), (x, x.to_sparse())):
            with pytest.raises(
                RuntimeError,
                match="another layout than that of the original Tensor, this is not supported: (sparse_coo|strided) and (sparse_coo|strided)",
            ):
                forward_ad.make_dual(*pair)


LOOKS = {
    "dual": lambda x: x,
    "view": lambda x: x.diagonal(),
    "view of a view": lambda x: x.diagonal()[1:],
    "row": lambda x: x[1],
    "turned": lambda x: x.t(),
}


@pytest.mark.parametrize("which", LOOKS)
def test_what_left_its_level_is_written_to(which):
    """Values, and what of them came of `factor`, in the dual tensor and in all of its views."""
    x = ad.arange(1.0, 7).reshape(2, 3)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ad.ones(2, 3))
        seen = {name: look(dual) for name, look in LOOKS.items()}
    factor = ad.tensor(3.0, requires_grad=True)
    values, written = x.clone(), ad.zeros(2, 3)
    LOOKS[which](written).copy_(LOOKS[which](values))
    LOOKS[which](values).mul_(3)
    seen[which].mul_(factor)
    assert x.tolist() == values.tolist()
    for name, look in LOOKS.items():
        assert seen[name].tolist() == look(values).tolist()
        assert ad.autograd.grad(seen[name].sum(), factor, retain_graph=True)[0] == look(written).sum()


@pytest.mark.parametrize("written", ["dual", "view"])
@pytest.mark.parametrize("late", [lambda d, v: d[1:], lambda d, v: v[1:].t()])
def test_views_made_after_the_level(late, written):
    x = ad.arange(12.0).reshape(3, 4)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ad.ones(3, 4))
        view = dual.t()
    after = late(dual, view)
    w = ad.ones(4, requires_grad=True)
    (dual if written == "dual" else view.t()).copy_(w.expand(3, 4))
    assert after.requires_grad and x.requires_grad and dual.requires_grad
    assert ad.autograd.grad(dual.sum() + after.sum(), w)[0].sum() == 12 + after.numel()


def test_a_view_that_left_its_level_changes_its_shape():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(ad.arange(12.0).reshape(4, 3), ad.ones(4, 3))
        view = dual[1:]
    w, weights = ad.ones(3, requires_grad=True), ad.arange(9.0).reshape(3, 3)
    view.t_()
    dual.add_(w)
    assert view.tolist() == [[4, 7, 10], [5, 8, 11], [6, 9, 12]]
    assert ad.autograd.grad((view * weights).sum(), w)[0].tolist() == [3, 12, 21]


def test_a_leaf_is_not_written_to_through_what_left_its_level():
    x = ad.zeros(3, 2, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ad.ones(3, 2))
        view = dual[1:]
    for t in (dual, view):
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            t.mul_(3)
    (dual * 2).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0]] * 3
