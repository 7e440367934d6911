"""What is declared, and the image of a variant of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _compile
from ._kinds import Declared
from ._store import Image
from ._variant import arguments

DECLARED: dict[str, Declared] = {}
"Every declared kernel, by its operation."


COMPLEX: dict[str, Declared] = {}
"Kernels for complex numbers, beside those for real ones."


SAMPLES: dict[str, Callable[..., Any]] = {}
"Calls that run a kernel, for `adjoint_kernels_triton.check`, by its operation."


compile_image: Callable[..., Image] = _compile.image
"Who compiles. Tests put Triton's interpreter here."


def build(declared: Declared, arch: int, specs: bytes, constants: list[int]) -> Image:
    """The image of one variant."""
    if declared.name in COMPLEX and any(argument.complex for argument in arguments(specs)):
        declared = COMPLEX[declared.name]
    signature = declared.signature(specs, constants)
    return compile_image(declared.template(constants), signature, arch, declared.options(constants))
