"""What mpiexec starts in place of a rank that runs already: it hands its place over, and ends when all ranks have ended."""

from __future__ import annotations

import os
import socket
import sys

from ._errors import DistError
from ._launch import told
from ._rendezvous import receive, send

_OF_LAUNCHERS = ("OMPI_", "PMIX_", "PRTE_", "PMI_", "MPI_", "HYDI_", "HYDRA_")


def main(path: str) -> None:
    """Hands its place over at the socket ``path``."""
    leader = socket.socket(socket.AF_UNIX)
    leader.connect(path)
    variables = {name: value for name, value in os.environ.items() if name.startswith(_OF_LAUNCHERS)}
    descriptors = [int(variables["PMI_FD"])] if "PMI_FD" in variables else []
    send(leader, {"rank": int(told("RANK") or 0), "variables": variables}, descriptors)
    try:
        _, (held,) = receive(leader)
    except DistError:  # rank 0 says why
        return
    socket.socket(fileno=held).recv(1)  # returns when nobody holds the other end


if __name__ == "__main__":
    main(sys.argv[1])
