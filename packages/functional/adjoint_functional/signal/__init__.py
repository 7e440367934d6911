"""Signals: windows, and Fourier transforms of short times."""
