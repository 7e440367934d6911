"""Files of `safetensors`, written and read without copies."""

from adjoint_functional.safetensors import *  # noqa: F403
