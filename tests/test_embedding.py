"""Core and engine alone: from Python without kernels, and from C++ without Python."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ALONE = """
import sys, adjoint_core as core, adjoint_engine as engine
x = core.tensor([1.0, 2.0], dtype=core.float64, requires_grad=True)
(x.exp() * x).sum().backward()
core.linalg.svd(core.unique(core.eye(2), dim=0)).S + core.eye(2).norm("nuc") + core.special.bessel_j0(core.ones(1)) + core.ones(1).i0()
others = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
assert not others & {"adjoint_kernels_cpu", "adjoint_functional", "adjoint", "numpy", "triton", "scipy_openblas32"}, others
print(x.grad.tolist())
"""


def test_core_and_engine_alone() -> None:
    import math

    run = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert eval(run.stdout) == pytest.approx([2 * math.e, 3 * math.e**2])


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("c++") is None, reason="needs cmake and a C++ compiler")
def test_embedding_in_cpp(tmp_path: Path) -> None:
    site = sysconfig.get_path("platlib")
    prefix = f"{site}/adjoint_core;{site}/adjoint_engine"
    subprocess.run(
        ["cmake", "-S", ROOT / "examples/embed", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"],
        check=True,
        capture_output=True,
    )
    subprocess.run(["cmake", "--build", tmp_path], check=True, capture_output=True)
    run = subprocess.run([tmp_path / "embed"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    linked = subprocess.run(["ldd", tmp_path / "embed"], capture_output=True, text=True).stdout
    assert "libpython" not in linked
