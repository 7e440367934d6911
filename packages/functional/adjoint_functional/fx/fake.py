"""Tensors that only stand for others while PyTorch traces: here none does, and this is what asks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from adjoint_core import Tensor


class FakeTensor(Tensor):
    """No tensor is one."""


class FakeTensorMode:
    """Cannot be entered: tensors on device meta have sizes and types without memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("FakeTensorMode: there are no fake tensors; make tensors on device meta")


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """Outside of the mode, as one always is."""
    yield


def detect_fake_mode(inputs: Any = None) -> None:
    """The mode in which tensors only stand for others: there is none."""
    return None


def is_fake(x: Any) -> bool:
    """Whether a tensor only stands for one while PyTorch traces: none does."""
    return False
