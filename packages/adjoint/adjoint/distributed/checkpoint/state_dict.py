"""State dicts of models and optimizers whose names do not depend on the order of parameters."""

from adjoint_functional.distributed.checkpoint.state_dict import *  # noqa: F403
