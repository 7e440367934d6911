"""Compiled kernels on disk: images, and an index of which image each variant of an operation is.

With an index at hand neither Triton nor a kernel's Python is needed: it holds the operations as they are registered, too.
There are two folders of them: the cache, which every process fills, and prebuilt kernels, which are only read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Image:
    """A compiled kernel: bytes for the driver, and what a launch of it needs. `key` is its name in a folder."""

    image: bytes
    entry: str
    shared: int
    threads: int
    clusters: int
    cooperative: bool
    dependent: bool
    scratch: int
    parameters: list[tuple[int, int]]
    key: str = ""


def cache_folder() -> Path:
    """Where compiled kernels are kept: `ADJOINT_KERNEL_CACHE`, else `adjoint/kernels` in the user's cache folder."""
    if chosen := os.environ.get("ADJOINT_KERNEL_CACHE"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if home.startswith("~"):
        return Path(os.devnull) / "kernels"  # a user without a home folder has no cache
    return Path(home) / "adjoint" / "kernels"


def prebuilt_folder() -> Path:
    """Where prebuilt kernels lie: `ADJOINT_PREBUILT_KERNELS`, else `prebuilt` in this package."""
    return Path(os.environ.get("ADJOINT_PREBUILT_KERNELS") or PACKAGE / "prebuilt")


@cache
def digest() -> str:
    """Of the sources of this package, whose folders are links where a developer installed it."""
    sha = hashlib.sha256()
    files = (Path(folder, name) for folder, _, names in os.walk(PACKAGE, followlinks=True) for name in names)
    for path in sorted(path for path in files if path.suffix == ".py"):
        sha.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:16]


PLACES = ("TRITON_CACHE_DIR", "TRITON_DUMP_DIR", "TRITON_HOME", "TRITON_OVERRIDE_DIR")


def settings() -> list[tuple[str, str]]:
    """Environment variables that a compiled kernel may depend on."""
    of_compilers = ("TRITON_", "LLVM_", "MLIR_", "PTXAS_", "DISABLE_LLVM_OPT")
    return sorted((k, v) for k, v in os.environ.items() if k.startswith(of_compilers) and k not in PLACES)


@cache
def compiler() -> str:
    """Of the Triton that is installed and its settings, without importing it; empty if none is."""
    found = importlib.util.find_spec("triton")
    if found is None or found.origin is None:
        return ""
    facts = os.stat(found.origin)
    return hashlib.sha256(f"{found.origin} {facts.st_mtime_ns} {facts.st_size} {settings()}".encode()).hexdigest()[:8]


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest()[:16].encode()


def read_image(folder: Path, key: str) -> Image | None:
    """The image of this name, if it is there and whole."""
    try:
        checksum, _, rest = (folder / f"{key}.bin").read_bytes().partition(b"\n")
        if checksum != _checksum(rest):
            return None
        head, _, image = rest.partition(b"\n")
        facts = json.loads(head)
        facts["parameters"] = [(slot, size) for slot, size in facts["parameters"]]
        return Image(image=image, key=key, **facts)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_image(folder: Path, image: Image) -> None:
    facts = {k: v for k, v in vars(image).items() if k not in ("image", "key")}
    rest = json.dumps(facts).encode() + b"\n" + image.image
    _put(folder / f"{image.key}.bin", _checksum(rest) + b"\n" + rest)


def _put(path: Path, data: bytes) -> None:
    """Writes a file as a whole, or not at all: a cache that cannot be written is no reason to stop."""
    partial = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError:
        with suppress(OSError):
            partial.unlink()


@dataclass(frozen=True)
class Variant:
    """What is compiled: the operation, the compute capability (90 for 9.0), and what core asks for."""

    op: str
    arch: int
    specs: bytes
    constants: tuple[int, ...]

    def text(self) -> str:
        return f"{self.op} {self.arch} {self.specs.hex()} {','.join(map(str, self.constants))}"

    @staticmethod
    def parse(text: str) -> Variant:
        op, arch, specs, constants = text.split(" ")
        return Variant(op, int(arch), bytes.fromhex(specs), tuple(int(c) for c in constants.split(",") if c))


class Index:
    """Lines of JSON: ["operations", how many], ["operation", name, how it is registered...] and ["variant", text, key of the image]."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.path = folder, folder / name
        self.operations: dict[str, list[Any]] = {}
        self.variants: dict[str, str] = {}
        announced = 0
        try:
            lines = self.path.read_text(errors="replace").splitlines()
        except OSError:
            return
        for line in lines:
            try:
                match json.loads(line):
                    case ["operations", int(many)]:
                        announced = many
                    case ["operation", str(name), str(kind), *rest]:
                        self.operations[name] = [kind, *rest]
                    case ["variant", str(text), str(key)]:
                        self.variants[text] = key
            except ValueError:
                continue  # a line that was cut off
        if len(self.operations) != announced:
            self.operations = {}

    def find(self, variant: Variant) -> Image | None:
        key = self.variants.get(variant.text())
        return read_image(self.folder, key) if key else None

    def start(self, operations: dict[str, list[Any]]) -> None:
        """Writes the file anew, with these operations."""
        self.operations = dict(operations)
        lines = [["operations", len(operations)], *(["operation", name, *how] for name, how in operations.items())]
        _put(self.path, "".join(json.dumps(line) + "\n" for line in lines).encode())

    def add(self, variant: Variant, key: str) -> None:
        text = variant.text()
        if self.variants.get(text) == key:
            return
        self.variants[text] = key
        try:
            with self.path.open("a") as file:
                file.write(json.dumps(["variant", text, key]) + "\n")
        except OSError:
            pass


def cached() -> Index:
    """The index of the cache: of these sources and this Triton."""
    return Index(cache_folder(), f"index-{digest()}-{compiler()}.jsonl")


def prebuilt() -> Index:
    """The index of the prebuilt kernels: of these sources."""
    return Index(prebuilt_folder(), f"index-{digest()}.jsonl")
