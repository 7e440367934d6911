"""PyTorch's table of operators on device meta: results have the form of the CPU's, or the operation says that it needs values."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")
pytestmark = pytest.mark.filterwarnings("ignore")

READS = {
    *("item", "equal", "allclose", "cov", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "to_sparse", "histogram", "histogramdd"),
    *("repeat_interleave", "tensor_split", "narrow", "_segment_reduce", "nn.functional.ctc_loss", "nn.functional.embedding", "linalg.lstsq"),
    *("linspace", "logspace", "to"),
}  # fmt: skip
"Operators that read values for some of the samples."


def form(results: list[Any]) -> list[Any]:
    return [(y.shape, y.dtype, y.stride()) for y in results if y.layout is ad.strided]


def test_forms() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from operator_table import NOT_PUBLIC, op_db, ours, rebind
    from torch.utils import _pytree

    def on_meta(value: Any) -> Any:
        value = ours(value)
        if isinstance(value, ad.Tensor):
            return value.detach().to("meta")
        return ad.device("meta") if isinstance(value, ad.device) else value

    def call(f: Any, sample: Any, convert: Any) -> list[Any]:
        x, args, kwargs = _pytree.tree_map(convert, (sample.input, sample.args, sample.kwargs))
        return [y for y in _pytree.tree_leaves(f(x, *args, **kwargs)) if isinstance(y, ad.Tensor)]

    compared = 0
    for op in op_db:
        if torch.float32 not in op.dtypes or any(op.name.startswith(n.removeprefix("torch.")) for n in NOT_PUBLIC):
            continue
        for sample in itertools.islice(op.sample_inputs("cpu", torch.float32), 3):
            try:
                f = rebind(op.op)
                wanted = call(f, sample, ours)
            except Exception:  # the table of operators has it  # noqa: S112
                continue
            try:
                got = call(f, sample, on_meta)
            except NotImplementedError:
                assert op.name in READS, op.name
                continue
            assert form(got) == form(wanted), op.name
            compared += 1
    assert compared > 1300
