"""What asks whether a tensor is one."""

from adjoint_functional.fx.fake import FakeTensor as FakeTensor
from adjoint_functional.fx.fake import FakeTensorMode as FakeTensorMode
from adjoint_functional.fx.fake import detect_fake_mode as detect_fake_mode
from adjoint_functional.fx.fake import is_fake as is_fake
from adjoint_functional.fx.fake import unset_fake_temporarily as unset_fake_temporarily
