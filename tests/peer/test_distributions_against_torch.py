"""Every distribution beside PyTorch's: shapes, densities, moments, quantiles, texts, divergences, and transforms of constraints."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from distribution_cases import CASES, IDS, make

import adjoint as ad

FACTS = ["mean", "mode", "variance", "stddev"]
pytestmark = pytest.mark.filterwarnings("ignore:Singular sample")


def same(mine, theirs, **tolerance):
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), **{"rtol": 1e-7, "atol": 1e-9, **tolerance})


def either(call):
    """The result, or the type of the error."""
    try:
        return call()
    except (NotImplementedError, ValueError) as error:
        return type(error)


def agree(mine, theirs, **tolerance):
    if isinstance(theirs, type) or isinstance(mine, type):
        assert mine is theirs
    else:
        same(mine, theirs, **tolerance)


BOTH = [(case, i) for case, i in zip(CASES, IDS) if case[0] != "GeneralizedPareto"]  # float32 only there
CASES, IDS = [case for case, _ in BOTH], [i for _, i in BOTH]


@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=IDS)
def test_facts(name, kwargs):
    mine, theirs = make(ad, name, kwargs), make(torch, name, kwargs)
    assert tuple(mine.batch_shape) == tuple(theirs.batch_shape) and tuple(mine.event_shape) == tuple(theirs.event_shape)
    assert (mine.has_rsample, mine.has_enumerate_support) == (theirs.has_rsample, theirs.has_enumerate_support)
    assert repr(mine).replace("adjoint", "torch") == repr(theirs)
    if name not in (
        "Pareto",
        "Uniform",
        "GeneralizedPareto",
        "Binomial",
        "Multinomial",
        "Categorical",
    ):  # bounds print as tensors
        assert repr(mine.support) == repr(theirs.support)
    for fact in FACTS:
        if (name, fact) == ("Kumaraswamy", "mode"):
            continue  # nan there for concentrations above 1, where there is one
        agree(either(lambda: getattr(mine, fact)), either(lambda: getattr(theirs, fact)), rtol=1e-6)
    agree(either(mine.entropy), either(theirs.entropy), rtol=1e-6)
    agree(either(mine.enumerate_support), either(theirs.enumerate_support))
    torch.manual_seed(0)
    x = theirs.sample((5,))
    y = ad.tensor(x.numpy())
    same(mine.log_prob(y), theirs.log_prob(x), rtol=1e-6)
    agree(either(lambda: mine.cdf(y)), either(lambda: theirs.cdf(x)))
    if not isinstance(quantiles := either(lambda: theirs.cdf(x)), type):
        agree(either(lambda: mine.icdf(ad.tensor(quantiles.numpy()))), either(lambda: theirs.icdf(quantiles)), rtol=1e-6)
    wide, wide_torch = mine.expand((4, *mine.batch_shape)), theirs.expand((4, *theirs.batch_shape))
    same(wide.log_prob(y[:4]), wide_torch.log_prob(x[:4]), rtol=1e-6)
    assert repr(wide).replace("adjoint", "torch") == repr(wide_torch)
    assert tuple(wide.sample((2,)).shape) == tuple(wide_torch.sample((2,)).shape)


@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=IDS)
def test_gradients_of_log_prob(name, kwargs):
    if not any(isinstance(v, np.ndarray) for v in kwargs.values()):
        pytest.skip("nothing to differentiate")
    sides = []
    for library in (ad, torch):
        given = {k: library.tensor(v, requires_grad=True) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
        d = getattr(library.distributions, name)(**given)
        torch.manual_seed(0)
        x = make(torch, name, kwargs).sample()
        d.log_prob(library.tensor(x.numpy())).sum().backward()
        sides.append({k: v.grad for k, v in given.items() if isinstance(v, library.Tensor)})
    for k, mine in sides[0].items():
        lower = np.tril if k == "scale_tril" else np.asarray  # above the diagonal nothing is read
        np.testing.assert_allclose(lower(mine.numpy()), lower(sides[1][k].numpy()), rtol=1e-6, atol=1e-9)


SCALAR = sorted({name for name, kwargs in CASES if name not in ("LKJCholesky", "Wishart")})


@pytest.mark.parametrize("p", SCALAR)
def test_divergences(p):
    """Of every pair of types: the same number, or none on both sides."""
    one = next(kwargs for name, kwargs in CASES if name == p)
    one = {
        k: v[..., :1]
        if isinstance(v, np.ndarray)
        and v.ndim == 1
        and p not in ("MultivariateNormal", "LowRankMultivariateNormal", "Categorical", "Dirichlet")
        else v
        for k, v in one.items()
    }
    for q, others in itertools.chain(CASES):
        if q in ("LKJCholesky", "Wishart") or (q, p).count("LogisticNormal") == 1:
            continue
        try:
            expected = torch.distributions.kl_divergence(make(torch, p, one), make(torch, q, others))
        except NotImplementedError:
            with pytest.raises(NotImplementedError):
                ad.distributions.kl_divergence(make(ad, p, one), make(ad, q, others))
            continue
        except (RuntimeError, ValueError, IndexError):
            continue  # shapes that do not broadcast
        mine = ad.distributions.kl_divergence(make(ad, p, one), make(ad, q, others))
        np.testing.assert_allclose(*np.broadcast_arrays(mine.numpy(), expected.numpy()), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 5.0, 40.0, 150.0, 3000.0])
def test_how_samples_move_with_their_parameters(scale):
    rng = np.random.default_rng(1)
    a = scale * rng.uniform(0.5, 2, 400)
    x = np.maximum(rng.gamma(a), 1e-300)
    mine = ad._standard_gamma_grad(ad.tensor(a), ad.tensor(x))
    same(mine, torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)), rtol=2e-3, atol=1e-300)
    b = scale * rng.uniform(0.5, 2, 400)
    y = np.clip(rng.beta(a, b), 1e-12, 1 - 1e-9)
    mine = ad._dirichlet_grad(ad.tensor(y), ad.tensor(a), ad.tensor(a + b))
    same(mine, torch._dirichlet_grad(torch.tensor(y), torch.tensor(a), torch.tensor(a + b)), rtol=0.05, atol=1e-3)


VECTOR = {"simplex", "corr_cholesky", "real_vector"}


@pytest.mark.parametrize(
    "name",
    [
        "positive",
        "nonnegative",
        "unit_interval",
        "simplex",
        "corr_cholesky",
        "real",
        "real_vector",
        "lower_cholesky",
        "positive_definite",
    ],
)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_transforms_of_constraints(name, registry):
    made = [
        either(lambda: getattr(lib.distributions, registry)(getattr(lib.distributions.constraints, name)))
        for lib in (ad, torch)
    ]
    if isinstance(made[1], type):
        assert made[0] is made[1]
        return
    mine, theirs = made
    assert repr(mine) == repr(theirs)
    x = np.random.default_rng(2).normal(size=(4, 3, 3) if name in ("lower_cholesky", "positive_definite") else (4, 6))
    y, z = mine(ad.tensor(x)), theirs(torch.tensor(x))
    same(y, z)
    same(mine.inv(y), theirs.inv(z), rtol=1e-5, atol=1e-6)
    if theirs.bijective:
        same(mine.log_abs_det_jacobian(ad.tensor(x), y), theirs.log_abs_det_jacobian(torch.tensor(x), z))
    assert tuple(mine.forward_shape(x.shape)) == tuple(theirs.forward_shape(x.shape))
