"""The part of torch.nn that autograd code uses: `nn.functional` and `Parameter`."""

from . import functional as functional
