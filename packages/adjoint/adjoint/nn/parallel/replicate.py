"""Copies of a model on several devices, and their calls."""

from adjoint_functional.nn.parallel.replicate import parallel_apply as parallel_apply
from adjoint_functional.nn.parallel.replicate import replicate as replicate
