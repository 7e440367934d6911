"""benchmarks/gpu/run.py from end to end on the stand-in driver: every row is measured, as far as one can without a GPU."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rehearse(folder, *arguments):
    command = [sys.executable, "benchmarks/gpu/run.py", "--rehearse", *arguments]
    run = subprocess.run(command, cwd=ROOT, env=os.environ | {"OUT": str(folder)}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return (folder / "gpu.md").read_text().splitlines()


def test_what_is_not_reached_is_named(tmp_path):
    lines = rehearse(tmp_path, "graphs", "products", "--minutes", "0.1")
    assert lines[-1] == "To go on: python benchmarks/gpu/run.py graphs products"


def test_the_benchmark_runs(tmp_path):
    lines = rehearse(tmp_path)
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| call", "| cache"))]
    assert len(rows) > 35 and lines[0].startswith("# Stand-in GPU 0, sm_90")
    for row in rows:
        float(row.split("|")[-2])  # a figure, no error
