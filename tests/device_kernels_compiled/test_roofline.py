"""The counts of tools/roofline.py, in machine code whose counts are known, and on the page."""

import importlib.util
from pathlib import Path

import pytest

from adjoint_kernels_triton import _build, _kinds, _registered

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("roofline", ROOT / "tools" / "roofline.py")
roofline = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(roofline)
_registered.declare()


def test_instructions():
    assert roofline.instruction("LDG.E.128") == (True, 16, 0, "")
    assert roofline.instruction("LDGSTS.E.BYPASS.128") == (True, 16, 0, "")
    assert roofline.instruction("STG.E.U16") == (False, 2, 0, "")
    assert roofline.instruction("FFMA.FTZ") == (False, 0, 2, "float32")
    assert roofline.instruction("DADD") == (False, 0, 1, "float64")
    assert roofline.instruction("LDG.E.CONSTANT")[1] == 0
    assert roofline.instruction("HMMA.16816.F32.BF16") == (False, 0, 128, "half tensor cores")
    assert roofline.instruction("HGMMA.64x128x16.F32.BF16") == (False, 0, 2048, "half tensor cores")
    assert roofline.instruction("HGMMA.64x128x8.F32.TF32") == (False, 0, 1024, "TF32 tensor cores")


def test_only_innermost_loops_that_load_count():
    def line(flops, loads=False, target=None):
        return roofline.Line(target, loads, 4 * loads, flops, "float32")

    code = [line(1), line(2), line(4, loads=True), line(8, target=2), line(16, target=1), line(32), line(64, target=5)]
    assert [x.flops for x in roofline.loops(code)] == [4, 8]
    assert roofline.loops(code[:3]) == code[:3]


@pytest.mark.parametrize(
    ("name", "moved", "flops"), [("add", 12, 1), ("addcmul", 16, 3), ("relu", 8, 0), ("where", 13, 0), ("eq", 9, 0)]
)
def test_elementwise(name, moved, flops, monkeypatch):
    monkeypatch.setattr(_build, "DECLARED", {name: _build.DECLARED[name]})
    assert list(roofline.elementwise()) == [f"| `{name}` | {moved} | {flops} | {flops / moved:.3g} | memory |"]


def test_the_page_has_all_elementwise_kernels():
    page = roofline.PAGE.read_text().partition(roofline.HEADING)[2]
    rows = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert {k for k, v in _build.DECLARED.items() if isinstance(v, _kinds.Elementwise)} - rows == {"complex"}


def test_products_of_matrices(monkeypatch):
    """Tiles of 128 x 128, 32 deep, by 256 threads."""
    products = {name: call for name, call in roofline.calls().items() if name.startswith("matmul")}
    monkeypatch.setattr(roofline, "calls", lambda: products)
    monkeypatch.setattr(_registered, "indices", [])
    monkeypatch.setattr(_build, "compile_image", _build.compile_image)
    flops, moved = 2 * 128 * 128 * 32 // 256, 2 * 128 * 32 * 4 // 256
    assert list(roofline.structured()) == [
        f"| `matmul, float32: matmul` | {moved} | {flops} | {flops // moved} | float32 |",
        f"| `matmul, bfloat16: matmul` | {moved // 2} | {flops} | {2 * flops // moved} | memory |",
    ]
