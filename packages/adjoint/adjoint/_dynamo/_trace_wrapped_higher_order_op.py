"""What programs enter around masks that index tensors by tensors; here such an index is taken as it is."""

from adjoint_core.overrides import BaseTorchFunctionMode as TransformGetItemToIndex

__all__ = ["TransformGetItemToIndex"]
