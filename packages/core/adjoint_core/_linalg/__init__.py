"""Parts of `linalg`, and its older forms."""
