"""Kernels for GPUs in Triton's interpreter, behind the stand-in driver: needs Triton (`./run triton`), and no GPU.

With ADJOINT_GPU=1 the same cases run on the machine's GPU instead.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

import adjoint

STAND_IN = Path(__file__).parent.parent / "cuda" / "conftest.py"
ON_GPU = os.environ.get("ADJOINT_GPU") == "1"


def choose_driver():
    """The stand-in, built and chosen as tests/cuda does."""
    spec = importlib.util.spec_from_file_location("stand_in", STAND_IN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if not ON_GPU:
    if "triton" in sys.modules:
        raise RuntimeError("tests/device_kernels must choose the interpreter before Triton is imported")
    os.environ["TRITON_INTERPRET"] = "1"
    choose_driver()

adjoint.cuda.load_kernels_from("adjoint_kernels_triton")


@pytest.fixture(scope="session", autouse=True)
def stand_in():
    """The interpreter behind the driver; None on a GPU."""
    if ON_GPU:
        return None
    from adjoint_kernels_triton import testing

    return testing.interpret()
