"""Calls of which PyTorch warns: adjoint warns too, in the words of its first sentence, and gives the same."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")


def at_corners(lib: Any, F: Any) -> Any:
    return F.affine_grid(lib.ones(1, 2, 3), [1, 1, 2, 1], align_corners=True)


CALLS = {
    "softmax": lambda lib, F: F.softmax(lib.ones(2, 3)), "softmax 3d": lambda lib, F: F.softmax(lib.ones(2, 3, 4)),
    "softmin": lambda lib, F: F.softmin(lib.ones(2, 3)), "log_softmax": lambda lib, F: F.log_softmax(lib.ones(3)),
    "Softmax": lambda lib, F: lib.nn.Softmax()(lib.ones(2, 3)), "LogSoftmax": lambda lib, F: lib.nn.LogSoftmax()(lib.ones(2, 3)),
    "reduce": lambda lib, F: F.mse_loss(lib.ones(3), lib.zeros(3), reduce=False),
    "size_average": lambda lib, F: F.l1_loss(lib.ones(3), lib.zeros(3), size_average=False),
    "loss": lambda lib, F: lib.nn.MSELoss(size_average=True)(lib.ones(3), lib.zeros(3)),
    "grid_sample": lambda lib, F: F.grid_sample(lib.ones(1, 1, 2, 2), lib.zeros(1, 2, 2, 2)),
    "affine_grid": lambda lib, F: F.affine_grid(lib.ones(1, 2, 3), [1, 1, 2, 2]), "affine_grid 1": at_corners,
    "upsample": lambda lib, F: F.upsample(lib.ones(1, 1, 2), scale_factor=2),
    "upsample_nearest": lambda lib, F: F.upsample_nearest(lib.ones(1, 1, 2, 2), scale_factor=2),
    "upsample_bilinear": lambda lib, F: F.upsample_bilinear(lib.ones(1, 1, 2, 2), scale_factor=2),
    "dropout2d of 2d": lambda lib, F: F.dropout2d(lib.ones(2, 3), training=False),
    "dropout2d of 3d": lambda lib, F: F.dropout2d(lib.ones(2, 3, 4), training=False),
    "dropout3d of 3d": lambda lib, F: F.dropout3d(lib.ones(2, 3, 4), training=False),
    "meshgrid": lambda lib, F: lib.meshgrid(lib.ones(2), lib.ones(3))[0],
    "where": lambda lib, F: lib.where(lib.tensor([1, 0], dtype=lib.uint8), lib.ones(2), lib.zeros(2)),
    "kl_div": lambda lib, F: F.kl_div(lib.ones(2), lib.ones(2)), "KLDivLoss": lambda lib, F: lib.nn.KLDivLoss()(lib.ones(2), lib.ones(2)),
    "Hardtanh": lambda lib, F: lib.nn.Hardtanh(max_value=0.5)(lib.ones(2)), "Hardtanh 2": lambda lib, F: lib.nn.Hardtanh(-1, 1, False, 0)(-lib.ones(2)),
    "Dropout2d": lambda lib, F: lib.nn.Dropout2d(1.0)(lib.ones(2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_warning(name: str) -> None:
    said, found = [], []
    for lib in (ad, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append(CALLS[name](lib, lib.nn.functional))
        named = [str(w.message).removeprefix("torch.") for w in caught]
        said.append(
            [
                (w.category, text.split(". ")[0].split(" (")[0].rstrip("."), w.filename == __file__ or lib is torch)
                for w, text in zip(caught, named)
            ]
        )
    assert said[0] == said[1] and len(said[0]) == 1
    assert (
        found[0].tolist() == pytest.approx(found[1].tolist())
        if found[0].ndim < 2
        else list(found[0].shape) == list(found[1].shape)
    )


@pytest.mark.parametrize(("name", "sizes"), [("dropout2d", (4, 3)), ("dropout2d", (4, 3, 5)), ("dropout3d", (4, 3, 5))])
@pytest.mark.filterwarnings("ignore:dropout")
def test_channels_are_dropped_whole(name: str, sizes: tuple[int, ...]) -> None:
    for lib in (ad, torch):
        lib.manual_seed(0)
        y = getattr(lib.nn.functional, name)(lib.ones(*sizes))
        kept = y.flatten(1 if name == "dropout3d" else min(2, y.ndim - 1))
        rows = kept.reshape(-1, kept.shape[-1]) if len(sizes) == 3 else y.reshape(-1, 1)
        assert {x for row in rows.tolist() for x in set(row)} == {0.0, 2.0} and all(len(set(row)) == 1 for row in rows.tolist())
