"""Checks of derivatives against finite differences."""
