"""Kernels compiled for real GPUs, without one: launches go to the stand-in driver, which only records them."""

import os

import own_process
import standin


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:\\w+. on cuda this runs on the CPU:UserWarning")


def choose():
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ["STANDIN_ZEROED"] = "1"
    standin.choose_driver("adjoint_kernels_triton")


def pytest_pycollect_makemodule(module_path, parent):
    return own_process.module_of("device_kernels_compiled", choose, parent, module_path)
