"""`flex_attention`: attention whose scores and mask a program's own functions make."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor, _core

from ..functional.attention import scaled_dot_product_attention
from .block_mask import BlockMask, _dense, _mask_of_a_slice
from .modifiers import ScoreMod, for_all

__all__ = ["AuxOutput", "AuxRequest", "FlexKernelOptions", "flex_attention"]

FlexKernelOptions = dict[str, Any]


class AuxRequest(NamedTuple):
    """What `flex_attention` should give besides its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What it gave: (batch, heads, queries) each, None where not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _check_heads(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError(
            f"flex_attention: query, key and value must have 4 dimensions, got {query.dim()}, {key.dim()} and {value.dim()}"
        )
    heads, shared = query.size(1), key.size(1)
    if not enable_gqa and heads != shared:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={shared}. "
            "Try setting enable_gqa=True for GQA."
        )
    if heads % shared:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={shared}."
        )
    if query.size(-1) != key.size(-1):
        raise ValueError(f"flex_attention: query and key must have the same features, got {query.size(-1)} and {key.size(-1)}")


def _check_mask(query: Tensor, key: Tensor, mask: BlockMask | None) -> None:
    batches = query.size(0), key.size(0)
    if batches[0] != batches[1] and (mask is None or mask.kv_num_blocks.size(0) != batches[0]):
        raise ValueError(
            "Expect query and key/value to have the same batch size, or block_mask and query to have the same batch size, "
            f"but got block_mask={None if mask is None else mask.shape}, Bq={batches[0]}, and Bkv={batches[1]}."
        )
    if mask is None:
        return
    if mask.mask_mod is _mask_of_a_slice:
        _mask_of_a_slice()
    if (query.size(-2), key.size(-2)) != tuple(mask.seq_lengths):
        smaller = query.size(-2) > mask.seq_lengths[0] or key.size(-2) > mask.seq_lengths[1]
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={query.size(-2)} and kv_len={key.size(-2)}. "
            f"As the block mask was created for a {'smaller' if smaller else 'larger'} length than you're using it for, you likely "
            f"need to create a new block mask{'' if smaller else ', or crop it by block_mask._adjust(q_len, kv_len)'}."
        )
    if query.device != mask.kv_num_blocks.device:
        raise RuntimeError(
            f"Expect q/k/v and block_mask to be on the same device but got {query.device} and {mask.kv_num_blocks.device}."
        )


def _seen(mask: BlockMask, sizes: tuple[int, ...], device: Any) -> Tensor:
    """What the mask shows, (B, H, queries, keys): whole blocks, and of the others what its function says."""
    shown: Tensor = for_all(mask.mask_mod, sizes=sizes, device=device)
    blocks = [_dense(mask.kv_num_blocks, mask.kv_indices)]
    if mask.full_kv_num_blocks is not None and mask.full_kv_indices is not None:
        blocks.append(_dense(mask.full_kv_num_blocks, mask.full_kv_indices))
    part, *full = (
        b.bool()
        .repeat_interleave(mask.BLOCK_SIZE[0], -2)[..., : sizes[2], :]
        .repeat_interleave(mask.BLOCK_SIZE[1], -1)[..., : sizes[3]]
        for b in blocks
    )
    shown = shown & part
    return shown | full[0] if full else shown


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query @ key.T * scale)) @ value, where `block_mask` shows a key to a query.

    The scores are written out, (B, Hq, L, S); derivatives of all orders follow, also of tensors that the functions use.

    Arguments:
        query: (B, Hq, L, E).
        key, value: (B, Hkv, S, E) and (B, Hkv, S, Ev), or of one batch for all.
        score_mod: ``score_mod(score, batch, head, query, key)``, of tensors of no dimensions; it is called for all at once.
        block_mask: of `create_block_mask`.
        scale: 1 / sqrt(E) if None.
        enable_gqa: heads of the query share fewer heads of key and value.
        return_lse: the older form of ``return_aux=AuxRequest(lse=True)``: gives the logarithms themselves.
        kernel_options: without effect.
        return_aux: asks for the logarithms of the sums of exponentials of scores, or the largest scores, as an `AuxOutput` beside the result.

    Returns:
        (B, Hq, L, Ev), in the type of the query; 0 for a query that sees no key, whose logarithm is -inf.

    Raises:
        NotImplementedError, ValueError, RuntimeError: shapes, lengths or devices that do not fit.

    Example::

        >>> from adjoint.nn.attention.flex_attention import create_block_mask, flex_attention
        >>> slope = ad.tensor([1.0, 2.0], requires_grad=True)
        >>> def alibi(score, b, h, q, k):
        ...     return score + slope[h] * (k - q)
        >>> causal = create_block_mask(lambda b, h, q, k: q >= k, None, None, 3, 3)
        >>> x = ad.zeros(1, 2, 3, 1)
        >>> y = flex_attention(x, x, ad.eye(3).expand(1, 2, 3, 3), alibi, causal)
        >>> y[0, 0]
        tensor([[1.0000, 0.0000, 0.0000],
                [0.2689, 0.7311, 0.0000],
                [0.0900, 0.2447, 0.6652]], grad_fn=<SelectBackward0>)
        >>> y[..., 0].sum().backward()
        >>> slope.grad
        tensor([-0.3384, -0.1344])
    """
    _check_heads(query, key, value, enable_gqa)
    _check_mask(query, key, block_mask)
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux. return_lse is the older form of AuxRequest(lse=True).")
    if return_lse:
        warnings.warn("return_lse is deprecated: use return_aux=AuxRequest(lse=True)", FutureWarning, stacklevel=2)
    if key.size(0) != query.size(0):
        key, value = (t.expand(query.size(0), -1, -1, -1) for t in (key, value))
    if score_mod is None and block_mask is None and not return_lse and return_aux is None:
        return scaled_dot_product_attention(query, key, value, scale=scale, enable_gqa=enable_gqa)
    key, value = (t.repeat_interleave(query.size(1) // t.size(1), 1) for t in (key, value))
    scores = _core._product(query, key.mT) * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    sizes = tuple(scores.shape)
    if score_mod is not None:
        scores = for_all(score_mod, scores, sizes=sizes, device=query.device)
    if block_mask is not None:
        scores = core.where(_seen(block_mask, sizes, query.device), scores, -math.inf)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)
    out = weights.to(query.dtype) @ value.to(query.dtype)
    lse = (
        scores.masked_fill(blind, 0.0).logsumexp(-1).masked_fill(blind.squeeze(-1), -math.inf)
        if return_lse or (return_aux and return_aux.lse)
        else None
    )
    if return_aux is not None:
        return out, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return (out, lse) if return_lse else out
