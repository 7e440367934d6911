"""Uneven inputs and communication hooks."""

from . import ddp_comm_hooks as ddp_comm_hooks
from . import join as join
from .join import Join as Join
from .join import Joinable as Joinable
from .join import JoinHook as JoinHook
