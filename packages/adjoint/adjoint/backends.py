"""What operations may trade for speed on a kind of device."""

from adjoint_core.backends import cuda as cuda
