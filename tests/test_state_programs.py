"""Nothing that Python can reach crashes: random programs on the state of tensors, hooks, graphs and levels (`state_programs`)."""

import subprocess
import sys
from pathlib import Path


def run(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "state_programs", *options]
    return subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=600)


def test_programs_end_without_a_crash():
    done = run("--programs", "30", "--length", "250")
    assert done.returncode == 0 and "30 programs, 0 crashes" in done.stdout, done.stdout[-6000:] + done.stderr[-2000:]


def test_a_crash_is_seen_and_reduced_to_what_it_needs():
    actions = [("new", 1), ("crash", 2), ("unary", 3), ("new", 4)]
    done = run("--shrink", "--actions", repr(actions))
    assert done.returncode == 1 and "[('crash', 2)]" in done.stdout, done.stdout + done.stderr
