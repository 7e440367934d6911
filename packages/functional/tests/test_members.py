"""vmap of functions that look at the values of their arguments: what a loop over the members gives."""

from __future__ import annotations

import pytest

import adjoint as ad
from adjoint import vmap
from adjoint.func import grad, jvp
from adjoint.nn import functional as F  # noqa: N812


def jvp_of(f):
    return lambda x, *rest: jvp(lambda x: f(x, *rest), (x,), (x.cos(),))[1]


def looped(f, *stacked):
    return ad.stack([f(*members) for members in zip(*stacked, strict=True)])


def test_argwhere() -> None:
    x = ad.tensor([[[0, 2, 3], [1, 0, 0]], [[4, 0, 0], [1, 1, 0]]])
    assert vmap(ad.argwhere)(x).equal(looped(ad.argwhere, x))
    assert vmap(vmap(ad.argwhere))(x[:, :1, 1:] + 1).shape == (2, 1, 2, 1)
    assert vmap(ad.argwhere)(ad.ones(2)).shape == (2, 1, 0)
    with pytest.raises(RuntimeError, match="argwhere: vmap: the members of the batch must have as many .* between 2 and 3"):
        vmap(ad.argwhere)(ad.tensor([[1, 1, 0], [1, 1, 1]]))


def test_ctc_loss_with_lengths_of_each_member() -> None:
    logits = ad.randn(2, 5, 3, 4, requires_grad=True)
    targets = ad.tensor([[[1, 2], [3, 1], [2, 2]], [[1, 1], [3, 3], [2, 1]]])
    steps, lengths = ad.tensor([[5, 4, 5], [5, 5, 3]]), ad.tensor([[2, 1, 2], [1, 2, 2]])

    def f(x, *rest):
        return F.ctc_loss(x.log_softmax(2), *rest, reduction="none")

    found, expected = vmap(f)(logits, targets, steps, lengths), looped(f, logits, targets, steps, lengths)
    assert found.allclose(expected)
    (a,), (b,) = (ad.autograd.grad(y.sum(), logits) for y in (found, expected))
    assert a.allclose(b)
    each = vmap(grad(lambda *given: f(*given).sum()))(logits, targets, steps, lengths)
    assert each.allclose(b)
    assert vmap(jvp_of(f))(logits, targets, steps, lengths).allclose(looped(jvp_of(f), logits, targets, steps, lengths))
    twice = vmap(vmap(grad(lambda *given: f(*given).sum()), (None, None, 0, 0)), (0, 0, None, None))(
        logits, targets, steps, lengths
    )
    assert twice.shape == (2, 2, 5, 3, 4) and twice[0, 0].allclose(b[0]) and twice[1, 1].allclose(b[1])
    with pytest.raises(RuntimeError, match="at most 5"):
        vmap(f)(logits, targets, steps + 1, lengths)


def test_ctc_loss_of_labels_in_a_line() -> None:
    logits, lines = ad.randn(2, 5, 3, 4), ad.tensor([[1, 2, 3, 1, 2], [1, 3, 3, 2, 1]])
    steps, lengths = ad.tensor([[5, 4, 5], [5, 5, 3]]), ad.tensor([[2, 1, 2], [0, 3, 2]])

    def f(x, *rest):
        return F.ctc_loss(x.log_softmax(2), *rest, reduction="none")

    rows = ad.tensor([[[1, 2, 0], [3, 0, 0], [1, 2, 0]], [[0, 0, 0], [1, 3, 3], [2, 1, 0]]])
    assert vmap(f)(logits, lines, steps, lengths).allclose(vmap(f)(logits, rows, steps, lengths))
    assert looped(f, logits, lines, steps, lengths).allclose(looped(f, logits, rows, steps, lengths))
    with pytest.raises(RuntimeError, match="expected at least 6 targets, got 5"):
        vmap(f)(logits, lines, steps, lengths + ad.tensor([[0, 0, 0], [1, 0, 0]]))


@pytest.mark.parametrize("bags", [False, True])
def test_embedding_shortens_the_rows_of_each_member(bags: bool) -> None:
    weight, at = ad.randn(2, 4, 3) * 3, ad.tensor([[[0, 2]], [[1, 1]]])
    call = F.embedding_bag if bags else F.embedding
    own = [w.clone() for w in weight]
    expected = ad.stack([call(i, w, max_norm=1.0) for i, w in zip(at, own, strict=True)])
    assert vmap(lambda i, w: call(i, w, max_norm=1.0))(at, weight).allclose(expected)
    assert weight.allclose(ad.stack(own))
    with pytest.raises(RuntimeError, match="max_norm shortens rows of weight, which are not each member's own"):
        vmap(lambda i: call(i, weight[0], max_norm=1.0))(at)


def test_embedding_keeps_the_tangent_of_rows_it_shortens() -> None:
    weight, tangent, at = ad.ones(2, 3), ad.randn(2, 3), ad.tensor([1])
    with ad.autograd.forward_ad.dual_level():
        dual = ad.autograd.forward_ad.make_dual(weight, tangent)
        found = ad.autograd.forward_ad.unpack_dual(F.embedding(at, dual, max_norm=1.0))
    assert found.primal.allclose(ad.full((1, 3), 3**-0.5))
    assert found.tangent.equal(tangent[1:])


def test_embedding_counts_the_rows_of_each_member() -> None:
    weight, at = ad.randn(2, 4, 3), ad.tensor([[0, 0, 2], [1, 3, 3]])

    def slope(w, i):
        return ad.func.grad(lambda w: (F.embedding(i, w, padding_idx=3, scale_grad_by_freq=True) ** 2).sum())(w)

    assert vmap(slope)(weight, at).allclose(looped(slope, weight, at))


ROWS = {
    "plain": {},
    "max_norm": {"max_norm": 1.0},
    "freq": {"scale_grad_by_freq": True},
    "padding": {"padding_idx": 1, "max_norm": 1.0},
}
WHERE = {
    "both, both": (lambda h, i, w: vmap(vmap(h))(i, w), lambda a, b: (a, b, a, b)),
    "input, weight": (lambda h, i, w: vmap(lambda i: vmap(lambda w: h(i, w))(w[0]))(i[:, 0]), lambda a, b: (a, 0, 0, b)),
    "weight, input": (lambda h, i, w: vmap(lambda w: vmap(lambda i: h(i, w))(i[0]))(w[:, 0]), lambda a, b: (0, b, a, 0)),
    "both, weight": (lambda h, i, w: vmap(lambda i, w: vmap(lambda w: h(i, w))(w))(i[:, 0], w), lambda a, b: (a, 0, a, b)),
    "both, input": (lambda h, i, w: vmap(lambda i, w: vmap(lambda i: h(i, w))(i))(i, w[:, 0]), lambda a, b: (a, b, a, 0)),
    "input, both": (lambda h, i, w: vmap(lambda i: vmap(h)(i, w[0]))(i), lambda a, b: (a, b, 0, b)),
    "weight, weight": (lambda h, i, w: vmap(vmap(lambda w: h(i[0, 0], w)))(w), lambda a, b: (0, 0, a, b)),
}
"""What two batches have members of, the outer one first; and which entries member (a, b) then sees."""


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("of_gradients", [False, True])
def test_embedding_in_two_batches(where: str, rows: str, of_gradients: bool) -> None:
    """What a loop gives, and writes into the weight; or max_norm is refused, where members would share what it writes to."""

    def call(i, w):
        return F.embedding(i, w, **ROWS[rows])

    def h(i, w):
        return grad(lambda w: call(i, w).square().sum())(w) if of_gradients else call(i, w)

    at, weight = ad.arange(24).view(2, 3, 4) % 4, ad.randn(2, 3, 4, 3) * 2
    looped_over, (batched, seen) = weight.clone(), WHERE[where]
    entries = [[seen(a, b) for b in range(3)] for a in range(2)]
    expected = ad.stack([ad.stack([h(at[a, b], looped_over[c, d]) for a, b, c, d in line]) for line in entries])
    if ROWS[rows].get("max_norm") and where not in ("both, both", "both, weight", "weight, weight"):
        with pytest.raises(RuntimeError, match="max_norm shortens rows"):
            batched(h, at, weight)
        return
    assert batched(h, at, weight).allclose(expected)
    assert weight.allclose(looped_over)
