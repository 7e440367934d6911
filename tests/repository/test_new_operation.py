"""What tools/new.py writes compiles, lints and stands in every table."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def new() -> ModuleType:
    spec = importlib.util.spec_from_file_location("new", ROOT / "tools" / "new.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(new: ModuleType, tmp_path: Path) -> Path:
    """A copy of what the tool edits and the compiler reads."""
    shutil.copytree(ROOT / "packages/core/include", tmp_path / "packages/core/include")
    for file in [
        *new.operation("n", "x", "x", "", "x"),
        *new.kernel("n", "x"),
        *(str(header.relative_to(ROOT)) for header in (ROOT / "packages/core/src/ops").glob("*.h")),
    ]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


CUBE = ["operation", "cube", "x * x * x", "--derivative", "square(x) * 3.0"]


def test_a_new_operation(new: ModuleType, tree: Path) -> None:
    assert new.main([*CUBE, "--root", str(tree)]) == 0
    texts = {file: (tree / file).read_text() for file in new.operation("n", "x", "x", "", "x")}
    assert all(re.search(r"\bcube\b|\bCube\b", text) for text in texts.values())
    records = re.findall(r"&op_(\w+)", texts["packages/core/src/ops/unary.cpp"].split("unary_ops[]")[-1])
    assert "cube" in records and records == sorted(records)
    kernels = re.findall(r'^    \{"(\w+)"', texts["packages/kernels-cpu/src/unary.cpp"], re.MULTILINE)
    assert "cube" in kernels and kernels == sorted(kernels)
    (case,) = [line for line in texts["tests/op_cases/unary.py"].splitlines() if '"cube"' in line]
    assert case == '    holomorphic("cube", x(3, 4), ref=lambda x: x * x * x),'
    ast.parse(texts["tests/op_cases/unary.py"])
    compiler = shutil.which("c++")
    assert compiler, "the tests build C++, so there is a compiler"
    include = tree / "packages/core/include"
    unit = tree / "packages/core/src/ops/unary.cpp"
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(unit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]


def test_a_new_kernel(new: ModuleType, tree: Path) -> None:
    assert new.main(["kernel", "cube", "x * x * x", "--root", str(tree)]) == 0
    text = (tree / new.TRITON).read_text()
    assert text.endswith("@elementwise()\ndef cube(x):\n    return x * x * x\n")
    ast.parse(text)


@pytest.mark.parametrize(
    "wrong", [["operation", "square", "x", "--derivative", "x"], ["kernel", "exp", "x"], ["operation", "Cube", "x"], CUBE[:3]]
)
def test_what_it_refuses(new: ModuleType, tree: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        new.main([*wrong, "--root", str(tree)])
    assert re.search("already|must be|needs", capsys.readouterr().err)


def test_it_runs_from_a_shell() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/new.py", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "operation" in done.stdout
