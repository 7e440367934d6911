"""Runs many programs, replays one, or drops what its crash does not need."""

from __future__ import annotations

import argparse
import ast
import sys
import time

from . import graphs, layouts, levels, memory, values  # noqa: F401 - they fill the table of actions
from .pool import program
from .run import Actions, crash_of, shrunk


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="state_programs", description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--length", type=int, default=300, help="actions of a program")
    parser.add_argument("--minutes", type=float, default=1e9, help="no program begins after that time")
    parser.add_argument("--seed", type=int, help="this program only, telling what it does")
    parser.add_argument("--actions", help="these only, as --shrink prints them")
    parser.add_argument("--shrink", action="store_true", help="with --seed or --actions: the fewest actions that still crash")
    return parser.parse_args()


def replay(actions: Actions, shrink: bool) -> bool:
    if shrink:
        actions = shrunk(actions)
        print(actions)
    found = crash_of(actions, loud=True)
    print(found or "no crash")
    return found is not None


def run_many(seeds: range, length: int, seconds: float) -> bool:
    start, crashes, done = time.monotonic(), 0, 0
    for seed in seeds:
        if time.monotonic() - start > seconds:
            break
        done += 1
        if found := crash_of(program(seed, length)):
            crashes += 1
            print(f"--- seed {seed}: {found}", flush=True)
    print(f"{done} programs, {crashes} crashes, {time.monotonic() - start:.0f} s")
    return crashes > 0


def main() -> int:
    chosen = options()
    if chosen.actions:
        return replay(ast.literal_eval(chosen.actions), chosen.shrink)
    if chosen.seed is not None:
        return replay(program(chosen.seed, chosen.length), chosen.shrink)
    return run_many(range(chosen.first, chosen.first + chosen.programs), chosen.length, 60 * chosen.minutes)


if __name__ == "__main__":
    sys.exit(main())
