"""`masked.MaskedTensor`: a tensor with a mask that says which elements are there."""

from .tensor import MaskedTensor as MaskedTensor
from .tensor import as_masked_tensor as as_masked_tensor
from .tensor import is_masked_tensor as is_masked_tensor
from .tensor import masked_tensor as masked_tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
