"""`distributed.tensor` under its older name."""

from adjoint.distributed.tensor import *  # noqa: F403
