"""Anomaly detection: nodes remember the forward stack; an error or a nan in backward is traced to it."""

from __future__ import annotations

import sys
import warnings
from types import TracebackType
from typing import Any

from .. import _engine
from .._graph import stacks as _stacks


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on, in this process.

    Example::

        >>> ad.is_anomaly_enabled()
        False
    """
    return _engine.anomaly()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection also looks for nan in what nodes return.

    Example::

        >>> ad.is_anomaly_check_nan_enabled()
        True
    """
    return _engine.anomaly()[1]


class _Restoring:
    """Sets the state of before back at the end of the block."""

    def __init__(self) -> None:
        self._before = _engine.anomaly()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _engine.set_anomaly(*self._before)


class detect_anomaly(_Restoring):
    """Finds the forward operation whose backward fails or makes a nan, with its whole stack.

    ``detect_nan`` finds the operation itself, in the forward pass too, and says what its operands were.

    Arguments:
        check_nan: raise when a node of backward returns nan.

    Example::

        >>> x = ad.tensor([0.], requires_grad=True)
        >>> with warnings.catch_warnings(action="ignore"), ad.autograd.detect_anomaly():  # entering it warns
        ...     (x.sqrt() * 0).sum().backward()
        Traceback (most recent call last):
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        _engine.set_anomaly(True, self._check_nan)


class set_detect_anomaly(_Restoring):
    """Turns anomaly detection on or off: at once as a function, until the end of the block as a context manager.

    Arguments:
        mode: on or off.
        check_nan: raise when a node of backward returns nan.

    Example::

        >>> with ad.autograd.set_detect_anomaly(True):
        ...     ad.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        _engine.set_anomaly(bool(mode), bool(check_nan))


def _tell(text: str) -> None:
    try:
        warnings.warn(text, stacklevel=1)
    except Warning:  # warnings are errors: the one on its way out of backward is more important
        print(text, file=sys.stderr)


def _report(node: Any) -> None:
    """Says where the failed node was made; then where the node was made whose backward made it, and so on."""
    name, trace = node.name(), _engine.node_trace(node)
    if trace is None:
        _tell(
            f"Error detected in {name}. No forward pass information available. "
            "Enable detect anomaly during forward pass for more information."
        )
        return
    stack, parent = trace
    _tell(f"Error detected in {name}. Traceback of forward call that caused the error:\n{''.join(_stacks.text(stack))}")
    while parent is not None:
        induced, trace = parent.name(), _engine.node_trace(parent)
        if trace is None:
            _tell(f"\n\nPrevious calculation was induced by {induced}. No forward pass information available.")
            return
        stack, parent = trace
        _tell(
            f"\n\nPrevious calculation was induced by {induced}. Traceback of forward call that induced the previous "
            f"calculation:\n{''.join(_stacks.text(stack))}"
        )


_engine.set_anomaly_hooks(_stacks.capture, _report)
