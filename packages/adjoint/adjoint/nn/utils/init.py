"""Modules without initial values."""

from adjoint_functional.nn.utils.making import skip_init as skip_init
