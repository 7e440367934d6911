"""What asks whether a tensor is one."""

from adjoint_functional.fx import is_fake as is_fake
