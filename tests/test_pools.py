"""The examples of pools run, and what a pool sends arrives whole."""

import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

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


TENSORS = {
    "leaf": lambda: ad.randn(3, 4, requires_grad=True),
    "parameter": lambda: ad.nn.Parameter(ad.randn(5).bfloat16()),
    "transposed": lambda: ad.randn(300, 400).t(),
    "strided": lambda: ad.arange(20)[::3],
    "empty": lambda: ad.empty(0, 2),
    "scalar": lambda: ad.tensor(2.5 + 1j),
    "sparse": lambda: ad.eye(3).to_sparse(),
}


def assert_arrived(sent, got):
    assert type(got) is type(sent) and got.dtype == sent.dtype and got.shape == sent.shape
    assert got.requires_grad == sent.requires_grad and got.is_leaf and got.is_sparse == sent.is_sparse
    assert ad.equal(got.detach().to_dense(), sent.detach().to_dense())
    got.detach().mul_(2)  # what arrived can be written to


@pytest.mark.parametrize("name", TENSORS)
def test_dask_sends_frames(name):
    """Not pickles: of protocol 4, which is what its scheduler asks for, they have all elements within."""
    protocol = pytest.importorskip("distributed.protocol")
    sent = TENSORS[name]()
    header, frames = protocol.serialize(sent, context={"pickle-protocol": 4})
    assert header["serializer"] == "dask" and sum(f.nbytes for f in frames) >= sent.numel() * sent.element_size() * (
        not sent.is_sparse
    )
    assert_arrived(sent, protocol.deserialize(header, [bytearray(f) for f in frames]))
    assert_arrived(sent, protocol.deserialize(header, [bytes(f) for f in frames]))  # as a spilled result


def test_dask_says_that_a_graph_stays():
    protocol = pytest.importorskip("distributed.protocol")
    x = (ad.ones(3, requires_grad=True) * 2).requires_grad_()
    x.note = lambda: 1  # only cloudpickle sends this
    header, frames = protocol.serialize(x.detach())
    assert header["serializer"] == "dask" and protocol.deserialize(header, frames).is_leaf
    header, frames = protocol.serialize(x)
    assert header["serializer"] == "pickle" and protocol.deserialize(header, frames).note() == 1


@pytest.mark.parametrize("name", TENSORS)
def test_joblib_maps_the_bytes(name):
    reduction = pytest.importorskip("joblib.externals.loky.backend.reduction")
    sent = TENSORS[name]()
    arrays = []
    data = reduction.dumps(
        sent, reducers={np.ndarray: lambda a: (arrays.append(a), np.array, (a.tolist(), a.dtype))[1:]}, protocol=5
    )
    assert sum(a.nbytes for a in arrays) >= sent.numel() * sent.element_size() * (not sent.is_sparse)
    assert_arrived(sent, pickle.loads(data))


def test_plugins_reach_what_was_imported_before():
    pytest.importorskip("distributed"), pytest.importorskip("joblib")
    code = """
import distributed, joblib
import adjoint as ad
from joblib.externals.loky.backend import reduction
assert ad.Tensor in reduction._dispatch_table
assert distributed.protocol.serialize(ad.ones(3))[0]["serializer"] == "dask"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
