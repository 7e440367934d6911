"""Which PyTorch this is the counterpart of, and what it was built with: nothing."""

import adjoint as _adjoint

cuda = hip = xpu = None
debug = False
git_version = "Unknown"


def __getattr__(name: str) -> str:
    if name == "__version__":  # as_torch changes it
        return _adjoint.__version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
