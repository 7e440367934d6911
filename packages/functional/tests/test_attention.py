"""Attention against a loop over heads, its masks and gradients; padded sequences; clipping by a norm that is known."""

import math
from typing import Any

import pytest

import adjoint as ad

F64 = ad.float64


def by_heads(m: ad.nn.MultiheadAttention, q: ad.Tensor, k: ad.Tensor, v: ad.Tensor, mask: ad.Tensor | None) -> ad.Tensor:
    """One head after the other, of one sequence."""
    weights = m.in_proj_weight.chunk(3) if m.in_proj_weight is not None else (m.q_proj_weight, m.k_proj_weight, m.v_proj_weight)
    projected = [x @ w.t() + b for x, w, b in zip((q, k, v), weights, m.in_proj_bias.chunk(3))]
    heads = []
    for a, b, c in zip(*(x.chunk(m.num_heads, -1) for x in projected)):
        scores = a @ b.t() / math.sqrt(m.head_dim)
        heads.append((scores if mask is None else scores.masked_fill(mask, -math.inf)).softmax(-1) @ c)
    return m.out_proj(ad.cat(heads, -1))


@pytest.mark.parametrize(("kdim", "vdim"), [(None, None), (3, 5)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_that_of_each_head(kdim: int | None, vdim: int | None, causal: bool) -> None:
    ad.manual_seed(0)
    m = ad.nn.MultiheadAttention(6, 2, kdim=kdim, vdim=vdim, batch_first=True, dtype=F64)
    ad.nn.init.normal_(m.in_proj_bias)
    q, k, v = ad.randn(4, 5, 6, dtype=F64), ad.randn(4, 5, m.kdim, dtype=F64), ad.randn(4, 5, m.vdim, dtype=F64)
    mask = ad.ones(5, 5, dtype=ad.bool).triu(1) if causal else None
    y, weights = m(q, k, v, attn_mask=mask)
    assert weights.shape == (4, 5, 5) and ad.allclose(weights.sum(-1), ad.ones(4, 5, dtype=F64))
    for i in range(4):
        assert ad.allclose(y[i], by_heads(m, q[i], k[i], v[i], mask))
        assert ad.allclose(m(q[i], k[i], v[i], attn_mask=mask, need_weights=False)[0], y[i])
    ad.autograd.gradcheck(lambda q, w: m(q, k, v, attn_mask=mask)[0] + w.sum(), (q.requires_grad_(), m.out_proj.weight))


def test_padded_keys_do_not_count() -> None:
    m = ad.nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)
    q, k = ad.randn(3, 2, 4), ad.randn(5, 2, 4)
    padding = ad.tensor([[False] * 3 + [True] * 2] * 2)
    y, weights = m(q, k, k, key_padding_mask=padding, average_attn_weights=False)
    shorter, _ = m(q, k[:3], k[:3])
    assert weights.shape == (2, 2, 3, 7) and (weights[..., 3:5] == 0).all()
    assert ad.allclose(y, shorter, atol=1e-6)


def test_attention_has_pytorchs_names_and_refuses() -> None:
    m = ad.nn.MultiheadAttention(4, 2)
    assert list(m.state_dict()) == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    assert "k_proj_weight" in ad.nn.MultiheadAttention(4, 2, kdim=3).state_dict()
    assert ad.nn.MultiheadAttention(4, 2, bias=False).in_proj_bias is None
    with pytest.raises(ValueError, match="num_heads"):
        ad.nn.MultiheadAttention(4, 0)
    x = ad.ones(3, 4)
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        m(x, x, x, is_causal=True)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("first", [False, True])
def test_sequences_are_padded_and_come_back(side: str, first: bool) -> None:
    given = [ad.randn(n, 2, requires_grad=True) for n in (3, 1, 0, 4)]
    padded = ad.nn.utils.rnn.pad_sequence(given, first, -1.0, side)
    rows = padded if first else padded.transpose(0, 1)
    assert rows.shape == (4, 4, 2) and (rows == -1.0).sum() == 2 * (1 + 3 + 4)
    for x, row in zip(given, rows):
        assert ad.equal(row[: len(x)] if side == "right" else row[4 - len(x) :], x)
    padded.sum().backward()
    assert all(ad.equal(x.grad, ad.ones_like(x)) for x in given)
    if side == "right":
        back = ad.nn.utils.rnn.unpad_sequence(padded, ad.tensor([3, 1, 0, 4]), first)
        assert all(ad.equal(x, y) for x, y in zip(given, back))


def test_padding_refuses() -> None:
    for sequences, side in (([], "right"), ([ad.ones(1)], "up")):
        with pytest.raises(RuntimeError, match="pad_sequence"):
            ad.nn.utils.rnn.pad_sequence(sequences, padding_side=side)


def test_gradients_are_clipped_by_a_norm_that_is_known() -> None:
    w = ad.ones(2, requires_grad=True)
    for norm, expected in ((6.0, 1.5), (1.0, 3.0)):
        w.grad = None
        (3 * w).sum().backward()
        ad.nn.utils.clip_grads_with_norm_([w], 3.0, ad.tensor(norm))
        assert w.grad.tolist() == pytest.approx([expected] * 2, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"query": ad.ones(4)}, ad.ShapeError, "query should be unbatched 2D or batched 3D tensor but received 1-D"),
        ({"key": ad.ones(3, 4)}, ad.ShapeError, "For batched .3-D. `query`, expected `key` and `value` to be 3-D"),
        ({"value": ad.ones(4, 2, 4)}, ad.ShapeError, "does not match value shape"),
        ({"query": ad.ones(3, 1, 4)}, ad.ShapeError, "query has a batch of 1"),
        ({"query": ad.ones(3, 2, 6)}, ad.ShapeError, "was expecting embedding dimension of 4"),
        ({"attn_mask": ad.ones(2, 2)}, ad.ShapeError, "The shape of the 2D attn_mask is .*, but should be .3, 3."),
        ({"attn_mask": ad.ones(3, 3, 3)}, ad.ShapeError, "The shape of the 3D attn_mask is .*, but should be .4, 3, 3."),
        ({"attn_mask": ad.ones(4, 3, 3, 4)}, ad.ShapeError, "2-D or 3-D but found 4-D"),
        ({"attn_mask": ad.ones(3, 3, dtype=ad.int64)}, TypeError, "only bool and floating types of attn_mask"),
        (
            {"key_padding_mask": ad.ones(2, 3, dtype=ad.int32)},
            TypeError,
            "only bool and floating types of key_padding_mask",
        ),
        ({"key_padding_mask": ad.ones(3)}, ad.ShapeError, "`key_padding_mask` to be `None` or 2-D but found 1-D"),
        ({"key_padding_mask": ad.ones(2, 4)}, ad.ShapeError, r"Expected key_padded_mask.shape\[1\] to be 3, but got 4"),
    ],
)
def test_arguments_that_do_not_fit(change: dict[str, Any], error: type[Exception], words: str) -> None:
    x = ad.ones(3, 2, 4)
    with pytest.raises(error, match=words) as caught:
        ad.nn.MultiheadAttention(4, 2)(**{"query": x, "key": x, "value": x, **change})
    assert isinstance(caught.value, AssertionError)
    with pytest.raises(ValueError, match="embed_dim must be divisible by num_heads"):
        ad.nn.MultiheadAttention(5, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ad.nn.MultiheadAttention(5, 2),
        lambda: ad.nn.Hardtanh(2, 1),
        lambda: ad.nn.Embedding(3, 2, padding_idx=5),
        lambda: ad.nn.Embedding(3, 2, _weight=ad.ones(2, 2)),
        lambda: ad.nn.Embedding.from_pretrained(ad.ones(3)),
        lambda: ad.nn.MultiheadAttention(4, 2)(*[ad.ones(3, 2, 6)] * 3),
    ],
)
def test_what_pytorch_asserts_is_an_assertion_error(wrong: Any) -> None:
    with pytest.raises(AssertionError) as caught:
        wrong()
    assert isinstance(caught.value, ValueError)


def test_a_margin_is_above_0() -> None:
    with pytest.raises(ValueError, match="expected margin to be greater than 0, got -1"):
        ad.nn.TripletMarginLoss(margin=-1)


@pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask and attn_mask")
def test_queries_that_see_nothing() -> None:
    """A padded first step under a causal mask sees no key: 0 where no weights are asked for, and finite gradients."""
    nn, layer = ad.nn, ad.nn.MultiheadAttention(4, 2)
    x, padding = ad.ones(3, 2, 4, requires_grad=True), ad.tensor([[True, False, False], [False, False, False]])
    for mask in (
        nn.Transformer.generate_square_subsequent_mask(3),
        ad.ones(3, 3, dtype=ad.bool).triu(1),
        ad.ones(4, 3, 3, dtype=ad.bool).triu(1),
    ):
        y, weights = layer(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        assert weights is None and ad.equal(y[0, 0], layer.out_proj.bias)
        assert all(g.isfinite().all() for g in ad.autograd.grad(y.sum(), [x, *layer.parameters()]))
        whole, weights = layer(x, x, x, attn_mask=mask, key_padding_mask=padding)
        assert weights[0, 0].isnan().all() and ad.allclose(whole[1:], y[1:])
