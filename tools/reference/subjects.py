"""Which page of the reference a function of `ad.` itself stands on: the subject of the file that makes it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import rules
from names import Name

PACKAGES = Path(__file__).resolve().parents[2] / "packages"
PAGES = {  # page, title, and the files (of records, bindings or Python) whose functions stand there
    "elementwise": ("Elementwise functions", "unary binary in_float special activation number complex elementwise round polynomials bessel gamma"),
    "comparison": ("Comparison and logic", "compare comparisons logic logical fits search sort order differences"),
    "reductions": ("Reductions and scans", "reduce reduce_pick reduce_statistics scan statistics covariance histogram norms counts"),
    "shape": ("Shapes and views", "view rearrange join pieces shape splits stacking"),
    "indexing": ("Indexing", "index index_along gathering positions writes tables masks"),
    "linalg-functions": ("Products and linear algebra", "linalg factor solve einsum determinant matrix_function products systems older_forms factorisations spectral fft least_squares"),
    "creation": ("Creation and random numbers", "create random random_tensors sampling range generators _random_tensors"),
    "networks": ("Functions of networks", "loss pool conv normalise embedding nn top_level pooling convolution norm attention recurrent dropout"),
    "classes": ("Types, devices, storage", ""),
    "settings": ("Modes, settings, files", ""),
}  # fmt: skip
OF_FILE = {file: page for page, (_, files) in PAGES.items() for file in files.split()}


@cache
def bindings() -> dict[str, str]:
    """For each name in quotes the first file of core's bindings that says it."""
    found: dict[str, str] = {}
    for file in sorted((PACKAGES / "core" / "python").glob("*.cpp")):
        for word in re.findall(r'"([a-z]\w*)"', file.read_text()):
            found.setdefault(word, file.stem)
    return found


def page(name: Name) -> str:
    """The page of a name of `ad.`."""
    if isinstance(name.value, type) or not callable(name.value):
        return "classes"
    plain = name.name.removesuffix("_")
    if plain in rules.sources():
        return OF_FILE.get(rules.sources()[plain][0], "settings")
    home = getattr(name.value, "__module__", "") or ""
    for word in reversed(home.split(".")):
        if word in OF_FILE:
            return OF_FILE[word]
    if "nn.functional" in home:
        return "networks"
    if home.endswith("_core") or "_core" in type(name.value).__module__:
        return OF_FILE.get(bindings().get(plain, ""), "settings")
    return "settings"
