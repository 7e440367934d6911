"""The examples of pools run, and what a pool sends arrives whole."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = {
    "dask_gradients.py": ("distributed", "agree: True"),
    "cross_validation.py": ("joblib", "best: 0."),
    "ray_gradients.py": ("ray", "step  30: mean squared error 0.000000"),
}
WHY = {
    "distributed": "dask[distributed] is not installed",
    "joblib": "joblib is not installed",
    "ray": "Ray is not installed: its wheel takes 80 MB and is not there for every Python",
}


@pytest.mark.parametrize("file", EXAMPLES)
def test_examples_run(file):
    module, expected = EXAMPLES[file]
    if importlib.util.find_spec(module) is None:
        pytest.skip(WHY[module])
    env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "pools" / file)],
        capture_output=True,
        text=True,
        timeout=300,
        env=env,
        check=False,
    )
    assert done.returncode == 0 and expected in done.stdout, done.stdout + done.stderr


def test_a_new_interpreter_loads_leaves_with_graph_and_kernels(tmp_path):
    """A worker of a pool may have imported nothing but what a pickle names."""
    code = """
import pickle, sys
x, = pickle.load(open(sys.argv[1], "rb"))
assert x.requires_grad and x.is_leaf and "adjoint_kernels_cpu" in sys.modules
(x * x).sum().backward()
assert x.grad.tolist() == [2, 2]
"""
    make = "import adjoint as ad, pickle, sys; pickle.dump([ad.ones(2, requires_grad=True)], open(sys.argv[1], 'wb'), int(sys.argv[2]))"
    for protocol in ("4", "5"):
        file = str(tmp_path / protocol)
        subprocess.run([sys.executable, "-c", make, file, protocol], check=True)
        subprocess.run([sys.executable, "-c", code, file], check=True)
