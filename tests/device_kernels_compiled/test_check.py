"""Kernels outside of the repository: what `python -m adjoint_kernels_triton.check` says of the ones in docs/add_a_kernel.md, and of wrong ones."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import adjoint  # noqa: F401  (its registry knows the operations)
from adjoint_kernels_triton import _build, _registered, elementwise, kernel, sequence, step

_registered.declare()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "add_a_kernel.md"


def check(folder, text):
    (folder / "my_kernels.py").write_text(text)
    command = [sys.executable, "-m", "adjoint_kernels_triton.check", "my_kernels"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def from_page(name="my_kernels"):
    """The indented block that begins with the name of a file."""
    lines = PAGE.read_text().split(f"    # {name}.py\n")[1].splitlines()
    block = itertools.takewhile(lambda line: not line or line.startswith("    "), lines)
    return "\n".join(line[4:] for line in block) + "\n"


def test_the_kernels_of_the_page(tmp_path):
    done = check(tmp_path, from_page())
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^\w+ \w+: ok$", done.stdout, re.M)) == 8
    assert "my_softmax: 4 variants compile for sm_80, sm_90 and sm_100; 0 bytes of stack" in done.stdout


def test_the_sequence_of_the_page(tmp_path):
    done = check(tmp_path, from_page("my_scan"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^cumsum \w+: ok$", done.stdout, re.M)) == 4
    for name in ("total", "place"):
        assert f"{name}: 4 variants compile for sm_80, sm_90 and sm_100; 0 bytes of stack" in done.stdout


def test_what_is_wrong_is_named(tmp_path):
    done = check(tmp_path, from_page().replace("return x * x", "return x * x + 1").replace("mask=j < n)", "mask=j < n - 1)"))
    assert done.returncode == 1
    assert (
        re.search("square float32: .*differs by up to 1", done.stdout) and "softmax float32: plain: differs by" in done.stdout
    )
    wild = from_page().replace("tl.load(x0 + at,", "tl.load(x0 + at + (1 << 40),")
    done = check(tmp_path, wild)
    assert (
        done.returncode == 1 and "IndexError: reads outside of allocated memory, by element 0 of a block of 128" in done.stderr
    )


def declared(decorator, text, tmp_path, name):
    path = tmp_path / f"{name}.py"
    path.write_text("import triton.language as tl\n" + text)
    sys.path.insert(0, os.fspath(tmp_path))
    try:
        decorator(__import__(name).f)
    finally:
        sys.path.remove(os.fspath(tmp_path))


def in_sequence(**how):
    return lambda function: sequence("tril", steps=[step(grid="1")(function)], **how)


BLOCK = {"BLOCK": 16}
WRONG = [
    (lambda: elementwise("sinn"), "(x): return x", "no operation is named 'sinn'; do you mean sin"),
    (lambda: elementwise("dodecahedron"), "(x): return x", "a new one starts as a record: docs/add_an_operation.md"),
    (lambda: kernel("tril", grid="cdiv(numel(y0), BLOCKS)", constants=BLOCK), "(x0, y0, BLOCK: tl.constexpr): pass", "no formula knows BLOCKS"),
    (lambda: kernel("tril", grid="1", constants=BLOCK), "(x0, y0, width, BLOCK: tl.constexpr): pass", "parameter width is no operand .*attribute .diagonal."),
    (lambda: kernel("tril", grid="1"), "(x0, y0, BLOCK: tl.constexpr): pass", "parameter BLOCK is no operand"),
    (lambda: kernel("tril", grid="1", constants={**BLOCK, "ROWS": 1}), "(x0, y0, BLOCK: tl.constexpr): pass", "constants that are no parameters: ROWS"),
    (lambda: kernel("tril", grid="1", constants=BLOCK, values={"m": "1"}), "(x0, y0, BLOCK: tl.constexpr): pass", "values that are no parameters: m"),
    (lambda: in_sequence(workspace={"room": ("int31", 1)}), "(x0, y0): pass", "the type of a workspace is .*got 'int31'"),
    (lambda: in_sequence(workspace={"room": ("int32", "many")}), "(x0, y0): pass", "no formula knows many"),
    (lambda: in_sequence(rounds="n +"), "(x0, y0): pass", "cannot translate 'n .'"),
    (lambda: in_sequence(), "(x0, room): pass", "parameter room is no operand .* workspace"),
    (lambda: kernel("tril", grid="1", constants=BLOCK, along="dim"), "(x0, y0, BLOCK: tl.constexpr): pass", "tril has no attribute 'dim'"),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_wrong_declarations(i, tmp_path):
    make, text, message = WRONG[i]
    registered, own = dict(_registered.OPERATIONS), set(_registered.OWN)
    with pytest.raises(ValueError, match=message):
        declared(make(), f"def f{text}\n", tmp_path, f"wrong_{i}")
    assert (registered, own) == (_registered.OPERATIONS, _registered.OWN)


@pytest.fixture
def put_back(name):
    """The package's kernel stands again when the test is over: others run in this process."""
    how, declared = _registered.OPERATIONS[name], _build.DECLARED[name]
    yield
    del _registered.OPERATIONS[name]
    _registered.put(name, how, own=True)
    _build.DECLARED[name] = declared


@pytest.mark.usefixtures("put_back")
@pytest.mark.parametrize(
    ("name", "text"), [("asin", "(x, y): return x"), ("leaky_relu", "(x, slope): return x"), ("atan2", "(x): return x")]
)
def test_functions_of_other_operands(name, text, tmp_path):
    declared(elementwise(name), f"def f{text}\n", tmp_path, f"operands_of_{name}")
    x = adjoint.ones(3, device="cuda")
    call = {"asin": x.asin, "leaky_relu": lambda: adjoint.nn.functional.leaky_relu(x), "atan2": lambda: x.atan2(x)}[name]
    with pytest.raises(ValueError, match=f"{name}: the function takes . operands .*another number of operands"):
        call()
