"""Optimizers under the names by which programs asked for those that step all parameters at once: ``foreach=True`` of today's."""

from __future__ import annotations

from typing import Any

from ._classic import SGD, Adagrad, Adam, AdamW, RMSprop
from ._optimizer import Optimizer
from ._variants import ASGD, Adadelta, Adamax, NAdam, RAdam, Rprop


def _together(kind: type[Optimizer]) -> type[Optimizer]:
    def start(self: Any, *args: Any, **options: Any) -> None:
        kind.__init__(self, *args, foreach=True, **options)

    return type(kind.__name__, (kind,), {"__init__": start, "__module__": __name__, "__doc__": kind.__doc__})


for _kind in (ASGD, SGD, Adadelta, Adagrad, Adam, AdamW, Adamax, NAdam, RAdam, RMSprop, Rprop):
    globals()[_kind.__name__] = _together(_kind)
