"""What each process of `distributed.run` runs: the program, with the variables that torchrun sets."""

from __future__ import annotations

import os
import runpy
import sys

from ._launch import NAMES, told


def main() -> None:
    """Runs the program that the arguments name: a file, or after ``-m`` a module."""
    for name in NAMES:
        if (value := told(name)) is not None:
            os.environ[name] = value
    os.environ.setdefault("MASTER_ADDR", "localhost")  # nobody asks there; programs read it
    os.environ.setdefault("MASTER_PORT", "29500")
    del sys.argv[0]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    sys.path.pop(0)  # which is the folder of this module or of the caller: the program gets its own
    main()
