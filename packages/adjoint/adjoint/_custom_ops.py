"""The name under which PyTorch's older programs find what defines operators; it is `library`."""

from adjoint_functional.library import custom_op as custom_op
