"""The mode that counts floating-point operations."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

from adjoint_engine.dispatch import TorchDispatchMode

from ...nn.modules import Module
from ..module_tracker import ModuleTracker
from .formulas import flop_registry, with_shapes
from .table import table

__all__ = ["FlopCounterMode"]


class _Counting(TorchDispatchMode):
    """Counts what runs below derivatives."""

    def __init__(self, counter: FlopCounterMode) -> None:
        self.counter = counter

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        return self.counter._count_flops(func._overloadpacket, out, args, kwargs or {})


class FlopCounterMode:
    """Inside of ``with counter:`` the floating-point operations of products, convolutions and attention are counted, backward's too.

    They are booked on "Global" and on each module that runs (`utils.module_tracker` names them), by operation. Operations are those that run
    here: a linear layer is ``aten.mm`` and a sum, which is not counted.

    Arguments:
        mods: not needed; a warning says so.
        depth: how deep the modules of the table lie, None: all.
        display: prints the table at the end of the ``with``.
        custom_mapping: more formulas, by operation, as `register_flop_formula` takes them.

    Example::

        >>> model = ad.nn.Sequential(ad.nn.Linear(4, 8), ad.nn.Linear(8, 2))
        >>> with ad.utils.flop_counter.FlopCounterMode() as counter:
        ...     y = model(ad.ones(3, 4))
        Module           FLOP    % Total
        -------------  ------  ---------
        Sequential        288    100.00%
         - aten.mm        288    100.00%
         Sequential.0     192     66.67%
          - aten.mm       192     66.67%
         Sequential.1      96     33.33%
          - aten.mm        96     33.33%
        >>> counter.get_total_flops(), counter.get_flop_counts()["Sequential.1"]
        (288, {<OpOverloadPacket(op='aten.mm')>: 96})
    """

    def __init__(
        self,
        mods: Module | list[Module] | None = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        more = {func: f if getattr(f, "_get_raw", False) else with_shapes(f) for func, f in (custom_mapping or {}).items()}
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        self.flop_registry = flop_registry | more
        self.mod_tracker = ModuleTracker()
        self.mode: _Counting | None = None

    def get_total_flops(self) -> int:
        """How many there were."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """How many there were by module, and for each by operation."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text: modules at most `depth` deep, and their parts of the whole."""
        return table(self.flop_counts, self.get_total_flops(), self.depth if depth is None else depth)

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        assert self.mode is not None
        self.mode.__exit__(*error)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table())

    def _count_flops(self, func: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if (formula := self.flop_registry.get(func)) is not None:
            count = formula(*args, **kwargs, out_val=out)
            for name in self.mod_tracker.parents:
                self.flop_counts[name][func] += count
        return out
