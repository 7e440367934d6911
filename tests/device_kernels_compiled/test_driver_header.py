"""Our declarations of the CUDA driver are those of NVIDIA's header, of which Triton carries a copy."""

import os
import re
import subprocess
from pathlib import Path

import triton

import adjoint_core

HERE = Path(__file__).parent
NVIDIA = Path(triton.__file__).parent / "backends/nvidia/include"
OURS = Path(adjoint_core.__file__).parent / "include"


def test_declarations_agree():
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", f"-I{NVIDIA}", f"-I{OURS}", "driver_header.cpp"]
    compiled = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr


def test_every_function_is_compared():
    declared = re.findall(r"Result \(\*(\w+)\)\(", (OURS / "adjoint/core/cuda/driver.h").read_text())
    compared = re.findall(r"SAME\((\w+), cu", (HERE / "driver_header.cpp").read_text())
    assert sorted(declared) == sorted(compared)
