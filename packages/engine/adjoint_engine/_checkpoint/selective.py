"""Selective checkpoints: some results of the first run are kept, so that the second run need not compute them."""

from __future__ import annotations

import enum
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from adjoint_core import Tensor, registry

from .. import _engine
from ..operators import OpOverload, OpOverloadPacket, event_name, ops

SAC_IGNORED_OPS = {
    ops.aten.detach.default,
    ops.prim.device.default,
    *(getattr(ops.aten, name).default for name in ("size", "stride", "storage_offset", "numel", "dim", "is_contiguous")),
    *(getattr(ops.aten, name).default for name in ("sym_size", "sym_stride", "sym_storage_offset", "sym_numel")),
    *(getattr(ops.aten, name).default for name in ("is_strides_like_format", "is_non_overlapping_and_dense")),
}
"""Operations that no policy is asked about."""

_RECOMPUTE, _CONSUMED = object(), object()
_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that changed "
    "between forward and backward."
)


class CheckpointPolicy(enum.Enum):
    """What becomes of an operation's results: kept for the second run, kept in host memory, or computed again.

    MUST and PREFER mean the same here: nothing overrules a policy.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVED = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_OFFLOADED = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)


class SelectiveCheckpointContext:
    """What a policy is told besides the operation and its arguments: ``op_output``, the results, without history.

    ``is_recompute`` is False: policies are asked in the first run.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


class _Kept:
    """A result, and how often it had been written to."""

    def __init__(self, value: Tensor, offloaded: bool) -> None:
        self.device = value.device
        self.value = value.cpu() if offloaded else value
        self.version = None if _engine.is_inference(value) else self.value._version

    def get(self, mutation_allowed: bool) -> Tensor:
        if not mutation_allowed and self.version is not None and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value.to(self.device)


_Storage = defaultdict[OpOverload, dict[int, Any]]


def _operator(record: str, ranks: tuple[int, int], in_place: bool = False) -> OpOverload:
    name = "convolution" if record == "conv" else event_name(record, *ranks, in_place)
    found: OpOverload = getattr(ops.aten, name).default
    return found


@functools.cache
def _is_view(record: str) -> bool:
    return registry.record(record).view


class _Run:
    """A context that stands beside the door of this thread; calls of an operation are known by their order."""

    def __init__(self, storage: _Storage) -> None:
        self.storage = storage
        self.calls: Counter[OpOverload] = Counter()

    def before(self, record: str, ranks: tuple[int, int]) -> list[Tensor] | None:
        """The results, if the operation need not run."""
        return None

    def after(
        self, record: str, ranks: tuple[int, int], in_place: bool, x: list[Any], options: dict[str, Any], y: list[Tensor]
    ) -> None:
        """The operation ran."""

    def __enter__(self) -> None:
        self.calls.clear()
        self._supply = _engine.Supply(self.before, self.after)
        self._supply.start()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._supply.stop()
        del self._supply


class _FirstRun(_Run):
    def __init__(self, policy: Callable[..., Any], storage: _Storage) -> None:
        super().__init__(storage)
        self.policy = policy

    def after(
        self, record: str, ranks: tuple[int, int], in_place: bool, x: list[Any], options: dict[str, Any], y: list[Tensor]
    ) -> None:
        op = _operator(record, ranks, in_place)
        if op in SAC_IGNORED_OPS:
            return
        out = y[0] if len(y) == 1 else tuple(y)
        policy = self.policy(SelectiveCheckpointContext(is_recompute=False, op_output=out), op, *x, **options)
        saved = policy is True or policy in _SAVED
        # Writes in place must be made again, and views hold nothing of their own.
        if in_place or not (saved or policy in _OFFLOADED) or _is_view(record):
            kept: Any = _RECOMPUTE
        else:
            kept = [_Kept(_engine.detach(t), not saved) for t in y]
        self.storage[op][self.calls[op]] = kept
        self.calls[op] += 1


class _SecondRun(_Run):
    def __init__(self, storage: _Storage, mutation_allowed: bool) -> None:
        super().__init__(storage)
        self.mutation_allowed = mutation_allowed

    def before(self, record: str, ranks: tuple[int, int]) -> list[Tensor] | None:
        op = _operator(record, ranks)
        if op in SAC_IGNORED_OPS:
            return None
        number = self.calls[op]
        self.calls[op] += 1
        if op not in self.storage:
            raise RuntimeError(f"{op} encountered during backward but not found in storage. {_MISMATCH}")
        kept = self.storage[op].get(number)
        if kept is None:
            raise RuntimeError(
                f"{op} invocation index {number} encountered during backward but not found in storage. {_MISMATCH}"
            )
        if kept is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under selective "
                "activation checkpoint."
            )
        if kept is _RECOMPUTE:
            return None
        self.storage[op][number] = _CONSUMED
        return [t.get(self.mutation_allowed) for t in kept]


def _policy(chosen: Any) -> Callable[..., Any]:
    if callable(chosen) and not isinstance(chosen, OpOverload):
        return chosen
    if not isinstance(chosen, list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    for op in chosen:
        if not isinstance(op, OpOverload):
            hint = (
                f"Please update the OpOverloadPacket to a specific OpOverload: ops.{op}.default"
                if isinstance(op, OpOverloadPacket)
                else ""
            )
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}")
    return lambda context, op, *args, **kwargs: op in chosen


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., CheckpointPolicy | bool] | Sequence[OpOverload], allow_cache_entry_mutation: bool = False
) -> tuple[_Run, _Run]:
    """Two contexts for ``checkpoint(context_fn=...)``: the results of some operations are kept instead of being computed again.

    Arguments:
        policy_fn_or_list: ``policy(context, op, *args, **kwargs)`` gives a ``CheckpointPolicy``, or True for one that keeps;
            ``context.op_output`` are the results, ``op`` one of ``ad.ops.aten``, ``args`` its tensors and numbers, ``kwargs``
            its other arguments by name. Or a list of the operations to keep. Asked about are the operations that run: a linear
            layer is ``mm`` and ``add``. Random numbers, views and writes in place are made again whatever the policy says.
        allow_cache_entry_mutation: whether what was kept may be written to in between; the second run sees what was written.

    Raises:
        ValueError, TypeError: the list holds something else than operations; it is no list and no function.
        RuntimeError: in backward, if a kept result was written to, if the second run does what the first did not, or if
            backward runs a second time through what was kept.

    Example::

        >>> import functools
        >>> contexts = functools.partial(ad.utils.checkpoint.create_selective_checkpoint_contexts, [ad.ops.aten.mm.default])
        >>> x = ad.ones(2, 2, requires_grad=True)
        >>> y = ad.utils.checkpoint.checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=contexts)
        >>> y.sum().backward()
    """
    policy, storage = _policy(policy_fn_or_list), _Storage(dict)
    return _FirstRun(policy, storage), _SecondRun(storage, allow_cache_entry_mutation)
