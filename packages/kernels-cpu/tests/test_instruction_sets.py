"""Which instruction set kernels run at, and that neither the processor's make nor the environment of OpenBLAS decides about bits."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from adjoint_core import _core

HERE = _core._instruction_sets()
PRODUCTS = """
import hashlib, os
import numpy as np
import adjoint as ad
x = ad.from_numpy(np.random.default_rng(0).standard_normal((300, 300)))
bits = (x @ x).numpy().tobytes() + ad.linalg.solve(x, x.float().double()).numpy().tobytes()
print(ad.backends.cpu.get_cpu_capability(), hashlib.sha256(bits).hexdigest(), sorted(os.environ) == before)
"""


def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
    code = "import os\nbefore = sorted(os.environ)\n" + program
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "ADJOINT_"))}
    return subprocess.run([sys.executable, "-c", code], env={**outside, **env}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("level", HERE)
def test_each_level_can_be_chosen(level: str) -> None:
    done = run("import adjoint_core, adjoint_kernels_cpu; print(adjoint_core._core._instruction_set())", ADJOINT_ISA=level)
    assert done.stdout.split() == [level], done.stderr


@pytest.mark.parametrize("word", ["sse9", "0", "AVX2", "neon" if "neon" not in HERE else "avx2"])
def test_others_are_refused_by_name(word: str) -> None:
    done = run("import adjoint", ADJOINT_ISA=word)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    expected = f"ADJOINT_ISA: expected an instruction set that this processor has ({', '.join(HERE)}), got '{word}'"
    assert last == f"ValueError: {expected}"


def test_settings_of_openblas_change_no_bits() -> None:
    plain = run(PRODUCTS)
    assert plain.stdout, plain.stderr
    for odd in (
        {"OPENBLAS_CORETYPE": "Nehalem"},
        {"OPENBLAS_CORETYPE": "no such processor", "OPENBLAS_NUM_THREADS": "-3"},
        {"OPENBLAS_L2_SIZE": "1", "OPENBLAS_NUM_THREADS": "100000", "OPENBLAS_VERBOSE": "x"},
        {"OPENBLAS_BLOCK_FACTOR": "7", "OPENBLAS_THREAD_TIMEOUT": "1000000"},
    ):
        assert run(PRODUCTS, **odd).stdout == plain.stdout, odd


def test_openblas_starts_no_threads() -> None:
    """Only the kernels' own threads work; they come with the first large operation."""
    done = run("import adjoint\nprint([line for line in open('/proc/self/status') if line.startswith('Threads')])")
    if not done.stdout:
        pytest.skip("no /proc to read the number of threads from")
    assert done.stdout.split() == ["['Threads:\\t1\\n']"], done.stdout


STACK = """
import ctypes, platform
import adjoint as ad
class Stack(ctypes.Structure):
    _fields_ = [("place", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
room = ctypes.create_string_buffer(8192)
small = Stack(ctypes.cast(room, ctypes.c_void_p), 0, 8192)
(ad.ones(64, 64) @ ad.ones(64, 64)).sum().item()
print(ctypes.CDLL(None, use_errno=True).sigaltstack(ctypes.byref(small), None))
x = ad.ones(64, 64, dtype=ad.bfloat16)   # without tiles now, as there would be no room for them on that stack
print((x @ x).float().unique().tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the stack of Linux's signals")
def test_signals_may_have_a_small_stack_until_tiles_are_used() -> None:
    assert run(STACK).stdout.split("\n")[:2] == ["0", "[64.0]"]
