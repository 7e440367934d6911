"""The types of named results, by the name that each says it has: what `isinstance` asks about."""

from adjoint_core import _results

globals().update({kind.__name__: kind for kind in vars(_results).values() if isinstance(kind, type)})
