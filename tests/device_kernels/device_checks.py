"""A call made on the CPU and on the device, and what must agree."""

import os
import re

import numpy as np
import pytest

import adjoint as ad

ON_GPU = os.environ.get("ADJOINT_GPU") == "1"
TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2, "complex64": 3e-5, "complex128": 1e-10}
MIXED = "Expected all tensors to be on the same device"
NO_KERNEL = re.compile(r"(\w+): no kernel for device cuda$")
WAITING: set[str] = set()
"Operations that have no kernel; an operation that has one has it for all types that it takes on the CPU."


def arrays(result):
    """All tensors of a result, as float64 or integer arrays."""
    leaves = result if isinstance(result, (tuple, list)) else [result]
    found = []
    for leaf in leaves:
        if isinstance(leaf, (tuple, list)):
            found += arrays(leaf)
        elif isinstance(leaf, ad.Tensor):
            host = leaf.detach().cpu()
            found.append((host.to(ad.float64) if host.is_floating_point() else host).numpy())
    return found


def tensors_of(result):
    leaves = result if isinstance(result, (tuple, list)) else [result]
    return [
        t
        for leaf in leaves
        for t in (tensors_of(leaf) if isinstance(leaf, (tuple, list)) else [leaf])
        if isinstance(t, ad.Tensor)
    ]


def real_parts(result):
    """Its tensors, complex ones as pairs of real numbers."""
    return [ad.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in tensors_of(result)]


def agree(device, host, dtype):
    """Results of the same shapes, types and, within the type's tolerance, values."""
    for d, h in zip(tensors_of(device), tensors_of(host), strict=True):
        assert d.is_cuda and d.dtype == h.dtype and d.shape == h.shape
    tolerance = TOLERANCE.get(dtype.name, 0)
    for d, h in zip(arrays(device), arrays(host), strict=True):
        np.testing.assert_allclose(d, h, rtol=tolerance, atol=tolerance)


def on_device(call):
    """The call's result; the test is skipped where an operation that has no kernel at all stands in the way."""
    try:
        return call()
    except NotImplementedError as error:
        missing = NO_KERNEL.search(str(error))
        if not missing or missing[1] not in WAITING:
            raise
        pytest.skip(f"{missing[1]} has no kernel")


def assert_program_agrees(program, rel=5e-4):
    """A generator of numbers, given a device, yields the same on both."""

    def run(device):
        ad.manual_seed(0)
        return list(program(device))

    host, device = run("cpu"), run("cuda")
    assert len(host) == len(device)
    assert device == pytest.approx(host, rel=rel, abs=1e-4)
