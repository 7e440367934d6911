"""Discrete Fourier transforms."""

from adjoint_core.fft import *  # noqa: F403
