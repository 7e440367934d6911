"""Nodes, and what hangs on them: hooks, attributes, where they were made."""
