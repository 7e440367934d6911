"""What asks whether a tensor is one."""
