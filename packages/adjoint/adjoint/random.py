"""Random numbers: seeds and states."""

from adjoint_functional.random import *  # noqa: F403
