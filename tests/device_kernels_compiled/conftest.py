"""Kernels compiled for real GPUs, without one: launches go to the stand-in driver, which only records them."""

import importlib.util
import os
from pathlib import Path

spec = importlib.util.spec_from_file_location("stand_in", Path(__file__).parent.parent / "cuda" / "conftest.py")
spec.loader.exec_module(importlib.util.module_from_spec(spec))
os.environ.pop("TRITON_INTERPRET", None)

import adjoint  # noqa: E402  (after the driver is chosen)

adjoint.cuda.load_kernels_from("adjoint_kernels_triton")
