"""Connectionist temporal classification: the loss of sequences of labels without their alignment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import node, rounded_once
from adjoint_engine import _engine

_NEVER = -1e30  # the log of a probability of zero that sums and differences keep finite


def _numbers(x: Tensor) -> list[int]:
    """The values of all members, inside of transforms."""
    return [int(n) for n in _engine.plain(x.clone()).flatten().tolist()]


def _lengths(name: str, given: Tensor | Sequence[int], device: Any) -> Tensor:
    if isinstance(given, Tensor) and (given.is_floating_point() or given.is_complex() or given.dtype is _core.bool):
        raise RuntimeError(f"ctc_loss: {name} must be integral, got {given.dtype}")
    x = given.reshape(-1) if isinstance(given, Tensor) else _core.tensor([int(n) for n in given])
    return x.to(device=device, dtype=_core.int64)


def _padded(targets: Tensor, lengths: Tensor, longest: int, blank: int) -> Tensor:
    """The labels of each sequence as a row, (batch, longest)."""
    if targets.ndim == 2:
        return targets
    if targets.numel() < (most := max(_numbers(lengths.sum()))):
        raise RuntimeError(f"ctc_loss: expected at least {most} targets, got {targets.numel()}")
    if targets.numel() == 0:
        return targets.expand(lengths.numel(), 0)
    place = _core.arange(longest, device=targets.device)
    at = (lengths.cumsum(0) - lengths).unsqueeze(1) + place
    rows = targets.gather(0, at.clamp_max(targets.numel() - 1).flatten()).view(at.shape)
    return rows.masked_fill(place >= lengths.unsqueeze(1), blank)


def _emitted(log_probs: Tensor, path: Tensor) -> Tensor:
    """(time, batch * places): log probabilities along each path, behind two places that are never reached."""
    time, batch, _ = log_probs.shape
    found = log_probs.gather(2, path.expand(time, *path.shape)).clamp_min(_NEVER)
    return _core.cat([_core.full((time, batch, 2), _NEVER, dtype=found.dtype, device=found.device), found], 2).flatten(1)


def _alpha(log_probs: Tensor, path: Tensor, ends: set[int]) -> dict[int, Tensor]:
    """For each number of steps in `ends`, the log probabilities of being at each place of the path then, (batch, places).

    All rows lie in one line, each behind the two places that are never reached: the places before each are shifts of the line.
    """
    batch, length = path.shape
    rows = _emitted(log_probs, path).unbind()
    barred = _core.ones(batch, length + 2, dtype=_core.bool, device=path.device)  # the ways from two places before
    barred[:, 4:] = path[:, 2:] == path[:, :-2]
    later = (_core.arange(length + 2, device=path.device) >= 4).expand(batch, -1)  # than the first blank and the first label
    bar, begin = (log_probs.new_zeros(batch * (length + 2)).masked_fill(m.flatten(), _NEVER) for m in (barred, later))
    edge, alpha, found = log_probs.new_full((2,), _NEVER), rows[0] + begin, {}
    for t, row in enumerate(rows, 1):
        if t > 1:
            before = _core.cat([edge, alpha])
            alpha = _core.logaddexp(_core.logaddexp(alpha, before[1:-1]), before[:-2] + bar) + row
        if t in ends:
            found[t] = alpha.view(batch, -1)[:, 2:]
    return found


def _ctc(log_probs: Tensor, labels: Tensor, steps: Tensor, ends: set[int], lengths: Tensor, blank: int) -> Tensor:
    """-log of the probability of all alignments, (batch,): the forward algorithm over labels with blanks between."""
    path = _core.full((log_probs.size(1), 2 * labels.size(1) + 1), blank, dtype=_core.int64, device=labels.device)
    path[:, 1::2] = labels.long()
    found = _alpha(log_probs, path, ends)
    alpha = found.pop(max(found))
    for end, earlier in found.items():
        alpha = _core.where((steps == end).unsqueeze(1), earlier, alpha)
    last = alpha.gather(1, (2 * lengths).unsqueeze(1))
    before = alpha.gather(1, (2 * lengths - 1).clamp_min(0).unsqueeze(1)).masked_fill((lengths == 0).unsqueeze(1), _NEVER)
    return -_core.logaddexp(last, before).squeeze(1)


@node("CtcLossBackward0")
@rounded_once
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
        targets: (batch, longest), or all labels one behind the other, (sum of target_lengths,). A blank among them is a label too.
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
    steps = _lengths("input_lengths", input_lengths, x.device)
    lengths = _lengths("target_lengths", target_lengths, x.device)
    if steps.numel() != x.size(1) or lengths.numel() != x.size(1):
        raise RuntimeError(
            f"ctc_loss: input_lengths and target_lengths must be of size batch_size, got {steps.numel()}, {lengths.numel()}"
        )
    ends, sizes = _numbers(steps), _numbers(lengths)
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"ctc_loss: Expected target_lengths to be at least 0, got {sizes}")
    if any(not 0 <= n <= x.size(0) for n in ends):
        raise RuntimeError(f"ctc_loss: Expected input_lengths to have value at most {x.size(0)}, got {ends}")
    longest = max(sizes, default=0)
    labels = _padded(targets.unsqueeze(0) if single and targets.ndim == 1 else targets, lengths, longest, blank)
    if any(n > labels.size(1) for n in sizes):
        raise RuntimeError(f"ctc_loss: Expected target_lengths to have value at most {labels.size(1)}, got {sizes}")
    counting = x[: max([1, *ends])], labels[:, :longest]
    losses = _ctc(*counting, steps.clamp_min(1), {max(n, 1) for n in ends} or {1}, lengths, blank)
    losses = _core.where(losses > -_NEVER / 10, 0.0 if zero_infinity else math.inf, losses)
    if reduction == "mean":
        return (losses / lengths.clamp_min(1)).mean()
    if reduction == "sum":
        return losses.sum()
    return losses.squeeze(0) if single else losses
