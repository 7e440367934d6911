"""`nn.attention.flex_attention` and `nn.attention.bias`: masks by functions and by blocks, scores changed by functions."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint.nn.attention.bias import CausalBias, CausalVariant, causal_lower_right, causal_upper_left
from adjoint.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)

sdpa = ad.nn.functional.scaled_dot_product_attention


def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


def operands(*shape: int, dtype: Any = ad.float64) -> list[ad.Tensor]:
    return [ad.randn(*shape, dtype=dtype, requires_grad=True) for _ in range(3)]


def test_blocks_of_a_mask() -> None:
    mask = create_block_mask(causal, 1, 2, 300, 200, BLOCK_SIZE=64)
    assert mask.shape == (1, 2, 300, 200) and mask.numel() == 120000 and round(mask.sparsity(), 2) == 4.43
    assert mask.kv_num_blocks[0, 0].tolist() == [1, 1, 1, 1, 4] and mask.kv_indices[0, 1, 2].tolist() == [2, 0, 1, 3]
    assert mask.full_kv_num_blocks is not None and mask.full_kv_num_blocks[0, 0].tolist() == [0, 1, 2, 3, 0]
    assert mask.q_num_blocks is not None and mask.q_indices is not None and mask.q_indices[0, 0, 0].tolist() == [0, 4, 1, 2, 3]
    assert mask.to_dense()[0, 0].tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    assert str(mask[0, 1]).splitlines()[1:3] == ["(0, 0)", "██      "] and mask[:, -1].kv_indices.shape == (1, 1, 5, 4)
    assert "mask_mod=causal" in repr(mask) and "q_indices=None" not in repr(mask)
    assert "░░" in mask.to_string(grid_size=2) and "..." in mask.to_string(limit=1)
    assert mask._adjust(100, 100).to_dense()[0, 0].tolist() == [[1, 0], [1, 1]] and mask.to("cpu").shape == mask.shape
    assert mask.as_tuple()[:2] == (300, 200) and mask.as_tuple(flatten=False)[0] == (300, 200)
    whole = create_block_mask(causal, None, None, 4, 4, BLOCK_SIZE=2, separate_full_blocks=False)
    assert whole.full_kv_num_blocks is None and whole.kv_num_blocks.tolist() == [[[1, 2]]]


def test_masks_joined_and_masks_of_scores() -> None:
    near = and_masks(causal, lambda b, h, q, k: q - k < 2)
    assert create_mask(near, None, None, 3, 3)[0, 0].tolist() == [
        [True, False, False],
        [True, True, False],
        [False, True, True],
    ]
    assert bool(create_mask(or_masks(causal, noop_mask), 1, 1, 3, 3).all())
    assert create_mask(lambda s, b, h, q, k: ad.where(q >= k, s, -ad.inf), 1, 1, 2, 2).long().sum() == 3
    with pytest.raises(RuntimeError, match="callable mask_mods"):
        and_masks(3)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="takes 2"):
        create_mask(lambda q, k: q >= k, 1, 1, 2, 2)  # type: ignore[arg-type, misc]


def test_attention_with_a_mask_is_that_of_the_mask() -> None:
    q, k, v = operands(2, 3, 10, 4)
    mask = create_block_mask(causal, None, None, 10, 10, BLOCK_SIZE=4)
    ad.testing.assert_close(flex_attention(q, k, v, block_mask=mask), sdpa(q, k, v, is_causal=True))
    ad.testing.assert_close(flex_attention(q, k, v), sdpa(q, k, v))
    shared = k[:, :1], v[:, :1]
    ad.testing.assert_close(
        flex_attention(q, *shared, block_mask=mask, enable_gqa=True), sdpa(q, *shared, is_causal=True, enable_gqa=True)
    )
    half = [t.detach().half() for t in (q, k, v)]
    assert flex_attention(*half, block_mask=mask).dtype is ad.float16
    one = create_block_mask(causal, 2, None, 10, 10)
    ad.testing.assert_close(
        flex_attention(q, k[:1], v[:1], block_mask=one),
        sdpa(q, k[:1].expand(2, -1, -1, -1), v[:1].expand(2, -1, -1, -1), is_causal=True),
    )


def test_lists_of_blocks_say_what_is_seen() -> None:
    q, k, v = operands(1, 1, 4, 2)
    first = BlockMask.from_kv_blocks(ad.ones(1, 1, 2, dtype=ad.int32), ad.zeros(1, 1, 2, 2, dtype=ad.int32), BLOCK_SIZE=2)
    ad.testing.assert_close(flex_attention(q, k, v, block_mask=first), sdpa(q, k[:, :, :2], v[:, :, :2]))


def test_scores_changed_by_a_function_of_learned_tensors() -> None:
    q, k, v = operands(1, 2, 5, 3)
    slope, table = (ad.randn(*shape, dtype=ad.float64, requires_grad=True) for shape in ((2,), (9,)))
    mask = create_block_mask(causal, None, None, 5, 5, BLOCK_SIZE=2)

    def attend(*x: ad.Tensor) -> ad.Tensor:
        q, k, v, slope, table = x
        return flex_attention(q, k, v, lambda s, b, h, i, j: s.tanh() + slope[h] * (i - j) + table[i - j + 4], mask, scale=0.3)

    i, j = ad.arange(5)[:, None], ad.arange(5)
    scores = (q @ k.mT * 0.3).tanh() + slope[:, None, None] * (i - j) + table[i - j + 4]
    ad.testing.assert_close(attend(q, k, v, slope, table), ad.where(i >= j, scores, -ad.inf).softmax(-1) @ v)
    assert ad.autograd.gradcheck(attend, (q, k, v, slope, table))
    assert ad.autograd.gradgradcheck(attend, (q, k, v, slope, table))


def test_what_it_gives_besides() -> None:
    q, k, v = operands(1, 2, 4, 3)
    scores = q @ k.mT / 3**0.5
    out, aux = flex_attention(q, k, v, return_aux=AuxRequest(lse=True, max_scores=True))
    ad.testing.assert_close(aux.lse, scores.logsumexp(-1))
    ad.testing.assert_close(aux.max_scores, scores.amax(-1))
    assert flex_attention(q, k, v, return_aux=AuxRequest())[1] == (None, None)
    with pytest.warns(FutureWarning, match="return_aux"):
        assert ad.equal(flex_attention(q, k, v, return_lse=True)[1], aux.lse)
    blind = create_block_mask(lambda b, h, q, k: q >= 2, None, None, 4, 4)
    out, aux = flex_attention(q, k, v, block_mask=blind, return_aux=AuxRequest(lse=True))
    assert aux.lse[0, 0, 0] == -ad.inf and not out[:, :, :2].any()
    out.sum().backward()
    assert q.grad is not None and bool(q.grad.isfinite().all())


def test_what_does_not_fit() -> None:
    q, k, v = operands(1, 2, 4, 3)
    with pytest.raises(ValueError, match=r"created for block_mask.shape=\(1, 1, 2, 2\) but got q_len=4"):
        flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, 2, 2))
    with pytest.raises(ValueError, match="_adjust"):
        flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, 8, 8))
    with pytest.raises(ValueError, match="Try setting enable_gqa"):
        flex_attention(q, k[:, :1], v[:, :1])
    with pytest.raises(NotImplementedError, match="4 dimensions, got 3"):
        flex_attention(q[0], k, v)
    with pytest.raises(RuntimeError, match="sliced BlockMask"):
        flex_attention(q, k, v, block_mask=create_block_mask(causal, None, None, 4, 4)[0])
    with pytest.raises(ValueError, match="same batch size"):
        flex_attention(q.expand(2, -1, -1, -1), k, v)
    with pytest.raises(ValueError, match="both return_lse and return_aux"):
        flex_attention(q, k, v, return_lse=True, return_aux=AuxRequest())
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        BlockMask.from_kv_blocks(ad.ones(1), ad.ones(1))
    with pytest.raises(AssertionError, match="full_kv_num_blocks and full_kv_indices"):
        BlockMask((1, 1), ad.ones(1), ad.ones(1, 1), full_kv_num_blocks=ad.ones(1))


def test_causal_masks_that_say_what_they_are() -> None:
    q, k, v = operands(1, 2, 3, 4)
    longer = [ad.cat([t, t], -2) for t in (k, v)]
    ad.testing.assert_close(sdpa(q, k, v, causal_lower_right(3, 3)), sdpa(q, k, v, is_causal=True))
    ad.testing.assert_close(sdpa(q, *longer, attn_mask=causal_upper_left(3, 6)), sdpa(q, *longer, is_causal=True))
    shown = ad.ones(3, 6).bool().tril(3)
    ad.testing.assert_close(sdpa(q, *longer, causal_lower_right(3, 6)), sdpa(q, *longer, shown))
    mask = causal_lower_right(3, 6)
    assert isinstance(mask, CausalBias) and mask.variant is CausalVariant.LOWER_RIGHT and mask.shape == (3, 6)
    assert ad.equal(~mask, ~shown) and repr(mask) == repr(shown)
    with pytest.warns(UserWarning, match="hides every key"):
        causal_lower_right(3, 2)
    with pytest.raises(ValueError, match="causal=True"):
        sdpa(q, k, v, mask, is_causal=True)
    with pytest.raises(AssertionError, match="2D"):
        causal_upper_left(3)
    with pytest.raises(AssertionError, match="CausalVariant"):
        CausalBias(1, 2, 3)  # type: ignore[arg-type]
