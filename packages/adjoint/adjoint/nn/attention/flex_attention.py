"""Attention whose scores and mask a program's own functions make."""

from adjoint_functional.nn.attention.block_mask import *  # noqa: F403
from adjoint_functional.nn.attention.flex import *  # noqa: F403
from adjoint_functional.nn.attention.modifiers import MaskMod as _mask_mod_signature
from adjoint_functional.nn.attention.modifiers import ScoreMod as _score_mod_signature

_DEFAULT_SPARSE_BLOCK_SIZE = 128
