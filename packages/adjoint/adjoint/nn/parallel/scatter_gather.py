"""Batches split over devices and put together again."""

from adjoint_functional.nn.parallel.scatter_gather import gather as gather
from adjoint_functional.nn.parallel.scatter_gather import scatter as scatter
from adjoint_functional.nn.parallel.scatter_gather import scatter_kwargs as scatter_kwargs
