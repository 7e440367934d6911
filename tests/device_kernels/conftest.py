"""Kernels for GPUs in Triton's interpreter, behind the stand-in driver: needs Triton (`./run triton`), and no GPU.

With ADJOINT_GPU=1 the same cases run on the machine's GPU instead.
"""

import os
import sys

import own_process
import pytest
import standin

ON_GPU = os.environ.get("ADJOINT_GPU") == "1"


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:\\w+. on cuda this runs on the CPU:UserWarning")


def choose():
    if ON_GPU:
        return
    if "triton" in sys.modules:
        raise RuntimeError("tests/device_kernels must choose the interpreter before Triton is imported")
    os.environ["TRITON_INTERPRET"] = "1"
    standin.choose_driver("adjoint_kernels_triton")


def pytest_pycollect_makemodule(module_path, parent):
    return own_process.module_of("device_kernels", choose, parent, module_path)


@pytest.fixture(scope="session", autouse=True)
def stand_in():
    """The interpreter behind the driver; None on a GPU."""
    if ON_GPU:
        return None
    from adjoint_kernels_triton import testing

    return testing.interpret()
