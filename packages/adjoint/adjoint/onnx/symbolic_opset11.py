"""The descriptions that an export would take; there is none."""
