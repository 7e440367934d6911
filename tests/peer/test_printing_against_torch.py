"""Tensors print as PyTorch's do, but for the name of the library in dtypes."""

import re

import numpy as np
import pytest
import torch

import adjoint as ad

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (1,), (3,), (0,), (2, 0), (2, 3), (2, 2, 2), (1001,), (40, 40), (30,), (2, 1, 60)]
SCALES = [1.0, 1e-6, 1e9, 1e3]
OPTIONS = [
    {},
    {"precision": 2},
    {"profile": "short"},
    {"sci_mode": True},
    {"sci_mode": False},
    {"linewidth": 40},
    {"edgeitems": 1, "threshold": 5},
]


def both(values, dtype):
    return [lib.tensor(values).to(getattr(lib, dtype)) for lib in (ad, torch)]


def same(ours, theirs):
    """The longer name of the library may push the dtype to a line of its own."""
    ours, theirs = (re.sub(r",\s+dtype=", ", dtype=", repr(t)) for t in (ours, theirs))
    assert ours == theirs.replace("torch.", "adjoint.")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_and_types(shape, dtype):
    rng = np.random.default_rng(len(shape))
    for scale in SCALES:
        values = rng.normal(size=shape) * (scale if dtype not in ("uint8", "int32") else 10)
        if dtype == "uint8":
            values = np.abs(values)
        same(*both(values.tolist(), dtype))


@pytest.mark.parametrize(
    "values", [[float("nan"), 1.0], [float("inf"), -2.5], [1.0, 2.0], [1e-8, 1e8], [0.0, -0.0], [1e10], [0.1, 1e5]], ids=str
)
def test_values(values):
    for dtype in ("float32", "float64", "complex64"):
        same(*both(values, dtype))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    values = np.random.default_rng(0).normal(size=(7, 9)).tolist()
    try:
        for lib in (ad, torch):
            lib.set_printoptions(**options)
        for dtype in ("float32", "complex64", "int64"):
            same(*both(values, dtype))
    finally:
        for lib in (ad, torch):
            lib.set_printoptions(profile="default")


def test_history():
    for ours, theirs in zip(
        *(
            [x, x * 2, (x * 2).sum(), x.view(4), x.detach()]
            for x in (ad.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True))
        ),
        strict=True,
    ):
        same(ours, theirs)
    same(ad.nn.Parameter(ad.ones(2)), torch.nn.Parameter(torch.ones(2)))
