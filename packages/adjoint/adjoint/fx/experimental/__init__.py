"""What asks whether PyTorch traces."""
