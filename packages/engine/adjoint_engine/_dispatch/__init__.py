"""`__torch_dispatch__`: who answers calls below derivatives, and what a call is for PyTorch."""
