#!/usr/bin/env python3
"""What each compilation costs, in processor time and memory.

    CMAKE_CXX_COMPILER_LAUNCHER=$PWD/tools/compile_cost.py COMPILE_COSTS=costs.tsv ./run wheels
    tools/compile_cost.py report costs.tsv       the sum, the longest and the largest; fails where one took more than MOST_MEMORY

CMake puts a launcher before the compiler of every file. `./run build_cost` does both.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

MOST_MEMORY = 1200  # MB: two at a time, and the rest of a build, in a machine of 2 GB that swaps a little


def launch(command: list[str]) -> int:
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if log := os.environ.get("COMPILE_COSTS"):
        name = next((word for word in command if word.endswith(".cpp")), command[-1])
        with open(log, "a") as file:
            file.write(f"{used.ru_utime + used.ru_stime:.2f}\t{used.ru_maxrss // 1024}\t{name}\n")
    return code


def report(path: str) -> int:
    rows = [line.split("\t") for line in Path(path).read_text().splitlines()]
    costs = [(float(seconds), int(memory), name) for seconds, memory, name in rows]
    print(f"{len(costs)} files, {sum(c[0] for c in costs):.0f} s of processor time, at most {max(c[1] for c in costs)} MB")
    for title, key in (("longest", 0), ("largest", 1)):
        print(title)
        for seconds, memory, name in sorted(costs, key=lambda c: c[key], reverse=True)[:10]:
            print(f"  {seconds:6.1f} s {memory:6d} MB  {'/'.join(Path(name).parts[-4:])}")
    large = [name for _, memory, name in costs if memory > MOST_MEMORY]
    if large:
        print(f"more than {MOST_MEMORY} MB: {', '.join(large)}")
    return bool(large)


if __name__ == "__main__":
    sys.exit(report(sys.argv[2]) if sys.argv[1:2] == ["report"] else launch(sys.argv[1:]))
