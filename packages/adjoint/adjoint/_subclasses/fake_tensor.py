"""What asks whether a tensor is one."""

from adjoint_functional.fx import detect_fake_mode as detect_fake_mode
from adjoint_functional.fx import is_fake as is_fake
