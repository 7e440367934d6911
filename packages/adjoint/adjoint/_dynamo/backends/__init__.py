"""Where PyTorch's compiler has what it hands graphs to."""

from . import debugging as debugging
