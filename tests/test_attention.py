"""The record of attention, which GPUs take: values, derivatives of any order and lanes, against products and a softmax."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint_core import _core

attend = _core._attention
SCALE = 0.4


def operands(dtype=ad.float64, sizes=(2, 3), queries=4, keys=5):
    shapes = ((*sizes, queries, 3), (*sizes, keys, 3), (*sizes, keys, 2))
    return [(ad.arange(math.prod(s), dtype=ad.float64) * (0.7 + 0.1 * i)).sin().view(s).to(dtype) for i, s in enumerate(shapes)]


def masks(which):
    """(2, 3, 4, 5), or what broadcasts to it."""
    if which == "none":
        return None
    shape = {"one": (1, 1, 4, 5), "keys": (2, 1, 1, 5), "all": (2, 3, 4, 5)}[which]
    m = (ad.arange(math.prod(shape), dtype=ad.float64) * 1.3).cos().view(shape)
    m = m.masked_fill(m > 0.9, -math.inf)
    m[..., 0] = 0.3  # a query that sees nothing has no weights
    return m


def composed(q, k, v, mask, scale, causal):
    s = q @ k.mT * scale
    s = s if mask is None else s + mask
    if causal:
        s = ad.where(ad.ones(s.shape[-2:], dtype=ad.bool).tril(), s, -math.inf)
    return s.softmax(-1) @ v


CASES = pytest.mark.parametrize(("which", "causal"), [(w, c) for w in ("none", "one", "keys", "all") for c in (False, True)])


@CASES
def test_values_and_gradients(which, causal):
    def run(f):
        given = [x.requires_grad_() for x in operands()]
        mask = masks(which)
        if mask is not None:
            given.append(mask.requires_grad_())
        y = f(*given[:3], mask, SCALE, causal)
        return [y.detach(), *ad.autograd.grad((y * y).sum(), given)]

    for found, expected in zip(run(attend), run(composed), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 70, 90), (2, 1, 1, 90), (1, 3, 70, 1), (2, 3, 70, 90), (1, 1, 1, 1)])
def test_masks_over_blocks(shape, causal):
    mask = (ad.arange(math.prod(shape), dtype=ad.float64) * 1.3).cos().view(shape)

    def run(f):
        given = [x.requires_grad_() for x in operands(queries=70, keys=90)]
        y = f(*given, mask, SCALE, causal)
        return [y.detach(), *ad.autograd.grad((y * y).sum(), given)]

    for found, expected in zip(run(attend), run(composed), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("keys", [2, 4, 6])
@pytest.mark.parametrize("lead", [(4,), (2, 1, 4), (1,)])
def test_a_causal_mask_and_another_one(keys, lead):
    attention = ad.nn.functional.scaled_dot_product_attention
    q, k, v = operands(keys=keys)
    mask = (ad.arange(math.prod(lead) * keys, dtype=ad.float64) * 1.3).cos().view(*lead, keys)
    earlier = ad.ones(4, keys, dtype=ad.bool).tril()
    for given, both in (
        (mask, mask.masked_fill(~earlier, -math.inf)),
        (mask > 0, (mask > 0) & earlier),
    ):  # some queries see nothing
        np.testing.assert_array_equal(attention(q, k, v, given, is_causal=True).numpy(), attention(q, k, v, both).numpy())


@CASES
def test_derivatives_of_any_order(which, causal):
    mask = masks(which)
    f = lambda *x: attend(*x, mask, SCALE, causal)  # noqa: E731
    given = [x.requires_grad_() for x in operands(sizes=(2, 3) if which != "none" else (1, 2))]
    assert ad.autograd.gradcheck(f, given, check_forward_ad=True, check_batched_grad=True, fast_mode=True)
    assert ad.autograd.gradgradcheck(f, given, fast_mode=True)


@CASES
def test_dropout(which, causal):
    """The weights that `dropout` drops, in values, derivatives of any order and tangents."""
    p = 0.4

    def dropped(q, k, v, mask, scale, causal):
        return ad.nn.functional.dropout(composed(q, k, ad.eye(5, dtype=ad.float64), mask, scale, causal), p) @ v

    def run(f):
        ad.manual_seed(2)
        given = [x.requires_grad_() for x in operands()]
        mask = masks(which)
        if mask is not None:
            given.append(mask.requires_grad_())
        y = f(*given[:3], mask, SCALE, causal)
        gradients = ad.autograd.grad((y * y).sum(), given, retain_graph=True)
        again = ad.autograd.grad((y * y).sum(), given, create_graph=True)
        second = ad.autograd.grad(sum((g * g).sum() for g in again), given)
        ad.manual_seed(2)
        with ad.autograd.forward_ad.dual_level():
            duals = [ad.autograd.forward_ad.make_dual(x.detach(), x.detach().cos()) for x in given]
            tangent = ad.autograd.forward_ad.unpack_dual(f(*duals[:3], [*duals, None][3], SCALE, causal)).tangent
        return [y.detach(), *gradients, *again, *second, tangent, ad.rand(2, dtype=ad.float64)]

    for a, b in zip(run(lambda *x: attend(*x, p)), run(dropped), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_dropout_of_lanes(randomness):
    def run(f):
        ad.manual_seed(2)
        return ad.vmap(f, randomness=randomness)(*(x.unsqueeze(1) for x in operands(sizes=(3, 2)))).numpy()

    expected = run(lambda q, k, v: ad.nn.functional.dropout((q @ k.mT * SCALE).softmax(-1), 0.4) @ v)
    np.testing.assert_allclose(run(lambda q, k, v: attend(q, k, v, None, SCALE, False, 0.4)), expected, rtol=1e-12, atol=1e-13)


def test_lanes():
    q, k, v = operands(sizes=(3, 2))
    mask = ad.zeros(1, 1, 4, 5, dtype=ad.float64)
    f = lambda q, k, v: attend(q, k, v, mask, SCALE, True)  # noqa: E731
    lanes = [x.view(3, 1, *x.shape[1:]) for x in (q, k, v)]
    assert ad.vmap(f)(*lanes).view(3, 2, 4, 2).tolist() == f(q, k, v).tolist()
    one_key = ad.vmap(f, in_dims=(0, None, None))(lanes[0], lanes[1][0], lanes[2][0])
    assert one_key[2].tolist() == f(lanes[0][2], lanes[1][0], lanes[2][0]).tolist()


@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.bfloat16], ids=lambda t: t.name)
def test_element_types(dtype):
    def run(f, dtype):
        given = [x.to(dtype).requires_grad_() for x in operands(ad.bfloat16)]
        y = f(*given, None, SCALE, True)
        assert y.dtype == dtype
        return [t.to(ad.float64).numpy() for t in (y.detach(), *ad.autograd.grad(y, given, ad.ones_like(y)))]

    for found, expected in zip(run(attend, dtype), run(composed, ad.float64), strict=True):
        np.testing.assert_allclose(found, expected, atol={"float32": 1e-6, "float16": 2e-3, "bfloat16": 1e-2}[dtype.name])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda q, k, v, m: (q[0], k, v, m), ad.ShapeError, "four dimensions"),
        (lambda q, k, v, m: (q[:1], k, v, m), ad.ShapeError, "batch and heads"),
        (lambda q, k, v, m: (q, k[..., :2], v, m), ad.ShapeError, "same features"),
        (lambda q, k, v, m: (q, k, v[:, :, :3], m), ad.ShapeError, "same length"),
        (lambda q, k, v, m: (q, k, v.float(), m), TypeError, "one floating-point type"),
        (lambda q, k, v, m: (q.long(), k.long(), v.long(), None), TypeError, "one floating-point type"),
        (lambda q, k, v, m: (q, k, v, m[..., :4]), ad.ShapeError, "mask must be"),
        (lambda q, k, v, m: (q, k, v, m.float()), ad.ShapeError, "mask must be"),
    ],
)
def test_bad_operands(change, error, text):
    with pytest.raises(error, match=f"^attention: .*{text}"):
        attend(*change(*operands(), masks("one")), SCALE, False)


@pytest.mark.parametrize("kind", ["bool", "added"])
def test_queries_that_see_nothing(kind):
    """They get 0, and give no gradient, whatever the others do."""
    q, k, v = (ad.randn(2, 3, 4, 5, dtype=ad.float64, requires_grad=True) for _ in range(3))
    sees = ad.tensor([[True, False, True, True], [False] * 4, [True] * 4, [False] * 4])
    mask = sees if kind == "bool" else ad.zeros(4, 4, dtype=ad.float64).masked_fill(~sees, -float("inf"))
    y = ad.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    assert (y[:, :, 1::2] == 0).all() and y.isfinite().all()
    others = ad.nn.functional.scaled_dot_product_attention(q[:, :, ::2], k, v, mask[::2])
    assert ad.allclose(y[:, :, ::2], others)
    found, expected = (ad.autograd.grad(t.square().sum(), (q, k, v)) for t in (y, others))
    assert all(ad.allclose(a, b) for a, b in zip(found, expected))
