"""Compressed sparse layouts beside PyTorch's: indices, values, text and files; each operation that PyTorch has for a layout."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse (CSR|CSC|BSR|BSC) tensor support is in beta")
BLOCKS = {"sparse_csr": None, "sparse_csc": None, "sparse_bsr": (2, 2), "sparse_bsc": (2, 2)}
RNG = np.random.default_rng(7)
MATRICES = {
    "square": RNG.integers(0, 3, (6, 6)) * RNG.integers(0, 2, (6, 6)), "empty": np.zeros((4, 6)), "full": RNG.integers(1, 9, (4, 2)),
    "wide": RNG.integers(0, 2, (2, 8)),
}  # fmt: skip


def of(lib: Any, name: str, matrix: str) -> Any:
    return lib.tensor(MATRICES[matrix].astype(np.float64)).to_sparse(layout=getattr(lib, name), blocksize=BLOCKS[name])


def parts(x: Any) -> list[Any]:
    layout = str(x.layout).partition(".")[2]
    if layout == "strided":
        return [layout, x.tolist()]
    if layout == "sparse_coo":
        x = x.coalesce()
        return [layout, x.indices().tolist(), x.values().tolist()]
    indices = (
        (x.ccol_indices(), x.row_indices()) if layout in ("sparse_csc", "sparse_bsc") else (x.crow_indices(), x.col_indices())
    )
    return [layout, *(i.tolist() for i in indices), x.values().tolist(), x._nnz(), tuple(x.shape)]


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda lib, s: s, "twice": lambda lib, s: s * 2, "neg": lambda lib, s: -s, "abs": lambda lib, s: s.abs(), "sum": lambda lib, s: s.sum(),
    "add": lambda lib, s: s + s, "product": lambda lib, s: s * s, "t": lambda lib, s: s.t(), "t by": lambda lib, s: s.t() @ lib.ones(s.shape[0], 2, dtype=lib.float64),
    "by": lambda lib, s: s @ lib.ones(s.shape[1], 2, dtype=lib.float64), "vector": lambda lib, s: s @ lib.ones(s.shape[1], dtype=lib.float64),
    "of": lambda lib, s: lib.ones(2, s.shape[0], dtype=lib.float64) @ s, "sparse": lambda lib, s: (s @ s.t()).to_dense(), "rows": lambda lib, s: s.sum(1, keepdim=True),
    "first": lambda lib, s: s[0], "coo": lambda lib, s: s.to_sparse(), "csr": lambda lib, s: s.to_sparse_csr(), "csc": lambda lib, s: s.to_sparse_csc(),
    "bsr": lambda lib, s: s.to_sparse_bsr((2, 2)), "bsc": lambda lib, s: s.to_sparse_bsc((2, 2)), "zeros": lambda lib, s: lib.zeros_like(s),
    "float": lambda lib, s: s.to(lib.float32), "plus dense": lambda lib, s: s + lib.ones(*s.shape, dtype=lib.float64),
}  # fmt: skip


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations(operation: str, name: str, matrix: str) -> None:
    f = OPERATIONS[operation]
    got = f(ad, of(ad, name, matrix))
    try:
        wanted = f(torch, of(torch, name, matrix))
    except RuntimeError:  # not there for this layout; test_compressed.py has the value
        return
    assert parts(got) == parts(wanted)
    if operation == "itself" and got._nnz():
        assert repr(got) == repr(wanted).replace("torch.", "adjoint.")


@pytest.mark.parametrize("name", BLOCKS)
def test_files(name: str) -> None:
    ours, theirs = io.BytesIO(), io.BytesIO()
    ad.save(of(ad, name, "square"), ours)
    torch.save(of(torch, name, "square"), theirs)
    for file in (ours, theirs):
        file.seek(0)
    assert parts(torch.load(ours)) == parts(of(torch, name, "square"))
    assert parts(ad.load(theirs)) == parts(of(ad, name, "square"))
    assert parts(pickle.loads(pickle.dumps(of(ad, name, "square")))) == parts(of(torch, name, "square"))


def test_sparse_functions() -> None:
    x, a = MATRICES["square"].astype(np.float64), RNG.normal(size=(6, 6))
    for dim in (0, 1):
        for f in ("softmax", "log_softmax"):
            ours, theirs = (getattr(lib.sparse, f)(lib.tensor(x).to_sparse(), dim).to_dense().numpy() for lib in (ad, torch))
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    ours, theirs = (
        lib.sparse.sampled_addmm(lib.tensor(x).to_sparse_csr(), lib.tensor(a), lib.tensor(a), beta=2.0, alpha=3.0)
        .to_dense()
        .numpy()
        for lib in (ad, torch)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    ours, theirs = (
        lib.sparse.spdiags(lib.tensor(a[:3]), lib.tensor([0, -2, 3]), (5, 6)).to_dense().numpy() for lib in (ad, torch)
    )
    np.testing.assert_array_equal(ours, theirs)
