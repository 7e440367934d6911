"""Helpers around autograd: checkpoints and hook handles."""

from . import checkpoint as checkpoint
from . import hooks as hooks
