"""Groups of processes: the world, parts of it, and who is who in them."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Sequence
from typing import Any

import adjoint_core as core

from ._alone import AloneBackend
from ._backend import Backend
from ._elements import from_bytes, to_bytes
from ._errors import DistBackendError
from ._launch import announced, has_mpi, load_mpi
from ._leave import install
from ._mpi import MpiBackend
from ._rendezvous import meet, place_of, size_of
from ._watch import Watch

default_pg_timeout = datetime.timedelta(minutes=30)
_CARRIED = (None, "mpi", "gloo", "cpu:gloo", "cpu:mpi")  # gloo's work is done by MPI
_UNSET = "Default process group has not been initialized, please make sure to call init_process_group."


class ProcessGroup:
    """Some ranks of the world and the backend that serves them; `new_group` makes one."""

    def __init__(self, ranks: Sequence[int], backend: Backend) -> None:
        self.ranks, self.backend = tuple(ranks), backend

    def rank(self) -> int:
        """The rank of this process in the group."""
        return self.backend.rank

    def size(self) -> int:
        """How many processes the group has."""
        return self.backend.size

    def name(self) -> str:
        """The backend's name."""
        return self.backend.name

    def __repr__(self) -> str:
        return f"ProcessGroup({self.backend.name}, ranks={list(self.ranks)})"


class _State:
    """The one world of this process."""

    world: ProcessGroup | None = None
    watch: Watch | None = None
    made = 0  # groups so far: the same number on all ranks
    left = False  # the world was given up: nothing joins it but init_process_group


class _GroupMeta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before `init_process_group`."""
        return _State.world


class group(metaclass=_GroupMeta):
    """``group.WORLD`` is the group of all processes."""


class GroupMember(metaclass=_GroupMeta):
    """``GroupMember.WORLD`` is that too; `new_group` gives ``NON_GROUP_MEMBER`` to a rank that is none: collectives do nothing there."""

    NON_GROUP_MEMBER = object()


def is_initialized() -> bool:
    """Whether there is a world."""
    return _State.world is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Joins the world of the processes that mpiexec or srun started; of one process where none did. All ranks call it.

    Under a launcher the first use of the world calls it by itself. Processes of one machine that were started otherwise, by
    `multiprocessing.spawn` or by hand, say ``rank`` and ``world_size`` here, or in RANK and WORLD_SIZE, as in PyTorch.

    Arguments:
        backend: "mpi", or None. "gloo" means the same: MPI carries what gloo would. A world of one process wants no MPI: one that
            ``world_size`` or WORLD_SIZE calls so, or where no launcher is seen and mpi4py is not installed.
        timeout: how long a collective may take; 30 minutes.
        world_size, rank: under a launcher, what MPI must say too.
        store: only for a world of one process, which has nothing to ask it.
        init_method: where processes meet that no launcher started: "env://" (the default, by MASTER_ADDR and MASTER_PORT), "tcp://..." or
            "file://...", the same on all.

    Raises:
        ValueError: there is a world, or an argument does not fit.
        DistError: MPI is missing or does not fit the launcher; the error says what to install.

    Example::

        >>> import adjoint.distributed as dist
        >>> dist.init_process_group("mpi")
        >>> dist.get_rank(), dist.get_world_size()
        (0, 1)
        >>> dist.destroy_process_group()
    """
    if _State.world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise ValueError("Cannot specify both init_method and store.")
    started, launcher = announced()
    size = size_of(world_size)
    place = place_of(rank, size, init_method) if started == 1 else None
    if backend not in _CARRIED:
        raise ValueError(f'init_process_group: backend must be "mpi" (or "gloo", which MPI stands in for), got {backend!r}')
    if store is not None and size != 1:
        raise ValueError("init_process_group: a store is for world_size=1, MPI needs none, got one")
    if place is None and started == 1 and not (has_mpi() and (launcher or size != 1)):
        if rank not in (-1, 0):
            raise ValueError(f"init_process_group: a world of 1 needs rank in [0, 0], got {rank}")
        _State.world = ProcessGroup([0], AloneBackend(backend or "undefined"))
        return
    limit = (default_pg_timeout if timeout is None else timeout).total_seconds()
    if place:
        meet(*place, limit)
    world = load_mpi().COMM_WORLD
    for name, given, true in (("world_size", world_size, world.size), ("rank", rank, world.rank)):
        if given not in (-1, true):
            how = "start the processes by mpiexec, srun or `python -m adjoint.distributed.run`"
            raise ValueError(f"init_process_group: {name} must be MPI's {true}, got {given}; {how}")
    if _State.watch is None:
        _State.watch = Watch(world.rank, world.size, world.bcast)
        install(_State.watch)
    _State.world = ProcessGroup(range(world.size), MpiBackend(world.Dup(), range(world.size), _State.watch, limit))


def default_group() -> ProcessGroup:
    """The world, joined now where a launcher started this process.

    Raises:
        ValueError: there is none.
    """
    if _State.world is None:
        if _State.left or announced()[0] == 1:
            raise ValueError(_UNSET)
        init_process_group()
    assert _State.world is not None
    return _State.world


def resolve(group: Any) -> ProcessGroup | None:
    """The group meant by the argument of a collective; None for one that this rank is no member of."""
    if group is None:
        return _State.world or default_group()
    if group is GroupMember.NON_GROUP_MEMBER:
        return None
    if not isinstance(group, ProcessGroup):
        raise TypeError(f"distributed: a process group is needed, got {type(group).__name__}")
    return group


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Gives up a group, or the world. All members call it."""
    given = default_group() if group is None else resolve(group)
    if given is None:
        return
    given.backend.close()
    if given is _State.world:
        _State.world, _State.left = None, True


def get_rank(group: Any = None) -> int:
    """The rank of this process in the group; -1 if it is no member."""
    given = resolve(group)
    return -1 if given is None else given.rank()


def get_world_size(group: Any = None) -> int:
    """How many processes the group has; -1 if this one is no member."""
    given = resolve(group)
    return -1 if given is None else given.size()


def get_backend(group: Any = None) -> str:
    """What carries the messages of the group: "mpi"; alone, what `init_process_group` was given."""
    given = resolve(group)
    if given is None:
        raise ValueError("get_backend: this rank is no member of the group")
    return given.name()


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The ranks, in the world, of the group's members."""
    given = resolve(group)
    return [] if given is None else list(given.ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in ``group`` of a rank of the world.

    Raises:
        ValueError: it is no member.
    """
    given = resolve(group)
    if given is None or global_rank not in given.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {given}")
    return given.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of a rank of ``group``."""
    given = resolve(group)
    if given is None or not 0 <= group_rank < given.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {given}")
    return given.ranks[group_rank]


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
) -> Any:
    """A group of some ranks of the world; in their order of rank. All ranks of the world call it, in the same order.

    Returns:
        The group; `GroupMember.NON_GROUP_MEMBER` on ranks outside of it.

    Raises:
        ValueError: ranks that the world has not, or one twice.
    """
    world = default_group()
    if backend not in _CARRIED:
        raise ValueError(f'new_group: backend must be "mpi", got {backend!r}')
    members = list(range(world.size())) if ranks is None else sorted(ranks)
    if len(set(members)) != len(members) or not members or not all(0 <= r < world.size() for r in members):
        raise ValueError(f"new_group: ranks must be different and in [0, {world.size() - 1}], got {ranks}")
    _State.made += 1
    number = _State.made
    if world.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    made: list[Backend] = []
    world.backend.submit("new_group", lambda: made.append(world.backend.subset(members, number)) or []).wait()
    if timeout is not None and isinstance(made[0], MpiBackend):
        made[0]._timeout = timeout.total_seconds()
    return ProcessGroup(members, made[0])


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: datetime.timedelta | None = None
) -> tuple[Any, list[Any]]:
    """Groups of disjoint ranks: the one of this process (None if there is none), and all."""
    flat = [r for ranks in ranks_per_subgroup_list for r in ranks]
    if len(set(flat)) != len(flat):
        raise ValueError("new_subgroups_by_enumeration: a rank is in two subgroups")
    groups = [new_group(ranks, timeout) for ranks in ranks_per_subgroup_list]
    own = [g for g in groups if isinstance(g, ProcessGroup)]
    return (own[0] if own else None), groups


def new_subgroups(group_size: int, timeout: datetime.timedelta | None = None) -> tuple[Any, list[Any]]:
    """Groups of ``group_size`` neighbours: the one of this process, and all.

    Raises:
        ValueError: the world cannot be divided so.
    """
    size = get_world_size()
    if group_size < 1 or size % group_size:
        raise ValueError(f"The world size must be divisible by 'group_size', got {size} and {group_size}")
    return new_subgroups_by_enumeration([range(i, i + group_size) for i in range(0, size, group_size)], timeout)


def agree(backend: Backend, call: str) -> None:
    """Raises on all ranks if they are not about to make the same ``call``: what the debug mode does before each collective.

    Raises:
        DistBackendError: they are not.
    """
    own = from_bytes(call.encode()[:_NOTE].ljust(_NOTE))
    notes = core.empty(backend.size * _NOTE, dtype=core.uint8, device="cpu")
    backend.all_gather(notes, own)
    calls = [to_bytes(notes[i * _NOTE : (i + 1) * _NOTE]).decode(errors="replace").rstrip() for i in range(backend.size)]
    other = next((r for r, c in enumerate(calls) if c != calls[0]), None)
    if other is not None:
        raise DistBackendError(
            f"ranks of the group do not call the same collective: rank 0 calls {calls[0]}, rank {other} calls {calls[other]}",
            other,
        )


_NOTE = 256  # bytes of the message in which a rank says what it calls


def pickled(obj: Any) -> core.Tensor:
    """An object as bytes."""
    return from_bytes(pickle.dumps(obj))


def unpickled(t: core.Tensor) -> Any:
    """The object back."""
    return pickle.loads(to_bytes(t))
