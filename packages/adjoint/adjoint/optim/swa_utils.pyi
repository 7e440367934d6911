"""Averages of weights: the module of `adjoint_functional`."""

from adjoint_functional.optim.swa_utils import *
