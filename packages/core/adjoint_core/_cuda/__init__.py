"""Parts of `cuda`."""
