"""What PyTorch does to modules in place, under its older name."""
