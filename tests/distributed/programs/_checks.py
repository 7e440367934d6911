"""Runs the functions of a program whose names begin with `check_`, on every rank, in order."""

from __future__ import annotations

from typing import Any

import adjoint as ad
import adjoint.distributed as dist


def run(scope: dict[str, Any]) -> None:
    names = [name for name in scope if name.startswith("check_")]
    assert names
    for name in names:
        try:
            scope[name]()
        except Exception as error:
            error.add_note(f"in {name}, rank {dist.get_rank()} of {dist.get_world_size()}")
            raise
        assert ad.is_grad_enabled()
    dist.barrier()
    print("all checks hold")


def equal(a: Any, b: Any, rtol: float = 0, atol: float = 0) -> None:
    """Asserts it, with both in the message."""
    assert a.dtype == b.dtype and a.shape == b.shape, (a, b)
    if a.dtype == ad.bool or not (rtol or atol):
        assert ad.equal(a, b), (a, b)
    else:
        assert ad.allclose(a, b, rtol=rtol, atol=atol), (a, b)
