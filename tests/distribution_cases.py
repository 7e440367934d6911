"""Distributions with parameters, for every test of `distributions`; the arrays become tensors of the library under test."""

from __future__ import annotations

from typing import Any

import numpy as np

rng = np.random.default_rng(0)


def positive(*shape: int) -> np.ndarray:
    return rng.uniform(0.3, 4.0, shape)


def inside(*shape: int) -> np.ndarray:
    return rng.uniform(0.1, 0.9, shape)


def simplex(*shape: int) -> np.ndarray:
    x = inside(*shape)
    return x / x.sum(-1, keepdims=True)


def spd(n: int, *batch: int) -> np.ndarray:
    a = rng.normal(size=(*batch, n, n))
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


normal = rng.normal
one, pair = np.array(1.7), np.array([0.8, 2.5])
CASES: list[tuple[str, dict[str, Any]]] = [
    ("Bernoulli", {"probs": inside(3)}),
    ("Bernoulli", {"logits": normal(size=(2, 3))}),
    ("Beta", {"concentration1": positive(3), "concentration0": positive(3)}),
    ("Binomial", {"total_count": 5, "probs": inside(2)}),
    ("Binomial", {"total_count": 5, "logits": normal(size=2)}),
    ("Categorical", {"probs": simplex(2, 4)}),
    ("Categorical", {"logits": normal(size=4)}),
    ("Cauchy", {"loc": normal(size=2), "scale": pair}),
    ("Chi2", {"df": positive(3)}),
    ("ContinuousBernoulli", {"probs": np.array([0.2, 0.5, 0.8])}),
    ("ContinuousBernoulli", {"logits": normal(size=2)}),
    ("Dirichlet", {"concentration": positive(2, 3)}),
    ("Exponential", {"rate": positive(3)}),
    ("FisherSnedecor", {"df1": positive(3), "df2": 4 + positive(3)}),
    ("Gamma", {"concentration": positive(3), "rate": positive(3)}),
    ("GeneralizedPareto", {"loc": normal(size=3), "scale": positive(3), "concentration": np.array([-0.4, 0.0, 0.3])}),
    ("Geometric", {"probs": inside(3)}),
    ("Geometric", {"logits": normal(size=3)}),
    ("Gumbel", {"loc": normal(size=2), "scale": pair}),
    ("HalfCauchy", {"scale": pair}),
    ("HalfNormal", {"scale": pair}),
    ("InverseGamma", {"concentration": 2 + positive(2), "rate": pair}),
    ("Kumaraswamy", {"concentration1": positive(2), "concentration0": pair}),
    ("LKJCholesky", {"dim": 3, "concentration": one}),
    ("Laplace", {"loc": normal(size=2), "scale": pair}),
    ("LogNormal", {"loc": normal(size=2), "scale": 0.4 * pair}),
    ("LogisticNormal", {"loc": normal(size=(2, 3)), "scale": positive(2, 3)}),
    ("LowRankMultivariateNormal", {"loc": normal(size=(2, 4)), "cov_factor": normal(size=(4, 2)), "cov_diag": positive(4)}),
    ("Multinomial", {"total_count": 4, "probs": simplex(2, 3)}),
    ("Multinomial", {"total_count": 4, "logits": normal(size=3)}),
    ("MultivariateNormal", {"loc": normal(size=3), "covariance_matrix": spd(3)}),
    ("MultivariateNormal", {"loc": normal(size=(2, 3)), "precision_matrix": spd(3, 2)}),
    ("MultivariateNormal", {"loc": normal(size=(2, 3)), "scale_tril": np.linalg.cholesky(spd(3))}),
    ("NegativeBinomial", {"total_count": positive(2), "probs": inside(2)}),
    ("NegativeBinomial", {"total_count": 3.0, "logits": normal(size=2)}),
    ("Normal", {"loc": normal(size=(3, 1)), "scale": pair}),
    ("Normal", {"loc": 0.5, "scale": 2.0}),
    ("OneHotCategorical", {"probs": simplex(2, 4)}),
    ("OneHotCategoricalStraightThrough", {"logits": normal(size=4)}),
    ("Pareto", {"scale": positive(2), "alpha": 2.5 + pair}),
    ("Poisson", {"rate": positive(3)}),
    ("RelaxedBernoulli", {"temperature": one, "probs": inside(3)}),
    ("RelaxedOneHotCategorical", {"temperature": one, "probs": simplex(2, 3)}),
    ("StudentT", {"df": 2.5 + positive(2), "loc": normal(size=2), "scale": pair}),
    ("Uniform", {"low": -positive(2), "high": pair}),
    ("VonMises", {"loc": normal(size=2), "concentration": pair}),
    ("Weibull", {"scale": pair, "concentration": positive(2)}),
    ("Wishart", {"df": 3 + positive(2), "covariance_matrix": spd(3, 2)}),
    ("Wishart", {"df": np.array(4.5), "scale_tril": np.linalg.cholesky(spd(3))}),
]
IDS = [
    f"{name}-{'-'.join(k for k in kwargs if k in ('probs', 'logits', 'scale_tril', 'precision_matrix')) or i}"
    for i, (name, kwargs) in enumerate(CASES)
]


def make(library: Any, name: str, kwargs: dict[str, Any], **more: Any) -> Any:
    """The distribution, with tensors of float64."""
    tensors = {k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
    return getattr(library.distributions, name)(**tensors, **more)
