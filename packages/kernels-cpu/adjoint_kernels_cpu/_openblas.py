"""How OpenBLAS is loaded: the code of its own that it runs belongs to our instruction set, whatever the processor or the environment says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# By OpenBLAS's names. Each runs on every processor of the level and cuts products in one way there, so that results of a
# level are the same bits on all of them; left to itself it has ways of its own for each make.
CODE = {
    "baseline": "Prescott",
    "avx2": "Haswell",
    "avx512": "SkylakeX",
    "avx512_bf16": "SkylakeX",
    "amx_bf16": "SkylakeX",
    "neon": "ARMV8",
}


@contextmanager
def settings(instruction_set: str) -> Iterator[None]:
    """Set what OpenBLAS reads from the environment while it is loaded, and put the environment back.

    It would start a thread for each core, which never run here: products are cut into panels for our own threads.
    """
    before = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    for name in before:
        del os.environ[name]
    os.environ.update(OPENBLAS_CORETYPE=CODE[instruction_set], OPENBLAS_NUM_THREADS="1")
    try:
        yield
    finally:
        del os.environ["OPENBLAS_CORETYPE"], os.environ["OPENBLAS_NUM_THREADS"]
        os.environ.update(before)
