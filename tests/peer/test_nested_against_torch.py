"""Jagged batches beside PyTorch's, over its own table of operators for them: values, structure, gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint_functional.nested.tensor import NestedTensor

torch = pytest.importorskip("torch")
nested = pytest.importorskip("torch.testing._internal.opinfo.definitions.nested")

# Where PyTorch counts what lies in the holes of a batch; where its own backward ends the process.
HOLES, CRASHES = "holes", {"split_with_sizes"}
REFUSED = {"index_put", "masked_select"}  # a NotImplementedError that says so
ABSENT = {
    "_segment_reduce",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "normal_in_place",
}  # in place here, under their own names
RANDOM = {"bernoulli", "normal", "rand_like", "randn_like", "randint_like", "empty_like", "new_empty", "nn.functional.rrelu"}
OTHER_CALLS = {
    "where": lambda x, condition, other: ad.where(condition, x, other),
    "bmm": lambda x, mat2: ad.bmm(x, mat2),
    "nn.functional.embedding": lambda weight, x, **how: ad.nn.functional.embedding(x, weight, **how),
    "nn.functional.embedding_bag": lambda weight, x, **how: ad.nn.functional.embedding_bag(x, weight, **how),
}


def function(name: str) -> Any:
    if name in OTHER_CALLS:
        return OTHER_CALLS[name]
    if "polygamma" in name:
        return lambda x, n: ad.polygamma(n, x)
    if name.startswith("__"):
        return lambda x, y: getattr(x if x.is_nested else y, name if x.is_nested else name.replace("__r", "__"))(
            y if x.is_nested else x
        )
    found: Any = ad
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None or isinstance(found, ad.dtype):
        return getattr(ad.Tensor, name.rpartition(".")[2])
    return found


class Convert:
    """PyTorch's arguments as adjoint's; batches of the same offsets are of the same structure."""

    def __init__(self) -> None:
        self.sizes: dict[int, Any] = {}
        self.kept: list[Any] = []

    def __call__(self, x: Any) -> Any:
        if isinstance(x, torch.Tensor) and x.is_nested:
            row, offsets = self(x._values.detach()).requires_grad_(x.requires_grad), x._offsets
            self.kept.append(offsets)
            lengths = None if x._lengths is None else ad.tensor(x._lengths.tolist())
            batch = NestedTensor.of_row(
                row, x._ragged_idx - 1, ad.tensor(offsets.tolist()), lengths, self.sizes.get(id(offsets))
            )
            self.sizes[id(offsets)] = batch._size
            return batch
        if isinstance(x, torch.Tensor):
            return ad.tensor(x.detach().numpy()).requires_grad_(x.requires_grad)
        if isinstance(x, torch.SymInt):
            return next(iter(self.sizes.values()))
        if isinstance(x, (torch.dtype, torch.memory_format, torch.layout)):
            return getattr(ad, str(x).partition(".")[2])
        if isinstance(x, (list, tuple)):
            return type(x)(map(self, x))
        return {key: self(y) for key, y in x.items()} if isinstance(x, dict) else x


def flat(x: Any) -> list[Any]:
    return [z for y in x for z in flat(y)] if isinstance(x, (list, tuple)) else [x]


def numbers(x: Any) -> list[Any]:
    if not isinstance(x, (torch.Tensor, ad.Tensor)):
        return [x]
    pieces = x.unbind() if x.is_nested else [x]
    return [
        (str(p.dtype).partition(".")[2], p.detach().double().numpy() if p.is_floating_point() else p.detach().numpy())
        for p in pieces
    ]


def compare(wanted: Any, found: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    assert len(wanted := flat(wanted)) == len(found := flat(found))
    for x, y in zip(wanted, found, strict=True):
        assert getattr(x, "is_nested", None) == getattr(y, "is_nested", None)
        for p, q in zip(numbers(x), numbers(y), strict=True):
            if isinstance(p, tuple):
                assert p[0] == q[0] and p[1].shape == q[1].shape
                np.testing.assert_allclose(q[1], p[1], rtol, atol)
            else:
                assert p == q


def gradients(results: Any) -> Any:
    differentiable = [
        y for y in flat(results) if isinstance(y, (torch.Tensor, ad.Tensor)) and y.requires_grad and y.is_floating_point()
    ]
    return sum((y.values() if y.is_nested else y).tanh().sum() for y in differentiable) if differentiable else None


def samples(op: Any) -> list[Any]:
    try:
        return list(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd))
    except RuntimeError:  # PyTorch has none for this operator
        return []


@pytest.mark.parametrize(
    "op", [op for op in nested.njt_op_db if op.name not in ABSENT], ids=lambda op: f"{op.name}-{op.variant_test_name}"
)
@pytest.mark.filterwarnings("ignore")
def test_operators(op: Any) -> None:
    for sample in samples(op):
        try:
            wanted = op.op(sample.input, *sample.args, **sample.kwargs)
            compare(wanted, wanted)
        except Exception:  # what PyTorch refuses, or NumPy has no type for
            continue
        f, convert = function(op.name), Convert()
        x = convert(sample.input)
        args, kwargs = convert(list(sample.args)), convert(dict(sample.kwargs))
        if op.name in REFUSED:
            with pytest.raises(NotImplementedError, match="not supported for NestedTensor"):
                f(x, *args, **kwargs)
            continue
        found = f(x, *args, **kwargs)
        if op.name in RANDOM or "dropout" in op.name or HOLES in sample.name:
            continue
        compare(wanted, found)
        if (
            op.supports_autograd
            and op.name not in CRASHES
            and isinstance(sample.input, torch.Tensor)
            and (total := gradients(wanted)) is not None
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    total.backward()
                except Exception:  # PyTorch's own derivative fails
                    continue
            gradients(found).backward()
            if sample.input.grad is not None and op.name != "bfloat16":  # whose results are rounded
                compare(sample.input.grad, x.grad, 0.02, 1e-3)  # of tanh, where it is flat
