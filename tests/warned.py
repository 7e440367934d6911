"""What a call that is made twice warns of."""

import warnings
from collections.abc import Callable

import adjoint as ad


def given(call: Callable[[], object], always: bool) -> list[warnings.WarningMessage]:
    """The warnings of two calls; always: those that are given once in a process, too, each time."""
    ad.set_warn_always(always)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            call()
            call()
    finally:
        ad.set_warn_always(False)
    return said
