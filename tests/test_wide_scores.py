"""Functions of exponentials where these leave the normal numbers: beside float64, values and gradients."""

import numpy as np
import pytest

import adjoint as ad

F = ad.nn.functional

FUNCTIONS = {
    "softmax": lambda x: F.softmax(x, -1),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "logsumexp": lambda x: ad.logsumexp(x, -1),
    "columns": lambda x: F.log_softmax(x, 0),
    "tanh": ad.tanh,
    "gelu": F.gelu,
    "softplus": F.softplus,
    "logsigmoid": F.logsigmoid,
    "mish": F.mish,
    "sigmoid": ad.sigmoid,
    "exp": lambda x: ad.exp(-x.abs()),
    "bce": lambda x: F.binary_cross_entropy_with_logits(x, ad.ones_like(x), reduction="none"),
    # The scores are x, the weights the result.
    "attention": lambda x: F.scaled_dot_product_attention(
        ad.eye(33, dtype=x.dtype), x.mT, ad.eye(70, dtype=x.dtype), scale=1.0
    ),
}


def scores(scale):
    x = np.random.default_rng(0).standard_normal((33, 70)) * scale
    x[0, :8] = [0.0, -0.0, 86.9, -87.2, -88.0, -103.9, -105.0, 500.0]
    return x.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("scale", [1.0, 20.0, 60.0, 1000.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name, scale):
    found = []
    for dtype in (ad.float32, ad.float64):
        x = ad.from_numpy(scores(scale)).to(dtype).requires_grad_()
        y = FUNCTIONS[name](x)
        found.append([t.detach().to(ad.float64).numpy() for t in (y, *ad.autograd.grad(y.sum(), x))])
    size = max(np.abs(found[1][0]).max(), 1.0)
    for got, exact in zip(*found, strict=True):
        np.testing.assert_allclose(got, exact, rtol=2e-6, atol=1e-6 * size if name != "exp" else 2e-45)


def test_small_tails_stay():
    """Only what is added to 1 or more may lose its subnormal numbers."""
    x = ad.tensor([-90.0, -95.0, -100.0])
    for f in (ad.exp, F.softplus, ad.sigmoid, lambda x: F.softmax(ad.stack([x, ad.zeros_like(x)]), 0)[0]):
        np.testing.assert_allclose(f(x).numpy(), np.exp(x.numpy().astype(np.float64)), atol=3e-45, rtol=1e-4)
    assert ad.tanh(ad.tensor([1e30, -1e30, float("inf"), -float("inf")])).tolist() == [1.0, -1.0, 1.0, -1.0]
    assert ad.tanh(ad.tensor(float("nan"))).isnan()


def test_a_large_cotangent_meets_small_probabilities():
    """Along rows as along columns: what multiplies is not what is added."""
    x = ad.tensor([0.0, -90.0, -100.0, -87.2])
    rows, columns = (f(x.clone().requires_grad_()) for f in (_large_gradient, lambda t: _large_gradient(t, 0)))
    np.testing.assert_allclose(rows.numpy(), columns.numpy(), rtol=1e-3)
    assert (rows[1:] < 0).all()


def _large_gradient(x, dim=1):
    t = x[None] if dim == 1 else x[:, None]
    y = F.log_softmax(t, dim)
    return ad.autograd.grad((y[0, 0] * 1e30), x)[0]


def test_a_loss_that_is_nearly_none():
    x = ad.tensor([5.0, 10.0, 15.0, 17.0, 30.0])
    loss = F.binary_cross_entropy_with_logits(x, ad.ones(5), reduction="none")
    np.testing.assert_allclose(loss.numpy(), np.log1p(np.exp(-x.numpy().astype(float))), rtol=1e-5)


@pytest.mark.parametrize("weight", [None, 1e-3, 5.0])
@pytest.mark.parametrize("target", [0.0, 0.25, 1.0])
def test_losses_of_scores_have_all_digits(target, weight):
    x = ad.linspace(-80, 80, 33, requires_grad=True)
    pos_weight = None if weight is None else ad.tensor(weight)
    loss = F.binary_cross_entropy_with_logits(x, ad.full_like(x, target), pos_weight=pos_weight, reduction="none")
    wide, p = x.detach().double().numpy(), 1 if weight is None else weight
    expected = (1 - target) * np.logaddexp(0, wide) + p * target * np.logaddexp(0, -wide)
    np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-6)
    if weight is not None:
        slope = (1 - target) / (1 + np.exp(-wide)) - p * target / (1 + np.exp(wide))
        sizes = (1 - target) / (1 + np.exp(-wide)) + p * target / (1 + np.exp(wide))
        (g,) = ad.autograd.grad(loss.sum(), x)
        assert (np.abs(g.numpy() - slope) <= 1e-6 * sizes).all()
