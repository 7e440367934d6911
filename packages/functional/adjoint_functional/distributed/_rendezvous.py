"""Processes that no launcher of MPI started meet and become its ranks: those of `multiprocessing.spawn`, or started by hand.

MPI gives places in a world only to what its launcher starts. So rank 0 has mpiexec start a placeholder for each rank. A placeholder sends what the
launcher told it (variables, and with MPICH a descriptor) to the process that takes its place, and waits until all of those have ended.
All are on one machine, where they meet at a socket whose name is made of ``init_method``.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from ._errors import DistError

_held: list[int] = []  # the end of a connection, whose other end the placeholders hold: it closes with the last rank


def size_of(world_size: int) -> int:
    """How many ranks the argument or torchrun's variable names; -1 where they name none."""
    said = os.environ.get("WORLD_SIZE", "")
    return int(said) if world_size < 0 and said.isdigit() else world_size


def place_of(rank: int, world_size: int, init_method: str | None) -> tuple[int, int, str] | None:
    """Rank, number of ranks and meeting place that arguments or torchrun's variables name; None where they name no world of several.

    Raises:
        ValueError: a part of them is missing.
    """
    if world_size <= 1:
        return None
    if rank < 0 and os.environ.get("RANK", "").isdigit():
        rank = int(os.environ["RANK"])
    scheme, _, where = (init_method or "env://").partition("://")
    if scheme == "env":
        missing = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
        if missing:
            raise ValueError(
                f"Error initializing torch.distributed using env:// rendezvous: environment variable {missing[0]} expected, but not set; "
                "or start by `python -m adjoint.distributed.run`"
            )
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    elif scheme not in ("tcp", "file"):
        raise ValueError(f"init_process_group: init_method must begin with env://, tcp:// or file://, got {init_method!r}")
    if not 0 <= rank < world_size:
        raise ValueError(f"init_process_group: a world of {world_size} needs rank in [0, {world_size - 1}], got {rank}")
    return rank, world_size, where


def meet(rank: int, world_size: int, where: str, limit: float) -> None:
    """Waits for all ranks; then MPI takes this process for one of them.

    Arguments:
        where: what all of them name alike.
        limit: seconds to wait.

    Raises:
        DistError: ranks disagree, do not come in time, or mpiexec fails.
    """
    name = hashlib.sha256(where.encode()).hexdigest()[:16]
    path = str(Path(tempfile.gettempdir()) / f"adjoint-{os.getuid()}-{name}")
    end = time.monotonic() + limit
    if rank == 0:
        variables, descriptors = _lead(path, world_size, where, end)
    else:
        with _knock(path, rank, world_size, where, end) as leader:
            variables, descriptors = receive(leader)
    held, *lent = descriptors
    os.environ.update(variables)
    if lent:
        os.environ["PMI_FD"] = str(lent[0])
    _held.append(held)


def _knock(path: str, rank: int, world_size: int, where: str, end: float) -> socket.socket:
    """A connection to rank 0, which may not be there yet.

    Raises:
        DistError: it does not come in time, or somebody else waits there.
    """
    while True:
        ours = socket.socket(socket.AF_UNIX)
        try:
            if os.stat(path).st_uid != os.getuid():
                raise DistError(f"init_process_group: {path}, where ranks meet, belongs to another user")
            ours.connect(path)
            send(ours, {"rank": rank, "world_size": world_size})
            return ours
        except OSError:
            ours.close()
            if time.monotonic() > end:
                raise DistError(
                    f"init_process_group: rank {rank} of {world_size} waited for rank 0 at {where} in vain"
                ) from None
            time.sleep(0.01)


Place = tuple[socket.socket, dict[str, str], list[int]]
"A placeholder's connection, variables and descriptors."


def _lead(path: str, world_size: int, where: str, end: float) -> tuple[dict[str, str], list[int]]:
    """Rank 0's part: receives placeholders and ranks, gives each rank its place, and returns its own."""
    Path(path).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(2 * world_size)
    listener.settimeout(0.2)
    ranks: dict[int, socket.socket] = {}
    places: dict[int, Place] = {}
    with tempfile.TemporaryFile() as words:
        launcher = _start_placeholders(path, world_size, words)
        try:
            while len(ranks) < world_size - 1 or len(places) < world_size:
                _check(launcher, words, ranks, world_size, where, end)
                try:
                    caller = listener.accept()[0]
                except TimeoutError:
                    continue
                _enter(caller, ranks, places, world_size)
        except BaseException:
            launcher.terminate()
            raise
        finally:
            listener.close()
            Path(path).unlink(missing_ok=True)
    return _give_places(ranks, places)


def _give_places(ranks: dict[int, socket.socket], places: dict[int, Place]) -> tuple[dict[str, str], list[int]]:
    """What belongs to rank 0, after the others have theirs."""
    held, waited_for = socket.socketpair()
    for place, _, _ in places.values():
        send(place, {}, [waited_for.fileno()])
        place.close()
    waited_for.close()
    for rank, caller in ranks.items():
        _, variables, descriptors = places[rank]
        send(caller, variables, [held.fileno(), *descriptors])
        caller.close()
        for number in descriptors:
            os.close(number)
    _, variables, descriptors = places[0]
    return variables, [held.detach(), *descriptors]


def _start_placeholders(path: str, world_size: int, words: IO[bytes]) -> subprocess.Popen[bytes]:
    module = f"{__package__}.run"
    command = [sys.executable, "-m", module, "-n", str(world_size), "-m", f"{__package__}._placeholder", path]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # the ranks run as who they are anyway
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=words, env={**os.environ, **root})


def _check(
    launcher: subprocess.Popen[bytes], words: IO[bytes], ranks: dict[int, Any], world_size: int, where: str, end: float
) -> None:
    if launcher.poll() is not None:
        words.seek(0)
        raise DistError(
            f"init_process_group: mpiexec ended before all {world_size} ranks were there: {words.read().decode(errors='replace').strip()}"
        )
    if time.monotonic() > end:
        missing = sorted(set(range(1, world_size)) - set(ranks))
        raise DistError(f"init_process_group: ranks {missing} of {world_size} did not come to {where} in time")


def _enter(caller: socket.socket, ranks: dict[int, socket.socket], places: dict[int, Place], world_size: int) -> None:
    """Whoever connects says which it is."""
    said, descriptors = receive(caller)
    rank = said["rank"]
    if "variables" in said:
        places[rank] = caller, said["variables"], descriptors
    elif said["world_size"] != world_size or rank in ranks or rank == 0:
        raise DistError(
            f"init_process_group: ranks disagree: rank 0 expects {world_size} ranks, another calls itself {rank} of {said['world_size']}"
        )
    else:
        ranks[rank] = caller


def send(to: socket.socket, what: dict[str, Any], descriptors: list[int] | None = None) -> None:
    """A line of JSON, and open files."""
    socket.send_fds(to, [json.dumps(what).encode() + b"\n"], descriptors or [])


def receive(source: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What `send` has sent.

    Raises:
        DistError: the other end has gone.
    """
    text, descriptors = b"", []
    while not text.endswith(b"\n"):
        part, found, _, _ = socket.recv_fds(source, 1 << 16, 4)
        if not part:
            raise DistError("init_process_group: rank 0 ended before all ranks were there")
        text += part
        descriptors += found
    return json.loads(text), descriptors
