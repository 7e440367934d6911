"""Connectionist temporal classification: the loss of sequences of labels without their alignment."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adjoint_core import Tensor, _core
from adjoint_core._compose import node, rounded_once
from adjoint_engine._engine import any_lifted

from ...._members import call_of_each

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
        rows.append(
            _core.cat([targets[at : at + n], _core.full((longest - n,), blank, dtype=targets.dtype, device=targets.device)])
        )
        at += n
    return _core.stack(rows)


def _emitted(log_probs: Tensor, path: Tensor) -> Tensor:
    """(time, batch * places): log probabilities along each path, behind two places that are never reached."""
    time, batch, _ = log_probs.shape
    found = log_probs.gather(2, path.expand(time, *path.shape)).clamp_min(_NEVER)
    return _core.cat([_core.full((time, batch, 2), _NEVER, dtype=found.dtype, device=found.device), found], 2).flatten(1)


def _alpha(log_probs: Tensor, path: Tensor, blank: int, ends: set[int]) -> dict[int, Tensor]:
    """For each number of steps in `ends`, the log probabilities of being at each place of the path then, (batch, places).

    All rows lie in one line, each behind the two places that are never reached: the places before each are shifts of the line.
    """
    batch, length = path.shape
    rows = _emitted(log_probs, path).unbind()
    barred = _core.ones(batch, length + 2, dtype=_core.bool, device=path.device)  # the ways from two places before
    barred[:, 4:] = (path[:, 2:] == path[:, :-2]) | (path[:, 2:] == blank)
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


def _ctc(log_probs: Tensor, labels: Tensor, steps: list[int], lengths: Tensor, blank: int) -> Tensor:
    """-log of the probability of all alignments, (batch,): the forward algorithm over labels with blanks between."""
    path = _core.full((log_probs.size(1), 2 * labels.size(1) + 1), blank, dtype=_core.int64, device=labels.device)
    path[:, 1::2] = labels.long()
    counted = _core.tensor(steps, device=labels.device).clamp_min(1)
    found = _alpha(log_probs, path, blank, set(counted.tolist()))
    alpha = found.pop(max(found))
    for end, earlier in found.items():
        alpha = _core.where((counted == end).unsqueeze(1), earlier, alpha)
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
    if any_lifted(tuple(n for n in (input_lengths, target_lengths) if isinstance(n, Tensor))):
        given = (log_probs, targets, input_lengths, target_lengths)
        return call_of_each(lambda *own: ctc_loss(*own, blank, reduction, zero_infinity), *given)
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
    count = _core.tensor(lengths, device=x.device)
    counting = x[: max([1, *steps])], labels[:, : max(lengths, default=0)]
    losses = _ctc(*counting, steps, count, blank)
    losses = _core.where(losses > -_NEVER / 10, 0.0 if zero_infinity else math.inf, losses)
    if reduction == "mean":
        return (losses / count.clamp_min(1)).mean()
    if reduction == "sum":
        return losses.sum()
    return losses.squeeze(0) if single else losses
