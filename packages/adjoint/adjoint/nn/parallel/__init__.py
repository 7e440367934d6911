"""Modules that train in several processes."""

from .distributed import DistributedDataParallel as DistributedDataParallel
