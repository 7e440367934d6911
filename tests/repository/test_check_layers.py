"""tools/check_layers.py sees what it is there for, on a tree of two packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_layers.py"


def faults(root: Path, **sources: str) -> str:
    (root / "layers.toml").write_text("[a]\npython = []\nexternal = []\n[b]\npython = ['a']\nexternal = ['numpy']\n")
    for name in ("a", "b"):
        (root / f"packages/{name}/adjoint_{name}/room").mkdir(parents=True)
    for place, text in sources.items():
        package, _, file = place.partition("_")
        (root / f"packages/{package}/adjoint_{package}/{file.replace('__', '/', 1)}.py").write_text(text)
    done = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
    assert done.returncode == (0 if "keep to" in done.stdout else 1), done.stderr
    return done.stdout


def test_a_tree_in_order(tmp_path: Path) -> None:
    assert "keep to" in faults(tmp_path, a_x="import os\nfrom .room import y", a_room__y="", b_z="import adjoint_a, numpy")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import adjoint_b", "a may not import adjoint_b"),
        ("import numpy", "numpy"),
        ("import importlib\ndef f():\n    return importlib.import_module('adjoint_b.x')", "a may not import adjoint_b"),
    ],
)
def test_arrows_between_packages(tmp_path: Path, source: str, said: str) -> None:
    assert said in faults(tmp_path, a_x=source)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("from .room.y import f", "from ..x import g"),
        ("from .room import y", "def f():\n    from adjoint_a import x"),
        ("from adjoint_a.room import y", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .. import x"),
        ("import adjoint_a.room.y", "import adjoint_a.x"),
    ],
)
def test_circles_inside_a_package(tmp_path: Path, x: str, y: str) -> None:
    said = faults(tmp_path, a_x=x, a_room__y=y)
    assert "circle" in said and "x.py" in said and "room/y.py" in said


def test_a_circle_over_the_names_of_a_room(tmp_path: Path) -> None:
    said = faults(
        tmp_path, a_x="from .room import f", a_room____init__="from .y import f", a_room__y="from ..x import g\ndef f(): ..."
    )
    assert "circle" in said
