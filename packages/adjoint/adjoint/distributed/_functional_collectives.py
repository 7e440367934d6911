"""Collectives whose results are waited for when they are used; here they are waited for at once."""

from adjoint_functional.distributed.plans import wait_tensor as wait_tensor
from adjoint_functional.distributed.sharding import all_to_all_single_autograd as all_to_all_single_autograd
