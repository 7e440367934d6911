"""Communication hooks of data parallel."""

from . import default_hooks as default_hooks
