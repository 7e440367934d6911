"""Attention, with one head and with many."""

from __future__ import annotations

import math
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._warnings import warn

from ..asserted import AssertedShapeError, AssertedTypeError
from .activation import softmax
from .dropout import dropout


def _projected(x: Tensor, weight: Tensor, bias: Tensor | None, heads: int) -> Tensor:
    """(length, batch, features) to (batch, heads, length, features of a head); half types give float32."""
    y = _core._product(x, weight.t())
    y = y if bias is None else y + bias
    return y.reshape(x.size(0), x.size(1), heads, -1).permute(1, 2, 0, 3)


def _rounded(x: Tensor, like: Tensor) -> Tensor:
    """x in the type of `like`, if that is a half type."""
    return x.to(like.dtype) if like.dtype.itemsize == 2 else x


def _float_mask(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """A mask that is added: bools say what is hidden."""
    if mask is None or mask.dtype != _core.bool:
        return mask
    return _core.zeros(mask.shape, dtype=like.dtype, device=mask.device).masked_fill(mask, -math.inf)


def _whole_mask(mask: Tensor | None, padding: Tensor | None, batch: int, heads: int, extra: int) -> Tensor | None:
    """Both masks as one that is added to what has shape (batch, heads, queries, keys); `extra` keys have no mask."""
    if mask is not None:
        mask = _wider(mask, extra)
        mask = mask.reshape(batch, heads, *mask.shape[1:]) if mask.ndim == 3 else mask
    if padding is not None:
        padding = _wider(padding.unsqueeze(0) if padding.ndim == 1 else padding, extra).reshape(batch, 1, 1, -1)
    return padding if mask is None else mask if padding is None else mask + padding


def _looked_up(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, with_weights: bool
) -> tuple[Tensor | None, Tensor]:
    """The weights of the values, if they are wanted, and what the queries find: 0, where the mask hides every key and no weights are wanted."""
    if not with_weights:
        return None, scaled_dot_product_attention(q, k, v, mask, dropout_p)
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if dropout_p > 0:
        weights = _core.dropout(weights, dropout_p, True)
    return weights, weights @ v


def _check_attention(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int, separate: bool
) -> None:
    """Raises unless the shapes fit: (length, batch, features), or without a batch."""

    def ensure(right: bool, rule: str) -> None:
        if not right:
            raise AssertedShapeError(f"multi_head_attention_forward: {rule}")

    dims = query.ndim
    ensure(dims in (2, 3), f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    form = f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`, expected"
    ensure(
        key.ndim == value.ndim == dims,
        f"{form} `key` and `value` to be {dims}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively",
    )
    common = dims - 1 if separate else dims
    ensure(key.shape[:common] == value.shape[:common], f"key shape {key.shape} does not match value shape {value.shape}")
    batch, keys = (query.size(1) if dims == 3 else 1), key.size(0)
    ensure(dims == 2 or key.size(1) == batch, f"query has a batch of {batch}, and key one of {key.shape[1:2]}")
    for name, given in (("key_padding_mask", padding), ("attn_mask", mask)):
        if not (given is None or given.dtype is _core.bool or given.is_floating_point()):
            raise AssertedTypeError(
                f"multi_head_attention_forward: only bool and floating types of {name} are supported, got {given.dtype}"
            )
    if padding is not None and mask is not None and padding.dtype != mask.dtype:
        warn("Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.")
    if padding is not None:
        ensure(
            padding.ndim == dims - 1,
            f"{form} `key_padding_mask` to be `None` or {dims - 1}-D but found {padding.ndim}-D tensor instead",
        )
        for at, size in enumerate((batch, keys)[3 - dims :]):
            ensure(padding.size(at) == size, f"Expected key_padded_mask.shape[{at}] to be {size}, but got {padding.size(at)}")
    if mask is not None:
        ensure(mask.ndim in (2, 3), f"{form} `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead")
        right = (query.size(0), keys) if mask.ndim == 2 else (batch * heads, query.size(0), keys)
        ensure(tuple(mask.shape) == right, f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {right}.")


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in `num_heads` parts of the features, between projections of query, key and value.

    Arguments:
        query, key, value: (length, batch, features), or (length, features).
        in_proj_weight: the three projections one below the other, (3 features, features).
        out_proj_weight: (features, features).
        key_padding_mask: (batch, keys), true or -inf where a key does not count.
        attn_mask: (queries, keys) or (batch heads, queries, keys), true or -inf where a query may not look.

    Returns:
        The result, like query, and the weights, (batch, queries, keys), None unless `need_weights`. A query from which the masks hide
        every key gets 0; its weights, and the result with them, are NaN.

    Raises:
        ShapeError, TypeError: shapes that do not fit each other, types of masks.
        ValueError: `static_k` or `static_v` are given.

    Example::

        >>> x, w = ad.ones(3, 1, 4), ad.eye(4)
        >>> y, weights = ad.nn.functional.multi_head_attention_forward(
        ...     x, x, x, 4, 2, ad.cat([w, w, w]), None, None, None, False, 0.0, w, None
        ... )
        >>> y.shape, weights[0, 0]
        (adjoint.Size([3, 1, 4]), tensor([0.3333, 0.3333, 0.3333]))
    """
    _check_attention(query, key, value, key_padding_mask, attn_mask, num_heads, use_separate_proj_weight)
    single = query.ndim == 2
    if single:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
    length, batch, features = query.shape
    if features != embed_dim_to_check or features % num_heads:
        rule = f"expecting embedding dimension of {embed_dim_to_check}, divisible by num_heads {num_heads}, but got {features}"
        raise AssertedShapeError(f"multi_head_attention_forward: was {rule}")
    if static_k is not None or static_v is not None:
        raise ValueError("multi_head_attention_forward: static_k and static_v are not supported")
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else _core.chunk(in_proj_weight, 3)
    biases = (None, None, None) if in_proj_bias is None else _core.chunk(in_proj_bias, 3)
    q, k, v = (_projected(x, w, b, num_heads) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    mask, padding = _float_mask(attn_mask, q), _float_mask(key_padding_mask, q)
    extra = 0
    for more in ((bias_k, bias_v), (0.0, 0.0) if add_zero_attn else (None, None)):
        if more[0] is None:
            continue
        k, v = (_core.cat([t, _row(t, row)], 2) for t, row in zip((k, v), more, strict=True))
        extra += 1
    mask = _whole_mask(mask, padding, batch, num_heads, extra)
    attention, found = _looked_up(q, k, v, mask, dropout_p if training else 0.0, need_weights)
    joined = found.permute(2, 0, 1, 3).reshape(length, batch, features)
    out = joined @ out_proj_weight.to(joined.dtype).t()
    out = _rounded(out if out_proj_bias is None else out + out_proj_bias, query)
    seen: Any = None
    if attention is not None:
        seen = _rounded(attention.mean(1) if average_attn_weights else attention, query)
        seen = seen.squeeze(0) if single else seen
    return (out.squeeze(1) if single else out), seen


def _row(t: Tensor, row: Tensor | float) -> Tensor:
    """One more key or value for each member of the batch and head."""
    shape = (t.size(0), t.size(1), 1, t.size(3))
    if isinstance(row, Tensor):
        return row.reshape(1, t.size(1), 1, t.size(3)).expand(shape)
    return _core.zeros(shape, dtype=t.dtype, device=t.device)


def _wider(mask: Tensor, extra: int) -> Tensor:
    """A mask with as many keys more that all may see."""
    return _core.cat([mask, _core.zeros(*mask.shape[:-1], extra, dtype=mask.dtype, device=mask.device)], -1) if extra else mask


def _of_gpu(q: Tensor, v: Tensor) -> bool:
    """Whether a GPU's kernels hold the features of a head."""
    return max(q.size(-1), v.size(-1)) <= 256


def _of_cpu(q: Tensor, dropout_p: float) -> bool:
    """Whether a CPU's kernels take them."""
    return bool(q.is_cpu) and dropout_p == 0


def _in_one_pass(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float, dropout_p: float
) -> Tensor | None:
    """The attention that does not write the weights out; None where it is not made for the operands."""
    leading = q.shape[:-2]
    heads = leading[-1] if leading else 1
    if not q.is_floating_point() or not (_of_gpu(q, v) if q.is_cuda else _of_cpu(q, dropout_p)):
        return None
    if not leading == k.shape[:-2] == v.shape[:-2] or 0 in (*q.shape, *k.shape, *v.shape):
        return None
    if mask is not None:
        weights = (q.numel() // (heads * q.size(-2) * q.size(-1)), heads, q.size(-2), k.size(-2))
        if mask.ndim > min(q.ndim, 4) or (q.ndim > 4 and mask.ndim > 3) or mask.device != q.device:
            return None
        if mask.dtype is _core.bool:
            mask = _core.zeros(mask.shape, dtype=q.dtype, device=q.device).masked_fill(~mask, -math.inf)
        mask = mask.reshape((1,) * (4 - mask.ndim) + tuple(mask.shape))
        if mask.dtype != q.dtype or any(m not in (1, n) for m, n in zip(mask.shape, weights, strict=True)):
            return None
    if q.ndim == 4:
        return _core._attention(q, k, v, mask, scale, causal, dropout_p)
    parts = (x.reshape(-1, heads, *x.shape[-2:]) for x in (q, k, v))
    return _core._attention(*parts, mask, scale, causal, dropout_p).reshape(*leading, q.size(-2), v.size(-1))


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value, over the last two dimensions.

    One pass over the keys keeps no weights (FlashAttention), on GPUs, and on the CPU where none are dropped;
    second derivatives compose. Which weights a GPU drops is drawn again in backward, and the same as on the CPU after the same seed.

    A query from which the mask hides every key gets 0. With `is_causal` a query sees the keys up to its own position, and of these what a
    mask lets it. With `enable_gqa`, the heads of the query (third dimension from the end) share
    fewer heads of key and value.

    Example::

        >>> ad.nn.functional.scaled_dot_product_attention(ad.ones(1, 2, 4), ad.ones(1, 3, 4), ad.ones(1, 3, 5)).shape
        adjoint.Size([1, 2, 5])
    """
    if not query.dtype is key.dtype is value.dtype:
        types = f"query.dtype: {query.dtype}, key.dtype: {key.dtype}, and value.dtype: {value.dtype}"
        raise RuntimeError(
            f"scaled_dot_product_attention: Expected query, key, and value to have the same dtype, but got {types}"
        )
    if not (query.is_floating_point() or query.is_complex()):
        raise NotImplementedError(f"scaled_dot_product_attention: not implemented for {query.dtype}")
    if enable_gqa:
        key, value = (x.repeat_interleave(query.size(-3) // x.size(-3), -3) for x in (key, value))
    if scale is None:
        scale = query.size(-1) ** -0.5 if query.size(-1) else math.inf
    if attn_mask is not None:
        if attn_mask.dtype not in (_core.bool, _core.float32):
            _core._expect_type("scaled_dot_product_attention", "attn_mask", attn_mask, "query", query)
        mask, blind = _seeing(_causal(attn_mask, query.size(-2), key.size(-2)) if is_causal else attn_mask)
        return _attend(query, key, value, mask, dropout_p, False, scale).masked_fill(blind, 0.0)
    return _attend(query, key, value, None, dropout_p, is_causal, scale)


def _earlier(queries: int, keys: int, device: Any) -> Tensor:
    """Which keys a causal attention lets each query see."""
    return _core.ones(queries, keys, dtype=_core.bool, device=device).tril()


def _causal(mask: Tensor, queries: int, keys: int) -> Tensor:
    """The mask that hides later keys too."""
    earlier = _earlier(queries, keys, mask.device)
    return mask & earlier if mask.dtype is _core.bool else mask.masked_fill(~earlier, -math.inf)


def _seeing(mask: Tensor) -> tuple[Tensor, Tensor]:
    """The mask with queries that may look nowhere looking everywhere, and which those are: what they get is 0, not what 0 / 0 is."""
    if mask.dtype is _core.bool:
        blind = ~mask.any(-1, keepdim=True)
        return mask | blind, blind
    blind = (mask == -math.inf).all(-1, keepdim=True)
    return mask.masked_fill(blind, 0.0), blind


def _attend(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float
) -> Tensor:
    fused = _in_one_pass(query, key, value, attn_mask, is_causal, scale, dropout_p)
    if fused is not None:
        return fused
    scores = _core._product(query, key.mT) * scale
    if is_causal:
        attn_mask = _earlier(query.size(-2), key.size(-2), query.device)
    if attn_mask is not None:
        scores = _core.where(attn_mask, scores, -float("inf")) if attn_mask.dtype is _core.bool else scores + attn_mask
    weights = dropout(softmax(scores, -1), dropout_p, dropout_p > 0)
    return _rounded(weights @ value.to(weights.dtype), value)
