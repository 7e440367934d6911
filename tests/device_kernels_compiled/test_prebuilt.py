"""Kernels from disk: warm starts that never import Triton, and prebuilt ones on machines without it."""

import os
import subprocess
import sys

import pytest

from adjoint_kernels_triton import _registered, _store, prebuild

PROGRAM = """
import ctypes, os, sys
import adjoint as ad
driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p
x = ad.ones(64, 80, device="cuda", requires_grad=True)
y = (ad.nn.functional.layer_norm(x, (80,)).sin() @ ad.ones(80, 16, device="cuda")).softmax(-1)
y.sum().backward()
for line in driver.standin_log().decode().splitlines():
    if line.startswith("launch"):
        words = line.split()
        print(words[1], words[3], len(words[-1]))
print("triton" in sys.modules and sys.modules["triton"] is not None)
"""
WITHOUT_TRITON = "import sys; sys.modules['triton'] = None\n"


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() or done.stderr.splitlines()[-1:]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A cache that a run of the program filled, what it printed, and prebuilt kernels made from it."""
    cached, built = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("prebuilt")
    first = run(PROGRAM, ADJOINT_KERNEL_CACHE=str(cached))
    make = [sys.executable, "-m", "adjoint_kernels_triton.prebuild", str(built), "--arch", "90", "--jobs", "1"]
    subprocess.run(make, env=os.environ | {"ADJOINT_KERNEL_CACHE": str(cached)}, check=True, capture_output=True)
    return cached, built, first


def test_a_warm_start_does_not_import_triton(folders):
    cached, _, first = folders
    again = run(PROGRAM, ADJOINT_KERNEL_CACHE=str(cached))
    assert len(again) > 10 and again[:-1] == first[:-1]
    assert (first[-1], again[-1]) == ("True", "False")


def test_prebuilt_kernels_need_no_triton(folders, tmp_path):
    _, built, first = folders
    alone = {"ADJOINT_KERNEL_CACHE": str(tmp_path), "ADJOINT_PREBUILT_KERNELS": str(built)}
    assert run(WITHOUT_TRITON + PROGRAM, **alone) == [*first[:-1], "False"]
    other = "x = ad.ones(5, 7, device='cuda')[1:]; x.sin(); x.softmax(-1)\nprint('ran')"  # other sizes and alignments
    assert run(WITHOUT_TRITON + "import adjoint as ad\n" + other, **alone) == ["RuntimeError: softmax: " + MISSING]
    assert run(WITHOUT_TRITON + "import adjoint as ad\n" + other.replace("x.softmax(-1)", "x"), **alone) == ["ran"]
    nothing = run(WITHOUT_TRITON + PROGRAM, ADJOINT_KERNEL_CACHE=str(tmp_path), ADJOINT_PREBUILT_KERNELS=str(tmp_path))
    assert nothing[0].startswith("RuntimeError: Triton compiles the kernels for GPUs and is not installed: pip install")


MISSING = (
    "there is no prebuilt kernel for these arguments (sm_90), and Triton, which would compile one, is not installed: pip "
    'install "adjoint[triton]"'
)


def test_the_tool_takes_all_that_was_asked_for(folders):
    cached, built, _ = folders
    index = _store.Index(cached, _store.cached().path.name)
    wanted = prebuild.wanted(index, [80, 90])
    assert {v.arch for v in wanted} == {80, 90} and len(wanted) % 2 == 0
    assert {v.text() for v in wanted if v.arch == 90} == set(_store.Index(built, _store.prebuilt().path.name).variants)
    assert all(_registered.weakened(v) in wanted for v in wanted)


def test_code_for_8_0_serves_8_6(folders):
    _, built, _ = folders
    index = _store.Index(built, _store.prebuilt().path.name)
    known = _store.Variant.parse(next(iter(index.variants)))
    index.variants[_store.Variant(known.op, 80, known.specs, known.constants).text()] = index.variants[known.text()]
    assert _registered.fitting(index, _store.Variant(known.op, 86, known.specs, known.constants))
    assert not _registered.fitting(index, _store.Variant(known.op, 100, known.specs, known.constants))


def test_a_cut_off_index_is_read_as_far_as_it_goes(tmp_path):
    index = _store.Index(tmp_path, "index.jsonl")
    index.start({"sin": ["elementwise", [], 1024]})
    index.add(_store.Variant("sin", 90, b"\x4b", (0, 1024)), "abc")
    with index.path.open("a") as file:
        file.write('["variant", "cos 90')
    again = _store.Index(tmp_path, "index.jsonl")
    assert again.operations == index.operations and again.variants == index.variants
    assert again.find(_store.Variant("sin", 90, b"\x4b", (0, 1024))) is None  # the image is not there
