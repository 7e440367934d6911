"""Instructions per operation, counted by callgrind: figures that a noisy machine cannot blur.

    python benchmarks/instructions.py            all programs, as a table
    python benchmarks/instructions.py add -p     where the instructions of one go, function by function

Each program runs a few and many times; the difference, divided, is what one iteration costs, interpreter included.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

PROGRAMS = {
    "empty loop": ("", "None"),
    "add": ("a, b = ad.ones(4), ad.ones(4)", "a + b"),
    "mul by a number": ("a = ad.ones(4)", "a * 2.0"),
    "view": ("a = ad.ones(4, 3)", "a.t()"),
    "index": ("a = ad.ones(4, 3)", "a[1]"),
    "recorded mul": ("a, b = ad.ones(4, requires_grad=True), ad.ones(4)", "a * b"),
    "recorded chain of 20, backward": ("x = ad.ones(1, requires_grad=True)", "chain(x).backward()"),
    "linear and relu, forward": ("x, w, c = ad.ones(8, 8), ad.ones(8, 8), ad.ones(8)", "F.relu(F.linear(x, w, c))"),
}
SCRIPT = """
import sys
import adjoint as ad
import adjoint.nn.functional as F
def chain(y):
    for _ in range(20):
        y = y * 1.01
    return y.sum()
{setup}
def run(n):
    for _ in range(n):
        {line}
run(int(sys.argv[1]))
"""
FEW, MANY = 200, 1200
FUNCTION = re.compile(r"^fn=(?:\((\d+)\)(?: (.*))?)$")


def run(script: str, times: int) -> dict[str, int]:
    """Instructions by function."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        command = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=yes",
            f"--callgrind-out-file={out}",
            sys.executable,
            "-c",
            script,
            str(times),
        ]
        subprocess.run(command, check=True, capture_output=True, env=env)
        return read(out)


def read(path: str) -> dict[str, int]:
    """Self cost by function from a callgrind file (lines that follow `calls=` are the callee's)."""
    names: dict[str, str] = {}
    cost: collections.Counter[str] = collections.Counter()
    current, skip = "", False
    with open(path) as lines:
        for line in lines:
            if match := FUNCTION.match(line):
                number, name = match.groups()
                current = names.setdefault(number, name or "")
            elif line.startswith("cfn="):
                if match := FUNCTION.match(line[1:]):
                    names.setdefault(match[1], match[2] or "")
            elif line.startswith("calls="):
                skip = True
            elif line[0] in "+-*0123456789":
                if not skip:
                    cost[current] += int(line.split()[1])
                skip = False
    return cost


def per_iteration(name: str) -> dict[str, float]:
    setup, line = PROGRAMS[name]
    script = SCRIPT.format(setup=setup, line=line)
    few, many = run(script, FEW), run(script, MANY)
    return {f: (many[f] - few.get(f, 0)) / (MANY - FEW) for f in many}


def main() -> None:
    profile = "-p" in sys.argv
    wanted = [a for a in sys.argv[1:] if a != "-p"] or list(PROGRAMS)
    for name in wanted:
        cost = per_iteration(name)
        print(f"{name:32s} {sum(cost.values()):10,.0f}", flush=True)
        if profile:
            for function, n in sorted(cost.items(), key=lambda item: -item[1])[:45]:
                if n >= 1:
                    print(f"    {n:8,.0f}  {function[:150]}")


if __name__ == "__main__":
    main()
