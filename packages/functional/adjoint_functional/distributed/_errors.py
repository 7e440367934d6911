"""The errors of `distributed`, with PyTorch's names."""


class DistError(RuntimeError):
    """Something between processes went wrong."""


class DistBackendError(DistError):
    """A collective failed: another rank died or raised (``rank`` says which), ranks disagree, or time ran out."""

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank


class DistNetworkError(DistError):
    """Processes cannot reach each other."""


class DistStoreError(DistError):
    """A key of a store, or a user of it, did not come in time."""
