"""These tests run on a stand-in for the NVIDIA driver, which is chosen before anything asks for a GPU, and without our kernels."""

import sys
from pathlib import Path

import own_process
import standin

KERNELS = (
    Path(__file__).parents[2] / "packages" / "kernels-triton"
)  # tests of the launcher write formulas as its declarations do


def choose():
    sys.path.append(str(KERNELS))
    standin.choose_driver("no_kernels_in_these_tests")  # Triton may be installed or not


def pytest_pycollect_makemodule(module_path, parent):
    return own_process.module_of("cuda", choose, parent, module_path)
