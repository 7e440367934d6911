"""Connectionist temporal classification: the loss of sequences of labels without their alignment."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once

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
