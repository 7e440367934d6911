"""Events of a program, and statistics over windows."""

from adjoint_functional.monitor import *  # noqa: F403
from adjoint_functional.monitor import COUNT as COUNT
from adjoint_functional.monitor import MAX as MAX
from adjoint_functional.monitor import MEAN as MEAN
from adjoint_functional.monitor import MIN as MIN
from adjoint_functional.monitor import SUM as SUM
from adjoint_functional.monitor import VALUE as VALUE
