"""These tests run on a stand-in for the NVIDIA driver, which is chosen before anything asks for a GPU, and without our kernels."""

import own_process
import standin


def choose():
    standin.choose_driver("no_kernels_in_these_tests")  # Triton may be installed or not


def pytest_pycollect_makemodule(module_path, parent):
    return own_process.module_of("cuda", choose, parent, module_path)
