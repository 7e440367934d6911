"""Transformations of functions that nest in any order."""
