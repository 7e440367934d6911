"""Modules on several devices, in one process and in several."""

from adjoint_functional.nn.parallel.data_parallel import DataParallel as DataParallel
from adjoint_functional.nn.parallel.data_parallel import data_parallel as data_parallel

from .distributed import DistributedDataParallel as DistributedDataParallel
