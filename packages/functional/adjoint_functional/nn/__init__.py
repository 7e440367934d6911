"""Layers: `functional` has them as functions, `modules` with parameters of their own; `utils` and `init` are for those parameters."""
