"""Every test leaves the number of threads as it was."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjoint_kernels_cpu import _kernels

sys.path.insert(0, str(Path(__file__).parent))  # for kernel_checks


@pytest.fixture(autouse=True)
def restore_threads() -> Iterator[None]:
    threads = _kernels.get_num_threads()
    yield
    _kernels.set_num_threads(threads)
