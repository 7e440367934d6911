"""Probability distributions."""

import importlib as _importlib
import sys as _sys

from adjoint_functional.distributions import *  # noqa: F403
from adjoint_functional.distributions import constraint_registry as constraint_registry
from adjoint_functional.distributions import constraints as constraints
from adjoint_functional.distributions import kl as kl
from adjoint_functional.distributions import utils as utils

# Each file here, and the modules of PyTorch whose classes it has.
_HOMES = {
    "categorical": "categorical multinomial one_hot_categorical",
    "composed": "independent mixture_same_family transformed_distribution",
    "constraint_registry": "constraint_registry",
    "constraints": "constraints",
    "every_transform": "transforms",
    "discrete": "bernoulli binomial continuous_bernoulli geometric negative_binomial poisson",
    "distribution": "distribution exp_family",
    "interval": "beta gumbel kumaraswamy uniform von_mises",
    "kl": "kl",
    "matrix": "lkj_cholesky wishart",
    "multivariate": "logistic_normal lowrank_multivariate_normal multivariate_normal",
    "images": "half_cauchy half_normal inverse_gamma log_normal pareto weibull",
    "positive": "chi2 exponential fishersnedecor gamma generalized_pareto",
    "real_line": "cauchy laplace normal studentT",
    "relaxed": "relaxed_bernoulli relaxed_categorical",
    "simplex": "dirichlet",
    "utils": "utils",
}
for _file, _names in _HOMES.items():
    _module = _importlib.import_module("adjoint_functional.distributions." + _file)
    for _name in _names.split():
        globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _module
