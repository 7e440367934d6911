"""What PyTorch installs as the package functorch: `adjoint.func`, and modules as functions of a tuple."""

from adjoint_functional._func.stateless import FunctionalModule as FunctionalModule
from adjoint_functional._func.stateless import FunctionalModuleWithBuffers as FunctionalModuleWithBuffers
from adjoint_functional._func.stateless import combine_state_for_ensemble as combine_state_for_ensemble
from adjoint_functional._func.stateless import make_functional as make_functional
from adjoint_functional._func.stateless import make_functional_with_buffers as make_functional_with_buffers
from adjoint_functional.func import *  # noqa: F403
