"""Statistics of tensors."""
