"""`distributed.tensor.experimental` under its older name."""

from adjoint.distributed.tensor.experimental import *  # noqa: F403
