"""Names and numbers of reductions, which losses of libraries look up."""

from adjoint_functional.nn.functional.loss.reduction import get_enum as get_enum
from adjoint_functional.nn.functional.loss.reduction import legacy_get_enum as legacy_get_enum
from adjoint_functional.nn.functional.loss.reduction import legacy_get_string as legacy_get_string
