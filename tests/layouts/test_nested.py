"""Ragged batches: every function computes what it computes of each piece, and derivatives reach the pieces. PyTorch: tests/peer."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import adjoint as ad
from adjoint import nested
from adjoint.nn import functional as F

LENGTHS = [3, 1, 4]


def pieces(*rest: int, seed: int = 0) -> list[ad.Tensor]:
    ad.manual_seed(seed)
    return [ad.randn(n, *rest) for n in LENGTHS]


def batches(xs: list[ad.Tensor]) -> list[ad.Tensor]:
    """The pieces as a batch of each kind: strided, jagged, jagged with holes."""
    row = ad.cat([y for x in xs for y in (x, ad.full_like(x[:1], 1e9))])
    starts = ad.tensor([0, *(ad.tensor(LENGTHS) + 1).cumsum(0).tolist()])
    return [
        nested.as_nested_tensor(xs),
        nested.as_nested_tensor(xs, layout=ad.jagged),
        nested.nested_tensor_from_jagged(row, starts, ad.tensor(LENGTHS)),
    ]


def alike(found: Any, wanted: list[ad.Tensor]) -> None:
    parts = found.unbind()
    assert len(parts) == len(wanted)
    for x, y in zip(parts, wanted, strict=True):
        ad.testing.assert_close(x, y)


# What is called on the batch (B, j, 4), and what it means for a piece (n, 4).
CALLS = {
    "pointwise": (lambda x: (x * 2 + x.sin()).clamp(-1, 1) - 3 / (x * x + 1), None),
    "comparisons": (lambda x: (x > 0) & (x <= 1) | (x == x), None),
    "softmax": (lambda x: x.softmax(-1), None),
    "softmax-ragged": (lambda x: F.softmax(x, dim=1), lambda x: x.softmax(0)),
    "linear": (lambda x: F.linear(x, W, B), None),
    "matmul": (lambda x: x @ W, None),
    "layer_norm": (lambda x: F.layer_norm(x, (4,)), None),
    "gelu": (F.gelu, None),
    "where": (lambda x: ad.where(x > 0, x, -2 * x), None),
    "transpose": (lambda x: x.transpose(1, 2), lambda x: x.t()),
    "permute": (lambda x: x.permute(0, 2, 1), lambda x: x.t()),
    "unflatten": (lambda x: x.unflatten(-1, (2, 2)).transpose(1, 2), lambda x: x.unflatten(-1, (2, 2)).transpose(0, 1)),
    "view": (lambda x: x.view(3, -1, 2, 2), lambda x: x.reshape(-1, 2, 2)),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda x: x.unsqueeze(0)),
    "select": (lambda x: x[..., 2], None),
    "slice": (lambda x: x[:, :, 1:3], lambda x: x[:, 1:3]),
    "cat": (lambda x: ad.cat([x, x * 2], -1), None),
    "stack": (lambda x: ad.stack([x, x * 2], 1), lambda x: ad.stack([x, x * 2], 0)),
    "chunk": (lambda x: x.chunk(2, -1)[1], None),
    "cumsum": (lambda x: x.cumsum(1), lambda x: x.cumsum(0)),
    "sort": (lambda x: x.sort(-1).values, None),
    "to": (lambda x: x.to(ad.float64), None),
    "broadcast": (lambda x: x + ad.arange(4.0) + ad.ones(1, 1, 4), lambda x: x + ad.arange(4.0) + 1),
    "attention": (lambda x: F.scaled_dot_product_attention(x.unsqueeze(1), x.unsqueeze(1), x.unsqueeze(1), is_causal=True),
                  lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)),
    "products": (lambda x: x.transpose(1, 2) @ x, lambda x: x.t() @ x),
    "sum-last": (lambda x: x.sum(-1, keepdim=True), None),
    "complex": (lambda x: ad.complex(x, -x).imag, None),
}  # fmt: skip
W, B = ad.arange(16.0).view(4, 4) / 10, ad.ones(4)


@pytest.mark.parametrize("kind", range(3), ids=["strided", "jagged", "holes"])
@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, kind: int) -> None:
    f, of_piece = CALLS[name]
    xs = [x.requires_grad_() for x in pieces(4)]
    found = f(batches(xs)[kind])
    wanted = [(of_piece or f)(x) for x in xs]
    alike(found, wanted)
    if wanted[0].is_floating_point() and wanted[0].requires_grad:
        grads = ad.autograd.grad(sum(y.cos().sum() for y in found.unbind()), xs)
        for g, h in zip(grads, ad.autograd.grad(sum(y.cos().sum() for y in wanted), xs), strict=True):
            ad.testing.assert_close(g, h)


def test_dense_operands_have_an_entry_for_each_piece() -> None:
    xs, scale = pieces(4), ad.arange(3.0).view(3, 1, 1)
    for x in batches(xs):
        alike(x * scale, [y * float(i) for i, y in enumerate(xs)])
        alike(x @ ad.stack([W * i for i in range(3)]), [y @ (W * i) for i, y in enumerate(xs)])
        with pytest.raises(RuntimeError, match="does not broadcast to a NestedTensor of 3 dimensions and 3 pieces"):
            x + ad.ones(2, 1, 4)


def test_reductions_of_the_ragged_dimension_are_dense() -> None:
    xs = pieces(4)
    _, jagged, holes = batches(xs)
    for x in (jagged, holes):
        for f in (lambda y, d: y.sum(d), lambda y, d: y.amax(d), lambda y, d: y.mean(dim=d), lambda y, d: y.max(d).values):
            ad.testing.assert_close(f(x, 1), ad.stack([f(y, 0) for y in xs]))
    ad.testing.assert_close(jagged.sum((0, 1)), ad.cat(xs).sum(0))
    with pytest.raises(RuntimeError, match="along the batch dimension but not the ragged"):
        jagged.sum((0, 2))
    with pytest.raises(RuntimeError, match="not supported for NestedTensor on dim=0"):
        jagged.softmax(0)
    for x in batches(xs):
        ad.testing.assert_close(x.sum(), ad.cat(xs).sum())
        ad.testing.assert_close(x.mean(), ad.cat(xs).mean())


@pytest.mark.parametrize(
    "cut", [lambda x: x.split(2, 1), lambda x: x.split([1, 2], -2), lambda x: x.chunk(2, dim=1), lambda x: x.tensor_split(2, 1)]
)
def test_parts_of_the_ragged_dimension(cut: Any) -> None:
    same = [ad.ones(4, 2)] * 3
    for x in batches([ad.ones(n, 2) for n in LENGTHS])[1:] + [nested.as_nested_tensor(same, layout=ad.jagged)]:
        with pytest.raises(RuntimeError, match="not supported for NestedTensor on ragged dim"):
            cut(x)


def test_pieces_of_equal_length_stay_a_batch() -> None:
    x = nested.nested_tensor([ad.ones(2, 2), ad.ones(2, 2)], layout=ad.jagged)
    assert (x * 2).is_nested and x.transpose(1, 2).sum(1).is_nested and not x.sum(1).is_nested
    assert x.sum(1).shape == (2, 2) and x.sum(2).shape[1] is x.shape[1]


def test_gradients_of_leaves() -> None:
    for layout in (ad.strided, ad.jagged):
        x = nested.nested_tensor(pieces(2), layout=layout, requires_grad=True)
        assert x.is_leaf and x.grad is None
        (x * x).sum().backward()
        alike(x.grad, [2 * y.detach() for y in x])
        (x * x).backward(ad.ones_like(x))
        alike(x.grad, [4 * y.detach() for y in x])
        (g,) = ad.autograd.grad((x * 3).sum(), x)
        alike(g, [ad.full_like(y, 3.0) for y in x])
        x.grad = None
        assert x.grad is None and not x.detach().requires_grad
    layer = ad.nn.Linear(2, 3)
    layer(nested.nested_tensor(pieces(2), layout=ad.jagged)).values().sum().backward()
    ad.testing.assert_close(layer.bias.grad, ad.full((3,), 8.0))


def test_facts() -> None:
    x = nested.nested_tensor([[1, 2], [3]], layout=ad.jagged)
    assert (
        x.is_nested
        and x.layout is ad.jagged
        and x.dim() == 2
        and len(x) == x.size(0) == 2
        and x.numel() == 3
        and x.dtype is ad.int64
    )
    assert repr(x.size(1)).startswith("j") and (x + 1).size(1) == x.size(1) != nested.nested_tensor(
        [[1, 2], [3]], layout=ad.jagged
    ).size(1)
    assert repr(x.shape) == f"adjoint.Size([2, {x.size(1)}])"
    assert repr(x) == f"NestedTensor(size=(2, {x.size(1)}), offsets=tensor([0, 2, 3]), contiguous=True)"
    assert repr(nested.nested_tensor([[1, 2], [3]])) == "nested_tensor([\n  tensor([1, 2]),\n  tensor([3])\n])"
    assert x.tolist() == [[1, 2], [3]] and x[1].tolist() == [3] and x[-2, 0].item() == 1 and [len(y) for y in x] == [2, 1]
    assert x._nested_tensor_size().tolist() == [[2], [1]]
    assert x.to_padded_tensor(-1).tolist() == [[1, 2], [3, -1]] and nested.to_padded_tensor(x, 0, (2, 3)).tolist() == [
        [1, 2, 0],
        [3, 0, 0],
    ]
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), x.contiguous()):
        assert y.tolist() == x.tolist() and y.layout is ad.jagged
    bags = F.embedding_bag(x, ad.arange(8.0).view(4, 2), mode="sum")
    assert bags.tolist() == [[6, 8], [6, 7]] and F.embedding(x, ad.arange(8.0).view(4, 2))[1].tolist() == [[6, 7]]


def test_random_numbers_are_those_of_the_row() -> None:
    x = nested.nested_tensor(pieces(4), layout=ad.jagged)
    ad.manual_seed(1)
    found = F.dropout(x, 0.5).values()
    ad.manual_seed(1)
    assert ad.equal(found, F.dropout(x.values(), 0.5))


def test_in_place() -> None:
    for x in (nested.nested_tensor([[1.0, 2.0], [3.0]]), nested.nested_tensor([[1.0, 2.0], [3.0]], layout=ad.jagged)):
        assert x.mul_(2) is x and x.tolist() == [[2, 4], [6]]
        x += 1
        assert x.tolist() == [[3, 5], [7]] and x.zero_().tolist() == [[0, 0], [0]]


def test_refused() -> None:
    x, y = (nested.nested_tensor([ad.ones(2, 2), ad.ones(3, 2)], layout=layout) for layout in (ad.jagged, ad.strided))
    with pytest.raises(NotImplementedError, match="roll: not supported for NestedTensor"):
        x.roll(1, 0)
    with pytest.raises(RuntimeError, match="two ragged dimensions"):
        x @ x.transpose(1, 2)
    with pytest.raises(RuntimeError, match="on the ragged dimension"):
        x[:, :1]
    with pytest.raises(RuntimeError, match="has no shape"):
        y.shape  # noqa: B018
    with pytest.raises(RuntimeError, match="dimension 1 is irregular"):
        y.size(1)
    with pytest.raises(RuntimeError, match="one or offsets|At least one of offsets"):
        nested.nested_tensor_from_jagged(ad.ones(3))
    with pytest.raises(RuntimeError, match="differ in one dimension"):
        nested.nested_tensor([ad.ones(2, 2), ad.ones(3, 3)], layout=ad.jagged)
    with pytest.raises(RuntimeError, match="output_size must be at least"):
        x.to_padded_tensor(0, (2, 2, 2))
    with pytest.raises(RuntimeError, match="NestedTensors of 2 and 1 pieces"):
        x + nested.nested_tensor([ad.ones(2, 2)])
    with pytest.raises((RuntimeError, TypeError)):
        x.numpy()
    with pytest.raises(TypeError, match="as_nested_tensor"):
        nested.as_nested_tensor([1, 2])
