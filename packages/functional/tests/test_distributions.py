"""distributions: densities and quantiles against SciPy, samples by their moments and distribution, derivatives of samples, divergences by
Monte Carlo, transforms by their own definition."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
import scipy.stats as st
from distribution_cases import CASES, IDS, make
from hypothesis import given
from hypothesis import strategies as hs

import adjoint as ad

D = ad.distributions
C = D.constraints
tensor = ad.tensor


def a(**kwargs):
    return {k: tensor(v, dtype=ad.float64) for k, v in kwargs.items()}


SCIPY = {
    "Bernoulli": (a(probs=0.3), st.bernoulli(0.3)),
    "Beta": (a(concentration1=1.3, concentration0=2.2), st.beta(1.3, 2.2)),
    "Binomial": (a(total_count=7.0, probs=0.3), st.binom(7, 0.3)),
    "Cauchy": (a(loc=0.3, scale=1.4), st.cauchy(0.3, 1.4)),
    "Chi2": (a(df=3.1), st.chi2(3.1)),
    "Exponential": (a(rate=1.7), st.expon(scale=1 / 1.7)),
    "FisherSnedecor": (a(df1=3.0, df2=7.0), st.f(3, 7)),
    "Gamma": (a(concentration=2.3, rate=1.7), st.gamma(2.3, scale=1 / 1.7)),
    "GeneralizedPareto": (a(loc=0.3, scale=1.2, concentration=0.2), st.genpareto(0.2, 0.3, 1.2)),
    "Geometric": (a(probs=0.3), st.geom(0.3, loc=-1)),
    "Gumbel": (a(loc=0.3, scale=1.2), st.gumbel_r(0.3, 1.2)),
    "HalfCauchy": (a(scale=1.4), st.halfcauchy(scale=1.4)),
    "HalfNormal": (a(scale=1.4), st.halfnorm(scale=1.4)),
    "InverseGamma": (a(concentration=3.3, rate=1.7), st.invgamma(3.3, scale=1.7)),
    "Laplace": (a(loc=0.3, scale=1.2), st.laplace(0.3, 1.2)),
    "LogNormal": (a(loc=0.3, scale=0.6), st.lognorm(0.6, scale=math.exp(0.3))),
    "NegativeBinomial": (a(total_count=3.0, probs=0.4), st.nbinom(3, 0.6)),
    "Normal": (a(loc=0.3, scale=1.2), st.norm(0.3, 1.2)),
    "Pareto": (a(scale=1.2, alpha=5.3), st.pareto(5.3, scale=1.2)),
    "Poisson": (a(rate=2.7), st.poisson(2.7)),
    "StudentT": (a(df=5.5, loc=0.3, scale=1.2), st.t(5.5, 0.3, 1.2)),
    "Uniform": (a(low=-0.3, high=1.2), st.uniform(-0.3, 1.5)),
    "VonMises": (a(loc=0.3, concentration=2.2), st.vonmises(2.2, loc=0.3)),
    "Weibull": (a(scale=1.4, concentration=1.7), st.weibull_min(1.7, scale=1.4)),
}


@pytest.mark.parametrize("name", SCIPY)
def test_against_scipy(name):
    params, expected = SCIPY[name]
    d = getattr(D, name)(**params)
    ad.manual_seed(3)
    x = d.sample((4000,))
    discrete = hasattr(expected.dist, "pmf")
    density = expected.logpmf if discrete else expected.logpdf
    np.testing.assert_allclose(d.log_prob(x).numpy(), density(x.numpy()), rtol=1e-6, atol=1e-9)
    if discrete:
        values, counts = np.unique(x.numpy(), return_counts=True)
        assert np.abs(counts / 4000 - expected.pmf(values)).max() < 0.04
    else:
        assert st.kstest(x.numpy(), expected.cdf).pvalue > 1e-4
    if name != "VonMises":
        for fact, theirs in (("mean", expected.mean()), ("variance", expected.var())):
            if np.isfinite(theirs):
                np.testing.assert_allclose(getattr(d, fact).item(), theirs, rtol=1e-7)
    if name not in ("NegativeBinomial", "Poisson", "VonMises", "FisherSnedecor"):
        np.testing.assert_allclose(d.entropy().item(), expected.entropy(), rtol=1e-5)
    if not discrete:
        compare_quantiles(d, expected, x[:50])


def compare_quantiles(d, expected, x):
    try:
        u = d.cdf(x)
    except NotImplementedError:
        return
    np.testing.assert_allclose(u.numpy(), expected.cdf(x.numpy()), rtol=1e-6, atol=1e-12)
    try:
        np.testing.assert_allclose(d.icdf(u).numpy(), x.numpy(), rtol=1e-5)
    except NotImplementedError:
        pass


@pytest.mark.parametrize("name", ["MultivariateNormal", "LowRankMultivariateNormal", "Dirichlet", "Wishart", "Multinomial"])
def test_vectors_and_matrices_against_scipy(name):
    m, cov = np.array([0.5, -1.0]), np.array([[2.0, 0.6], [0.6, 1.0]])
    w = np.array([[1.0], [0.5]])
    d, theirs = {
        "MultivariateNormal": lambda: (D.MultivariateNormal(tensor(m), tensor(cov)), st.multivariate_normal(m, cov)),
        "LowRankMultivariateNormal": lambda: (
            D.LowRankMultivariateNormal(tensor(m), tensor(w), ad.ones(2, dtype=ad.float64)),
            st.multivariate_normal(m, w @ w.T + np.eye(2)),
        ),
        "Dirichlet": lambda: (D.Dirichlet(tensor([0.7, 2.0, 1.4], dtype=ad.float64)), st.dirichlet([0.7, 2.0, 1.4])),
        "Wishart": lambda: (D.Wishart(tensor(4.5, dtype=ad.float64), tensor(cov)), st.wishart(4.5, cov)),
        "Multinomial": lambda: (
            D.Multinomial(5, tensor([0.2, 0.5, 0.3], dtype=ad.float64)),
            st.multinomial(5, [0.2, 0.5, 0.3]),
        ),
    }[name]()
    ad.manual_seed(1)
    x = d.sample((20_000,))
    logs = theirs.logpmf if name == "Multinomial" else theirs.logpdf
    sides = [logs(v) for v in x[:20].numpy()]
    np.testing.assert_allclose(d.log_prob(x[:20]).numpy(), np.ravel(sides), rtol=1e-6)
    np.testing.assert_allclose(d.entropy().item(), theirs.entropy(), rtol=1e-6)
    np.testing.assert_allclose(x.mean(0).numpy(), d.mean.numpy(), atol=0.15)
    np.testing.assert_allclose(x.var(0).numpy(), d.variance.numpy(), rtol=0.1)


@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=IDS)
def test_every_distribution(name, kwargs):
    d = make(ad, name, kwargs)
    ad.manual_seed(0)
    x = d.sample((2000,))
    assert not x.requires_grad and tuple(x.shape) == (2000, *d.batch_shape, *d.event_shape)
    assert d.support.check(x).all() and tuple(d.log_prob(x).shape) == (2000, *d.batch_shape)
    try:
        mean, deviation = d.mean, d.stddev
    except NotImplementedError:
        pass
    else:
        if name != "VonMises":
            near = (x.to(mean.dtype).mean(0) - mean).abs() < 6 * deviation / 2000**0.5
            assert (near | ~deviation.isfinite() | ~mean.isfinite()).all()
    again = pickle.loads(pickle.dumps(copy.deepcopy(d)))
    assert ad.equal(again.log_prob(x), d.log_prob(x)) and repr(again) == repr(d)
    wide = d.expand((3, *d.batch_shape))
    assert ad.allclose(wide.log_prob(x[:3]), d.log_prob(x[:3])) and tuple(wide.sample((2,)).shape) == (2, 3, *x.shape[1:])
    independent = D.Independent(wide, 1)
    assert ad.allclose(independent.log_prob(x[:3]), wide.log_prob(x[:3]).sum(-1))


@pytest.mark.parametrize(("name", "kwargs"), CASES, ids=IDS)
def test_samples_have_the_derivatives_of_their_means(name, kwargs):
    """E f(x) by samples with derivatives, against the derivative of the mean in closed form."""
    given = {
        k: tensor(v, requires_grad=True) if isinstance(v, np.ndarray) and k != "temperature" else v for k, v in kwargs.items()
    }
    given = {k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    d = getattr(D, name)(**given)
    leaves = [v for v in given.values() if isinstance(v, ad.Tensor) and v.requires_grad]
    if not d.has_rsample or not leaves:
        assert not d.sample().requires_grad
        return
    ad.manual_seed(0)
    x = d.rsample((30_000,))
    got = ad.autograd.grad(x.mean(0).sum(), leaves, retain_graph=True, allow_unused=True)
    assert all(g is None or g.isfinite().all() for g in got)
    try:
        mean = d.mean
    except NotImplementedError:
        return
    if not mean.requires_grad or not d.variance.isfinite().all():
        return
    expected = ad.autograd.grad(mean.sum(), leaves, allow_unused=True)
    for g, e in zip(got, expected):
        if e is not None and e.isfinite().all():
            assert ad.allclose(g if g is not None else ad.zeros_like(e), e, rtol=0.1, atol=0.12)


def test_how_gamma_and_beta_samples_move_is_the_derivative_of_their_quantiles():
    rng = np.random.default_rng(0)
    for scale in (0.05, 1.0, 8.0, 60.0, 500.0):
        c = scale * rng.uniform(0.5, 2, 50)
        u = rng.uniform(0.02, 0.98, 50)
        h = 1e-4 * c
        x = st.gamma.ppf(u, c)
        slope = (st.gamma.ppf(u, c + h) - st.gamma.ppf(u, c - h)) / (2 * h)
        np.testing.assert_allclose(ad._standard_gamma_grad(tensor(c), tensor(x)).numpy(), slope, rtol=1e-4)
        if scale < 200:
            b = scale * rng.uniform(0.5, 2, 50)
            x = st.beta.ppf(u, c, b)
            keep = (x > 1e-9) & (x < 1 - 1e-9)
            slope = (st.beta.ppf(u, c + h, b) - st.beta.ppf(u, c - h, b)) / (2 * h)
            got = ad._dirichlet_grad(tensor(x), tensor(c), tensor(c + b)).numpy() * (1 - x)
            np.testing.assert_allclose(got[keep], slope[keep], rtol=1e-3)


def test_derivatives_of_samples_in_forward_mode_and_transforms():
    c = tensor(2.5, dtype=ad.float64)

    def draw(c):
        ad.manual_seed(4)
        return D.Gamma(c, 1.0).rsample()

    expected = ad.func.grad(draw)(c)
    assert ad.allclose(ad.func.jvp(draw, (c,), (ad.ones_like(c),))[1], expected)
    x = draw(c)
    assert ad.allclose(expected, ad._standard_gamma_grad(c, x))


PAIRS = [
    (D.Normal(0.3, 1.2), D.Laplace(0.1, 0.7)),
    (D.Normal(0.3, 0.5), D.Gumbel(0.1, 0.7)),
    (D.Gamma(2.0, 3.0), D.Gumbel(0.1, 0.7)),
    (D.Beta(2.0, 1.5), D.Gamma(1.5, 2.0)),
    (D.Beta(2.0, 1.5), D.ContinuousBernoulli(tensor(0.7))),
    (D.Uniform(0.2, 0.7), D.Beta(2.0, 1.5)),
    (D.Uniform(0.2, 0.7), D.Gumbel(0.3, 0.5)),
    (D.Pareto(1.0, 5.0), D.Gamma(2.0, 1.0)),
    (D.Exponential(2.0), D.Gumbel(0.3, 0.5)),
    (D.ContinuousBernoulli(tensor(0.3)), D.ContinuousBernoulli(tensor(0.6))),
    (D.Gumbel(0.2, 0.6), D.Gumbel(0.5, 0.9)),
    (D.LogNormal(0.2, 0.6), D.LogNormal(0.5, 0.9)),
    (D.Wishart(tensor(5.0), ad.eye(2)), D.Wishart(tensor(4.0), tensor([[2.0, 0.3], [0.3, 1.0]]))),
    (D.Independent(D.Normal(ad.zeros(2), 1.0), 1), D.Independent(D.Normal(ad.ones(2), 2.0), 1)),
    (D.Bernoulli(tensor(0.3)), D.Poisson(tensor(0.6))),
    (D.Cauchy(0.0, 1.0), D.Cauchy(0.4, 1.5)),
]


@pytest.mark.parametrize(("p", "q"), PAIRS, ids=[f"{type(p).__name__}-{type(q).__name__}" for p, q in PAIRS])
def test_divergence_is_the_mean_of_the_difference_of_logarithms(p, q):
    ad.manual_seed(0)
    x = p.sample((60_000,))
    terms = p.log_prob(x) - q.log_prob(x)
    error = 6 * terms.std(0) / 60_000**0.5
    assert ((terms.mean(0) - D.kl_divergence(p, q)).abs() < error + 1e-3).all()


def test_divergences_of_ones_own():
    class Mine(D.Normal):
        pass

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 0

    @D.register_kl(Mine, D.Normal)
    def _(p, q):
        return 7.0

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)) == 7.0
    assert tuple(Mine(0.0, 1.0).expand((2,)).sample().shape) == (2,) and type(Mine(0.0, 1.0).expand((2,))) is Mine
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.VonMises(0.0, 1.0), D.Normal(0.0, 1.0))
    with pytest.raises(TypeError):
        D.register_kl(1, D.Normal)

    class Strict(D.Normal):
        def __init__(self, x):
            super().__init__(x, 1.0)

    with pytest.raises(NotImplementedError, match=r"must also define a custom \.expand"):
        Strict(0.0).expand((2,))


BIJECTIONS = [
    C.positive,
    C.interval(-1.0, 3.0),
    C.greater_than(2.0),
    C.less_than(1.0),
    C.simplex,
    C.corr_cholesky,
    C.real_vector,
    C.unit_interval,
]


@pytest.mark.parametrize("constraint", BIJECTIONS, ids=repr)
@given(seed=hs.integers(0, 99))
def test_bijections(constraint, seed):
    x = tensor(np.random.default_rng(seed).normal(size=3))
    t = D.biject_to(constraint)
    y = t(x)
    assert constraint.check(y).all() and ad.allclose(t.inv(y), x) and t.inv.inv is t
    cut = {C.simplex: lambda y: y[:-1], C.corr_cholesky: lambda y: y[ad.tensor([1, 2, 2]), ad.tensor([0, 0, 1])]}.get(
        constraint, lambda y: y
    )
    jacobian = ad.func.jacrev(lambda x: cut(t(x)))(x)
    log_det = ad.linalg.slogdet(jacobian).logabsdet
    assert ad.allclose(t.log_abs_det_jacobian(x, y).sum(), log_det)
    base = D.Independent(D.Normal(ad.zeros(3, dtype=ad.float64), 1.0), 1)
    image = D.TransformedDistribution(base, [t])
    assert ad.allclose(image.log_prob(y).sum(), base.log_prob(x) - log_det)


def test_transforms_joined():
    x = tensor([[0.5, 1.0], [0.2, -0.3]])
    cat = D.CatTransform([D.ExpTransform(), D.identity_transform], dim=0)
    stack = D.StackTransform([D.AffineTransform(1.0, 2.0), D.TanhTransform()], dim=1)
    for t in (cat, stack, D.ReshapeTransform((2, 2), (4,)), D.IndependentTransform(D.ExpTransform(), 1)):
        assert ad.allclose(t.inv(t(x)), x) and t.log_abs_det_jacobian(x, t(x)).isfinite().all()
    assert D.AffineTransform(0.0, 2.0) == D.AffineTransform(0.0, 2.0) != D.AffineTransform(0.0, 3.0)
    cached = D.ExpTransform(cache_size=1)
    y = cached(x)
    assert cached.inv(y) is x
    mixed = D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))
    assert ad.allclose(mixed.inv(mixed(x)), x, atol=1e-5)


def test_mixture_is_the_sum_of_its_parts():
    mix = D.MixtureSameFamily(D.Categorical(tensor([0.3, 0.7])), D.Normal(tensor([-1.0, 2.0]), tensor([0.5, 1.0])))
    ad.manual_seed(0)
    x = mix.sample((4000,))
    parts = 0.3 * st.norm(-1, 0.5).pdf(x.numpy()) + 0.7 * st.norm(2, 1).pdf(x.numpy())
    np.testing.assert_allclose(mix.log_prob(x).exp().numpy(), parts, rtol=1e-4)
    assert st.kstest(x.numpy(), lambda v: 0.3 * st.norm(-1, 0.5).cdf(v) + 0.7 * st.norm(2, 1).cdf(v)).pvalue > 1e-4
    assert abs(x.mean() - mix.mean) < 0.1 and abs(x.var() - mix.variance) < 0.2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: D.Normal(0.0, -1.0), r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal\(loc: 0.0, scale: -1.0\) to satisfy the constraint GreaterThan\(lower_bound=0.0\)"),
        (lambda: D.Bernoulli(tensor(0.5)).log_prob(tensor(0.3)), r"within the support \(Boolean\(\)\)"),
        (lambda: D.Normal(ad.zeros(3), 1.0).log_prob(ad.zeros(2)), "not broadcastable with batch_shape"),
        (lambda: D.Dirichlet(ad.ones(3)).log_prob(ad.ones(2)), "must match event_shape"),
        (lambda: D.Normal(0.0, 1.0).log_prob(0.3), "must be a Tensor"),
        (lambda: D.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: D.Uniform(1.0, 0.0), "low"),
        (lambda: D.Normal("a", 1.0), "must all be instances of Number"),
        (lambda: D.MultivariateNormal(ad.zeros(2)), "Exactly one of"),
        (lambda: D.MultivariateNormal(ad.zeros(2), -ad.eye(2)), "PositiveDefinite"),
        (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"),
        (lambda: D.Categorical(ad.ones(())), "at least one-dimensional"),
        (lambda: D.LKJCholesky(1), "greater than or equal to 2"),
    ],
)  # fmt: skip
def test_what_is_refused(call, text):
    with pytest.raises((ValueError, AssertionError), match=text):
        call()


def test_checks_can_be_switched_off():
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)


@pytest.mark.parametrize("concentration", [-1.0, -0.5, math.nan])
def test_there_are_no_gamma_samples_of_negative_concentrations(concentration):
    a = ad.full((3,), concentration)
    assert ad._standard_gamma(a).isnan().all() and ad._sample_dirichlet(a).isnan().all()


def test_gamma_samples_at_the_ends():
    assert ad._standard_gamma(ad.tensor([0.0, math.inf])).tolist() == [ad.finfo(ad.float32).tiny, math.inf]
