"""Levels, and `vmap` over them."""
