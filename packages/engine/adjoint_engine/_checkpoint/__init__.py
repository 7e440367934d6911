"""Parts of `checkpoint`."""
