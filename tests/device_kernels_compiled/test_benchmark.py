"""benchmarks/gpu/run.py from end to end on the stand-in driver: every row is measured, as far as one can without a GPU."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_benchmark_runs(tmp_path):
    command = [sys.executable, "benchmarks/gpu/run.py", "--rehearse"]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"OUT": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = (tmp_path / "gpu.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| call", "| cache"))]
    assert len(rows) > 35 and lines[0].startswith("# Stand-in GPU 0, sm_90")
    for row in rows:
        float(row.split("|")[-2])  # a figure, no error
