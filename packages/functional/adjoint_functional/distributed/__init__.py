"""More than one process: collectives over MPI, with PyTorch's names. `nn`, `optim` and `algorithms` are imported by name."""

from ._backend import Backend as Backend
from ._backend import ReduceOp as ReduceOp
from ._backend import Work as Work
from ._buckets import GradBucket as GradBucket
from ._collectives import all_reduce as all_reduce
from ._collectives import barrier as barrier
from ._collectives import broadcast as broadcast
from ._collectives import reduce as reduce
from ._collectives import reduce_scatter as reduce_scatter
from ._collectives import reduce_scatter_tensor as reduce_scatter_tensor
from ._errors import DistBackendError as DistBackendError
from ._errors import DistError as DistError
from ._errors import DistNetworkError as DistNetworkError
from ._errors import DistStoreError as DistStoreError
from ._gathering import all_gather as all_gather
from ._gathering import all_gather_into_tensor as all_gather_into_tensor
from ._gathering import all_to_all as all_to_all
from ._gathering import all_to_all_single as all_to_all_single
from ._gathering import gather as gather
from ._gathering import scatter as scatter
from ._group import GroupMember as GroupMember
from ._group import ProcessGroup as ProcessGroup
from ._group import default_pg_timeout as default_pg_timeout
from ._group import destroy_process_group as destroy_process_group
from ._group import get_backend as get_backend
from ._group import get_global_rank as get_global_rank
from ._group import get_group_rank as get_group_rank
from ._group import get_process_group_ranks as get_process_group_ranks
from ._group import get_rank as get_rank
from ._group import get_world_size as get_world_size
from ._group import group as group
from ._group import init_process_group as init_process_group
from ._group import is_initialized as is_initialized
from ._group import new_group as new_group
from ._group import new_subgroups as new_subgroups
from ._group import new_subgroups_by_enumeration as new_subgroups_by_enumeration
from ._launch import get_node_local_rank as get_node_local_rank
from ._launch import has_mpi as is_mpi_available
from ._modes import DebugLevel as DebugLevel
from ._modes import get_debug_level as get_debug_level
from ._modes import is_fixed_order as is_fixed_order
from ._modes import set_debug_level as set_debug_level
from ._modes import set_fixed_order as set_fixed_order
from ._objects import all_gather_object as all_gather_object
from ._objects import broadcast_object_list as broadcast_object_list
from ._objects import gather_object as gather_object
from ._objects import recv_object_list as recv_object_list
from ._objects import scatter_object_list as scatter_object_list
from ._objects import send_object_list as send_object_list
from ._pairs import P2POp as P2POp
from ._pairs import batch_isend_irecv as batch_isend_irecv
from ._pairs import irecv as irecv
from ._pairs import isend as isend
from ._pairs import monitored_barrier as monitored_barrier
from ._pairs import recv as recv
from ._pairs import send as send
from .store import HashStore as HashStore
from .store import PrefixStore as PrefixStore
from .store import Store as Store
from .store import TCPStore as TCPStore


def is_available() -> bool:
    """Whether this package is built for more than one process: always."""
    return True


def is_gloo_available() -> bool:
    """Whether "gloo" can be asked for by several processes: where MPI is there, which stands in for it."""
    return is_mpi_available()


def is_nccl_available() -> bool:
    """Whether GPUs talk to one another: not yet."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether an elastic launcher started this process: never."""
    return False
