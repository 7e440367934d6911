"""Models of a folder, and state dicts by an address."""

from adjoint_functional.hub import *  # noqa: F403
from adjoint_functional.hub import HASH_REGEX as HASH_REGEX
from adjoint_functional.hub import _get_torch_home as _get_torch_home
from adjoint_functional.hub import urlparse as urlparse


def __getattr__(name: str) -> object:
    if name != "tqdm":  # imported when it is first used
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from adjoint_functional.progress import tqdm

    return tqdm
