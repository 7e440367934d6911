"""Compiled kernels on disk, by content: what invalidates one, and folders that are damaged, full, shared or not there."""

import errno
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjoint_core import registry
from adjoint_kernels_triton import _build, _compile, _kinds, _registered, _store
from adjoint_kernels_triton._variant import ALIGNED_POINTER, BY_VALUE

_registered.declare()


def spec(form, dtype):
    return form << 4 | [name for name, _ in registry.element_types()].index(dtype)


def build(arch=90, block=1024):
    pointer = spec(ALIGNED_POINTER, "float32")
    return _build.build(_build.DECLARED["neg"], arch, bytes([pointer, pointer, spec(BY_VALUE, "int32")]), [0, block])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_KERNEL_CACHE", str(tmp_path))
    return tmp_path


def nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(_compile, "compiled", None)


def test_an_image_is_read_again(folder, monkeypatch):
    first = build()
    assert os.listdir(folder) == [f"{first.key}.bin"]
    nothing_is_compiled(monkeypatch)
    assert build() == first


def test_target_and_constants_are_part_of_the_key(folder):
    assert len({build().key, build(arch=80).key, build(block=2048).key}) == 3


def test_settings_of_the_compiler_are_part_of_the_key(folder, monkeypatch):
    keys = {build().key}
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    keys.add(build().key)
    monkeypatch.setattr(_compile.triton, "__version__", "9.9")
    keys.add(build().key)
    assert len(keys) == 3
    before = _store.compiler.__wrapped__()
    monkeypatch.setenv("TRITON_F32_DEFAULT", "tf32")
    assert _store.compiler.__wrapped__() != before  # another index, too
    before = _store.compiler.__wrapped__()
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    assert _store.compiler.__wrapped__() == before


def test_the_digest_is_of_sources_in_linked_folders_too(tmp_path, monkeypatch):
    """As a developer's installation has them: an index of the kernels before a change would hide those that came with it."""
    kernels, package = tmp_path / "kernels", tmp_path / "package"
    kernels.mkdir()
    package.mkdir()
    (package / "kernels").symlink_to(kernels)
    monkeypatch.setattr(_store, "PACKAGE", package)
    found = set()
    for text in ("a = 1", "a = 2"):
        (kernels / "unary.py").write_text(text)
        found.add(_store.digest.__wrapped__())
    assert len(found) == 2


@pytest.mark.parametrize("damage", [lambda b: b[:-5], lambda b: b[:40], lambda b: b"", lambda b: b[:-9] + b"x" + b[-8:]])
def test_a_damaged_file_is_made_again(damage, folder, monkeypatch):
    first = build()
    path = folder / f"{first.key}.bin"
    path.write_bytes(damage(path.read_bytes()))
    assert _store.read_image(folder, first.key) is None
    assert build() == first
    nothing_is_compiled(monkeypatch)
    assert build() == first


def test_folders_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "below", Path(os.devnull) / "kernels"):
        monkeypatch.setenv("ADJOINT_KERNEL_CACHE", str(place))
        assert build().image.startswith(b"\x7fELF")
        index = _store.cached()
        index.start({"sin": ["elementwise", [], 1024]})
        index.add(_store.Variant("sin", 90, b"\x4b", (0, 1024)), "abc")


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    def write(path, data):
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write)
    assert build().image.startswith(b"\x7fELF")
    assert os.listdir(folder) == []


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    for name in ("ADJOINT_KERNEL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert not _store.cache_folder().exists()
    assert build().image.startswith(b"\x7fELF")


def test_many_write_at_once(folder):
    code = """
import sys
from adjoint_kernels_triton import _store
image = _store.Image(bytes(100_000), "kernel", 0, 128, 1, False, False, 0, [(0, 8)], "shared")
index = _store.cached()
for i in range(50):
    _store.write_image(_store.cache_folder(), image)
    index.add(_store.Variant("sin", 90, b"\\x4b", (int(sys.argv[1]), i)), "shared")
    assert _store.read_image(_store.cache_folder(), "shared") == image
"""
    _store.cached().start({"sin": ["elementwise", [], 1024]})
    writers = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert len(_store.cached().variants) == 200


@pytest.mark.parametrize(
    "text", ["", "5", "[]", '["operations", 2]\n["operation", "sin", "elementwise", [], 1024]', "\udcff\udcfe", '["variant"]']
)
def test_an_index_that_is_not_whole_says_nothing(text, folder):
    index = _store.cached()
    index.path.write_text(text, errors="surrogateescape")
    assert _store.cached().operations == {} and _store.cached().variants == {}


KERNEL = """
import triton
import triton.language as tl
import {package}.helpers

{before}
FACTOR = tl.constexpr({factor})
ACCURACY = tl.{accuracy}

@triton.jit
def helper(x):
    return x.to(ACCURACY) * FACTOR

def make(power):
    @triton.jit
    def scaled(x):
        return {package}.helpers.below(helper(x)) + power
    return scaled

scaled = make(tl.constexpr({power}))
"""
HELPERS = """
import triton

@triton.jit
def below(x):
    return x - {less}
"""


def test_what_a_kernel_calls_counts_and_what_stands_beside_it_does_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files of the same second and size differ

    def key(less=3, **changed):
        parts = {"package": "package", "before": "", "factor": 2, "power": 1, "accuracy": "float32"} | changed
        texts = {"package/__init__": "", "package/helpers": HELPERS.format(less=less), "kernels": KERNEL.format(**parts)}
        (tmp_path / "package").mkdir(exist_ok=True)
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
        for name in ("kernels", "package", "package.helpers"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        declared = _kinds.Elementwise("scaled", importlib.import_module("kernels").scaled, 1, (), 1024)
        signature = declared.signature(bytes([0x4B, 0x4B, 0x07]), [0, 1024])
        return _compile._key(declared.template([0]), signature, 90, declared.options([0]))

    first = key()
    assert first == key(before="# a comment\n\n\nOTHER = 3\n")
    assert len({first, key(factor=3), key(power=2), key(less=4), key(accuracy="float64")}) == 5
