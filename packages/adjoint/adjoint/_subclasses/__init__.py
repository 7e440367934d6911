"""What asks whether a tensor is one."""

from .fake_tensor import FakeTensor as FakeTensor
from .fake_tensor import FakeTensorMode as FakeTensorMode
