"""The accelerator of this machine: a GPU, if there is one."""

from adjoint_core.accelerator import *  # noqa: F403
