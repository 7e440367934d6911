"""Modes of recording, each of a thread."""
