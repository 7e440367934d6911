"""The CPU as a device, for code that is written for any."""

from adjoint_functional.cpu import *  # noqa: F403

from . import amp as amp
