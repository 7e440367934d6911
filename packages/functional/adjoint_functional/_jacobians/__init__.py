"""Jacobians, Hessians and their products, as `autograd.functional` has them."""
