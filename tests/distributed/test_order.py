"""Sums over ranks in a fixed order."""

from __future__ import annotations

import subprocess
from collections.abc import Callable


def test_the_same_bits_from_run_to_run(start: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    runs = [start("order.py", 3) for _ in range(2)]
    said = [[line for line in done.stdout.splitlines() if line.startswith("parameters")] for done in runs]
    assert all(done.returncode == 0 for done in runs), runs[0].stderr + runs[1].stderr
    assert len(said[0]) == 1 and said[0] == said[1]
