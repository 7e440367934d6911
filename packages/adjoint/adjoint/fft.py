"""Discrete Fourier transforms."""

from adjoint_core._compose import make_face as _make_face
from adjoint_core.fft import *  # noqa: F403

_make_face(globals())
