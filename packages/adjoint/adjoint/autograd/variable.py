"""Variable, the tensor with gradients of before."""

from adjoint_engine import Variable as Variable
from adjoint_engine import VariableMeta as VariableMeta
