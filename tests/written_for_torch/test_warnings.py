"""Warnings that PyTorch gives, which programs look for or turn into errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import adjoint as ad

x = ad.arange(6.0).view(2, 3)
rows = ad.tensor([1, 0], dtype=ad.uint8)
F = ad.nn.functional


def encoded(mask: ad.Tensor, padding: ad.Tensor) -> ad.Tensor:
    return ad.nn.TransformerEncoder(ad.nn.TransformerEncoderLayer(2, 1, 3), 1)(ad.ones(2, 1, 2), mask, padding)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("indexing with dtype torch.uint8 is now deprecated", lambda: x[rows]),
        ("indexing with dtype torch.uint8 is now deprecated", lambda: x[:, (x[0] > 1).byte()]),
        (r"std\(\): degrees of freedom is <= 0", lambda: ad.ones(1).std()),
        (r"var\(\): degrees of freedom is <= 0", lambda: ad.var(x, 0, correction=2)),
        (r"var_mean\(\): degrees of freedom is <= 0", lambda: ad.var_mean(ad.ones(0))),
        ("where received a uint8 condition", lambda: ad.where((x > 1).byte(), x, x)),
        ("torch.meshgrid: in an upcoming release", lambda: ad.meshgrid(x[0], x[1])),
        ("`eps` parameter is deprecated", lambda: F.gumbel_softmax(x, eps=1e-3)),
        ("discards the imaginary part", lambda: (1j * x).sum(dtype=ad.float32)),
        ("discards the imaginary part", lambda: (1j * x).cumsum(0, dtype=ad.float32)),
        ("discards the imaginary part", lambda: F.softmax(1j * x, 0, dtype=ad.float32)),
        ("a list of numpy.ndarrays is extremely slow", lambda: ad.tensor([[[1.0, 2.0]], [numpy.ones(2)]])),
        ("array is not writable", lambda: ad.Tensor(numpy.broadcast_to(numpy.ones(1, "float32"), (3,)))),
        ("zero-element tensors is a no-op", lambda: ad.nn.Conv1d(1, 0, 1)),
        ("mismatched src_key_padding_mask and mask is", lambda: encoded(ad.zeros(2, 2), ad.zeros(1, 2, dtype=ad.bool))),
        ("Use of masked_fill_ on expanded tensors", lambda: ad.ones(1).expand(3).masked_fill_(ad.tensor([True, False, False]), 2)),
        ("Use of index_put_ on expanded tensors", lambda: ad.ones(1).expand(3).__setitem__(ad.tensor([0]), 2.0)),
    ],
)  # fmt: skip
def test_of_what_is_deprecated_or_goes_wrong(text: str, call: Callable[[], Any]) -> None:
    ad.set_warn_always(True)  # whatever was warned of before
    try:
        with pytest.warns(UserWarning, match=text):
            call()
    finally:
        ad.set_warn_always(False)


def test_of_older_names() -> None:
    with pytest.warns(FutureWarning, match="use `NLLLoss` instead"):
        loss = ad.nn.NLLLoss2d(reduction="sum")
    assert isinstance(loss, ad.nn.NLLLoss) and loss.reduction == "sum"


@pytest.mark.parametrize(
    "call",
    [
        lambda: (x.var(1), x.std(unbiased=False), ad.ones(1).var(unbiased=False), ad.std_mean(x, (0, 1))),
        lambda: (x[rows.bool()], x[rows.long()], x[ad.tensor(1, dtype=ad.uint8)]),
        lambda: F.gumbel_softmax(x),
        lambda: F.batch_norm(x, None, None, training=True),
    ],
)
def test_none_of_what_is_right(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()
