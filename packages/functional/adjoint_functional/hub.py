"""`hub`: models of a folder by its `hubconf.py`, and state dicts by an address, kept in a folder of the user's."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import urllib.request
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # in a file's name: the first digits of its SHA-256
_folder: str | None = None


def _get_torch_home() -> str:
    """Where PyTorch keeps its files: `TORCH_HOME`, else `torch` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of models and checkpoints: that of `set_dir`, else `hub` in PyTorch's own, so that both find each other's."""
    return _folder or os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets the folder of models and checkpoints."""
    global _folder
    _folder = os.path.expanduser(os.fspath(d))


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Writes what stands at an address into a file, all or nothing.

    Raises:
        RuntimeError: its SHA-256 does not begin with `hash_prefix`.
    """
    dst = os.path.expanduser(dst)
    digest = hashlib.sha256()
    with (
        urllib.request.urlopen(url) as source,
        tempfile.NamedTemporaryFile(dir=os.path.dirname(dst) or ".", delete=False) as file,
    ):
        try:
            while piece := source.read(1 << 20):
                digest.update(piece)
                file.write(piece)
            if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
            file.close()
            shutil.move(file.name, dst)
        finally:
            if os.path.exists(file.name):
                os.unlink(file.name)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """The object saved at an address; it is downloaded once, to `model_dir` or `checkpoints` in `get_dir()`.

    It comes over the net, so by default it is read with `weights_only`, where PyTorch 2.13 still runs what the file says.
    """
    from adjoint_core import load as load_file

    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    file = os.path.join(folder, name)
    if not os.path.exists(file):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, file, found.group(1) if found else None, progress)
    return load_file(file, map_location=map_location, weights_only=weights_only)


def _configuration(folder: str, source: str) -> ModuleType:
    if source != "local":
        raise NotImplementedError(
            f"hub: expected source='local' and a folder, got source={source!r}: repositories are not fetched"
        )
    file = os.path.join(folder, "hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _entry(folder: str, model: str, source: str) -> Any:
    found = getattr(_configuration(folder, source), model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def load(repo_or_dir: str, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """What the function `model` of a folder's `hubconf.py` gives for the arguments; with `source="local"`.

    Raises:
        NotImplementedError: another source.
        RuntimeError: there is no such function.
    """
    options = ("trust_repo", "force_reload", "verbose", "skip_validation")
    return _entry(repo_or_dir, model, source)(*args, **{k: v for k, v in kwargs.items() if k not in options})


def help(github: str, model: str, *, source: str = "github", **kwargs: Any) -> str | None:
    """The docstring of the function `model` of a folder's `hubconf.py`."""
    return _entry(github, model, source).__doc__  # type: ignore[no-any-return]


def list(github: str, *, source: str = "github", **kwargs: Any) -> Any:
    """The names of the functions of a folder's `hubconf.py`."""
    found = vars(_configuration(github, source))
    return [name for name, f in found.items() if callable(f) and not name.startswith("_")]
