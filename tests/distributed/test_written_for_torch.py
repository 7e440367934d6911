"""A program for PyTorch's data parallel, unchanged."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

PROGRAM = Path(__file__).parent / "programs" / "written_for_torch.py"
# What PyTorch 2.13 prints, over gloo.
PRINTED = """\
epoch 0 5.225
epoch 1 2.994
epoch 2 2.463
epoch 0 3.892
epoch 1 1.831
epoch 2 1.252
[[6.0, 12.0], [3.0, 6.0]] [{'rank': 0}, {'rank': 1}] 1.0
"""


def test_it_prints_what_pytorch_prints(start: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = start("adjoint.as_torch", 2, str(PROGRAM))
    assert done.returncode == 0 and done.stdout == PRINTED, done.stdout + done.stderr
