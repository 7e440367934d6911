"""The name under which PyTorch's older programs find `vmap`."""

from adjoint_engine import vmap as _vmap

vmap = _vmap
