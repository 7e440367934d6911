"""`utils.data.datapipes`, which PyTorch has given up: the one class of it that libraries ask datasets for."""

from .dataset import IterableDataset

__all__ = ["ShufflerIterDataPipe"]


class ShufflerIterDataPipe(IterableDataset[object]):
    """A pipe that shuffles another's samples; datasets are no pipes here, so nothing is an instance."""
