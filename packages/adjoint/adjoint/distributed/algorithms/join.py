"""Training with different numbers of inputs on different ranks."""

from adjoint_functional.distributed.algorithms.join import Join as Join
from adjoint_functional.distributed.algorithms.join import Joinable as Joinable
from adjoint_functional.distributed.algorithms.join import JoinHook as JoinHook
