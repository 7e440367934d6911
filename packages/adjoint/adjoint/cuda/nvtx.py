"""Ranges in the timeline of NVIDIA's tools."""

from adjoint_functional.nvtx import *  # noqa: F403
