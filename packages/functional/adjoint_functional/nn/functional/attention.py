"""Losses and layers over sequences, for `nn.functional`: connectionist temporal classification, attention with many heads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core

_NEVER = -1e30  # the log of a probability of zero that sums and differences keep finite


def _lengths(x: Tensor | Sequence[int]) -> list[int]:
    return [int(n) for n in (x.reshape(-1).tolist() if isinstance(x, Tensor) else x)]


def _padded(targets: Tensor, lengths: list[int], blank: int) -> Tensor:
    """The labels of each sequence as a row, (batch, longest)."""
    if targets.ndim == 2:
        return targets
    if targets.numel() < sum(lengths):
        raise RuntimeError(f"ctc_loss: expected at least {sum(lengths)} targets, got {targets.numel()}")
    rows, at, longest = [], 0, max(lengths, default=0)
    for n in lengths:
        rows.append(_core.cat([targets[at : at + n], _core.full((longest - n,), blank, dtype=targets.dtype)]))
        at += n
    return _core.stack(rows)


def _shifted(alpha: Tensor, by: int) -> Tensor:
    return _core.cat([_core.full((alpha.size(0), by), _NEVER, dtype=alpha.dtype), alpha[:, :-by]], 1)


def _ctc(log_probs: Tensor, labels: Tensor, steps: Tensor, lengths: Tensor, blank: int) -> Tensor:
    """-log of the probability of all alignments, (batch,): the forward algorithm over labels with blanks between."""
    time, batch, _ = log_probs.shape
    path = _core.full((batch, 2 * labels.size(1) + 1), blank, dtype=_core.int64)
    path[:, 1::2] = labels.long()
    emitted = log_probs.gather(2, path.expand(time, *path.shape)).clamp_min(_NEVER)
    places = _core.arange(path.size(1))
    repeats = _core.cat([_core.ones(batch, min(2, path.size(1)), dtype=_core.bool), path[:, 2:] == path[:, :-2]], 1)
    barred = repeats | (path == blank)
    alpha = _core.where(places < 2, emitted[0], _NEVER)
    for t in range(1, time):
        ways = [alpha, _shifted(alpha, 1), _shifted(alpha, 2).masked_fill(barred, _NEVER)] if path.size(1) > 1 else [alpha]
        after = _core.logsumexp(_core.stack(ways), 0) + emitted[t]
        alpha = _core.where((t < steps).unsqueeze(1), after, alpha)
    last = alpha.gather(1, (2 * lengths).unsqueeze(1))
    before = alpha.gather(1, (2 * lengths - 1).clamp_min(0).unsqueeze(1)).masked_fill((lengths == 0).unsqueeze(1), _NEVER)
    return -_core.logaddexp(last, before).squeeze(1)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability that a sequence of distributions over labels and a blank spells `targets`.

    Arguments:
        log_probs: (time, batch, classes) or (time, classes), log probabilities.
        targets: (batch, longest), or all labels one behind the other, (sum of target_lengths,).
        input_lengths: (batch,), how many steps of each sequence count.
        target_lengths: (batch,), how many labels of each row count.
        blank: the class that stands for no label.
        reduction: "none", "sum", or "mean" of the losses, each divided by its number of labels.
        zero_infinity: losses of targets that do not fit, and their gradients, are 0 instead of infinite.

    Raises:
        RuntimeError: `blank` is no class, or the lengths do not fit.

    Example::

        >>> log_probs = ad.zeros(2, 1, 2).log_softmax(2)
        >>> ad.nn.functional.ctc_loss(log_probs, ad.tensor([[1]]), [2], [1])
        tensor(0.2877)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    single = log_probs.ndim == 2
    x = log_probs.unsqueeze(1) if single else log_probs
    if not 0 <= blank < x.size(2):
        raise RuntimeError(f"ctc_loss: blank must be in label range, got {blank} for {x.size(2)} classes")
    steps, lengths = _lengths(input_lengths), _lengths(target_lengths)
    if len(steps) != x.size(1) or len(lengths) != x.size(1):
        raise RuntimeError(
            f"ctc_loss: input_lengths and target_lengths must be of size batch_size, got {len(steps)}, {len(lengths)}"
        )
    if any(not 0 <= n <= x.size(0) for n in steps):
        raise RuntimeError(f"ctc_loss: Expected input_lengths to have value at most {x.size(0)}, got {steps}")
    labels = _padded(targets.unsqueeze(0) if single and targets.ndim == 1 else targets, lengths, blank)
    if any(not 0 <= n <= labels.size(1) for n in lengths):
        raise RuntimeError(f"ctc_loss: Expected target_lengths to have value at most {labels.size(1)}, got {lengths}")
    count = _core.tensor(lengths)
    losses = _ctc(x, labels, _core.tensor(steps), count, blank)
    losses = _core.where(losses > -_NEVER / 10, 0.0 if zero_infinity else math.inf, losses)
    if reduction == "mean":
        return (losses / count.clamp_min(1)).mean()
    if reduction == "sum":
        return losses.sum()
    return losses.squeeze(0) if single else losses


def _projected(x: Tensor, weight: Tensor, bias: Tensor | None, heads: int) -> Tensor:
    """(length, batch, features) to (batch, heads, length, features of a head)."""
    y = x @ weight.t()
    y = y if bias is None else y + bias
    return y.reshape(x.size(0), x.size(1), heads, -1).permute(1, 2, 0, 3)


def _float_mask(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """A mask that is added: bools say what is hidden."""
    if mask is None or mask.dtype != _core.bool:
        return mask
    return _core.zeros(mask.shape, dtype=like.dtype).masked_fill(mask, -math.inf)


def _scores(q: Tensor, k: Tensor, mask: Tensor | None, padding: Tensor | None, extra: int) -> Tensor:
    """What the queries have in common with the keys, (batch, heads, queries, keys), masked; `extra` keys have no mask."""
    batch, num_heads = q.shape[:2]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        mask = _wider(mask, extra)
        scores = scores + (mask.reshape(batch, num_heads, *mask.shape[1:]) if mask.ndim == 3 else mask)
    if padding is not None:
        padding = _wider(padding.unsqueeze(0) if padding.ndim == 1 else padding, extra)
        scores = scores + padding.reshape(batch, 1, 1, -1)
    return scores


def _check_attention(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int, separate: bool
) -> None:
    """Raises unless the shapes fit: (length, batch, features), or without a batch."""

    def ensure(right: bool, rule: str) -> None:
        if not right:
            raise _core.ShapeError(f"multi_head_attention_forward: {rule}")

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
            raise TypeError(
                f"multi_head_attention_forward: only bool and floating types of {name} are supported, got {given.dtype}"
            )
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
        The result, like query, and the weights, (batch, queries, keys), None unless `need_weights`.

    Raises:
        ShapeError, TypeError: shapes that do not fit each other, types of masks.
        ValueError: `static_k` or `static_v` are given.
    """
    _check_attention(query, key, value, key_padding_mask, attn_mask, num_heads, use_separate_proj_weight)
    single = query.ndim == 2
    if single:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
    length, batch, features = query.shape
    if features != embed_dim_to_check or features % num_heads:
        rule = f"expecting embedding dimension of {embed_dim_to_check}, divisible by num_heads {num_heads}, but got {features}"
        raise _core.ShapeError(f"multi_head_attention_forward: was {rule}")
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
    scores = _scores(q, k, mask, padding, extra)
    attention = scores.softmax(-1)
    if dropout_p > 0 and training:
        attention = _core.dropout(attention, dropout_p, True)
    joined = (attention @ v).permute(2, 0, 1, 3).reshape(length, batch, features)
    out = joined @ out_proj_weight.t()
    out = out if out_proj_bias is None else out + out_proj_bias
    seen: Any = None
    if need_weights:
        seen = attention.mean(1) if average_attn_weights else attention
        seen = seen.squeeze(0) if single else seen
    return (out.squeeze(1) if single else out), seen


def _row(t: Tensor, row: Tensor | float) -> Tensor:
    """One more key or value for each member of the batch and head."""
    shape = (t.size(0), t.size(1), 1, t.size(3))
    if isinstance(row, Tensor):
        return row.reshape(1, t.size(1), 1, t.size(3)).expand(shape)
    return _core.zeros(shape, dtype=t.dtype)


def _wider(mask: Tensor, extra: int) -> Tensor:
    """A mask with as many keys more that all may see."""
    return _core.cat([mask, _core.zeros(*mask.shape[:-1], extra, dtype=mask.dtype)], -1) if extra else mask
