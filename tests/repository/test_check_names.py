"""tools/check_names.py sees what it is there for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_names.py"
HOME = "namespace {{\n{}\n}}  // namespace\n"


@pytest.mark.parametrize(
    "first, second, fails",
    [
        ("void f(int a) {}", "void f(int b) {}", True),
        ("void f(int a) {}", "void f(float a) {}", False),
        ("template <class T> T f(const T& a) {}", "int f(const T& x) {", True),
        ("struct S { int a; };", "class S {", True),
        ("struct S;", "struct S;", False),
        ("constexpr int f() {", "void g() {", False),
    ],
)
def test_two_files_of_a_target(tmp_path: Path, first: str, second: str, fails: bool) -> None:
    for target in ("core/src", "engine/src"):
        (tmp_path / "packages" / target).mkdir(parents=True)
    (tmp_path / "packages/core/src/a.cpp").write_text(HOME.format(first))
    (tmp_path / "packages/core/src/b.cpp").write_text(HOME.format(second))
    (tmp_path / "packages/engine/src/b.cpp").write_text(HOME.format(first))  # another target
    done = subprocess.run([sys.executable, TOOL, tmp_path], capture_output=True, text=True)
    assert done.returncode == fails and (not fails or "a.cpp and packages/core/src/b.cpp" in done.stdout), done
