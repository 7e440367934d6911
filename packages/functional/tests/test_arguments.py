"""What goes into transforms and comes out of them: written arguments, chunks of one, values that are no tensors."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint import vmap
from adjoint.autograd import Function
from adjoint.func import grad, jacfwd, jacrev, jvp, linearize, vjp


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_arguments_that_are_not_differentiated_may_be_written_to(jacobian: Any) -> None:
    def f(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
        y.copy_(x)
        return y

    assert jacobian(f)(ad.ones(2), ad.zeros(2)).tolist() == [[1, 0], [0, 1]]

    def g(x: ad.Tensor, y: ad.Tensor, rest: list[ad.Tensor]) -> ad.Tensor:
        x[:2] = y
        rest[0].copy_(y)
        return (x**2).sum() + rest[0].sum()

    x, y = ad.tensor([1.0, 2.0, 3.0]), ad.tensor([4.0, 5.0])
    assert jacobian(g, argnums=1)(x, y, [ad.zeros(2)]).tolist() == [9, 11]
    assert x.tolist() == [4, 5, 3]

    def through(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
        y.detach().copy_(x)
        return x.sum() + y.sum()

    y = ad.zeros(2)
    assert jacobian(through)(ad.ones(2), y).tolist() == [1, 1] == y.tolist()


def test_what_is_written_keeps_its_own_history() -> None:
    w = ad.ones(2, requires_grad=True)
    scaled = grad(lambda x, w: (x * w).sum())(ad.tensor([1.0, 2.0]), w)
    assert ad.autograd.grad(scaled.sum(), w)[0].tolist() == [1, 1]
    parameter = ad.nn.Parameter(ad.ones(2))
    grad(lambda x, p: (x * p).sum() if isinstance(p, ad.nn.Parameter) else x.no_such())(ad.ones(2), parameter)


def test_a_chunk_of_one_runs_without_vmap() -> None:
    class Looks(Function):
        @staticmethod
        def forward(x: ad.Tensor) -> ad.Tensor:
            return x * 1

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: ad.Tensor) -> ad.Tensor:
            g.nonzero()
            return g

    assert jacrev(Looks.apply, chunk_size=1)(ad.ones(2)).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(RuntimeError, match="vmap: We do not support batching operators that can output dynamic shape"):
        jacrev(Looks.apply, chunk_size=2)(ad.ones(2))


def test_vmap_hands_on_what_is_not_mapped() -> None:
    x = ad.ones(2, 3)
    y, word = vmap(lambda x: (x + 1, "word"), out_dims=(0, None))(x)
    assert word == "word" and y.shape == (2, 3)
    assert vmap(lambda x: None, out_dims=None)(x) is None
    assert vmap(lambda x: x, out_dims=(1,))(x).shape == (3, 2)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"out_dims": "lol"}, ValueError, "`out_dims` must be an int, None or a python collection of ints"),
        ({"out_dims": (0, 0)}, ValueError, "out_dims is not compatible with the structure of `outputs`"),
        ({"out_dims": None}, ValueError, "can not return a BatchedTensor when out_dim is None"),
        ({"in_dims": [0]}, ValueError, r"expected `in_dims` to be int or a \(potentially nested\) tuple"),
        ({"in_dims": (0, 0)}, ValueError, "in_dims is not compatible with the structure of `inputs`"),
    ],
)
def test_dims_of_vmap_must_fit(options: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        vmap(lambda x: x, **options)(ad.ones(2, 3))


def test_tangents_must_fit() -> None:
    _, push = linearize(ad.sin, ad.ones(3))
    for tangents, match in (
        (((ad.ones(3), ad.ones(3)),), "to have the same argspec as the primals"),
        ((ad.ones(1, 3),), "in flattened pytree doesn't match the shape"),
        ((ad.ones(3, dtype=ad.float64),), "in flattened pytree doesn't match the dtype"),
    ):
        with pytest.raises(RuntimeError, match=match):
            push(*tangents)
    with pytest.raises(RuntimeError, match="Expected primals to contain at least one Tensor"):
        jvp(lambda x: x, ((),), ((),))
    assert vjp(lambda x: x * 2, ad.ones(2))[1](ad.ones(2))[0].tolist() == [2, 2]
