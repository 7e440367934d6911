"""The part of torch.nn that autograd code uses: `nn.functional` and `Parameter`."""

from adjoint_engine import Parameter as Parameter

from . import functional as functional
from . import parameter as parameter
from . import utils as utils
