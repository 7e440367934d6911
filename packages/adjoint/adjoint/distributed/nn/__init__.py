"""Collectives that derivatives run through."""

from adjoint_functional.distributed.nn import *  # noqa: F403

from . import functional as functional
