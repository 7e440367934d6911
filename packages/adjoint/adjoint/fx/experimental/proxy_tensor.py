"""What asks whether PyTorch traces."""

from adjoint_functional.fx import get_proxy_mode as get_proxy_mode
