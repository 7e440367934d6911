"""Datasets, samplers and `DataLoader`."""

import sys as _sys

from adjoint_functional.utils.data import *  # noqa: F403
from adjoint_functional.utils.data import dataloader as dataloader
from adjoint_functional.utils.data import dataset as dataset
from adjoint_functional.utils.data import distributed as distributed
from adjoint_functional.utils.data import sampler as sampler

from . import _utils as _utils

for _part in (dataloader, dataset, distributed, sampler):
    _sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
