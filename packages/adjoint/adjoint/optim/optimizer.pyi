"""The class of all optimizers: the module of `adjoint_functional`."""

from adjoint_functional.optim.optimizer import *
