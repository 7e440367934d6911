"""Forward mode."""

from adjoint_engine.forward_ad import UnpackedDualTensor as UnpackedDualTensor
from adjoint_engine.forward_ad import __getattr__ as __getattr__
from adjoint_engine.forward_ad import _is_fwd_grad_enabled as _is_fwd_grad_enabled
from adjoint_engine.forward_ad import _set_fwd_grad_enabled as _set_fwd_grad_enabled
from adjoint_engine.forward_ad import dual_level as dual_level
from adjoint_engine.forward_ad import enter_dual_level as enter_dual_level
from adjoint_engine.forward_ad import exit_dual_level as exit_dual_level
from adjoint_engine.forward_ad import make_dual as make_dual
from adjoint_engine.forward_ad import unpack_dual as unpack_dual
