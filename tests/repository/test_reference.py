"""Every public name is in the reference of the site, described once, and what the pages say of derivatives is in the table of records."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "reference"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    sys.path.insert(0, str(TOOLS))
    import pages

    return dict(pages.all_pages())


@pytest.fixture(scope="module")
def described(pages: dict[str, str]) -> dict[str, str]:
    """The text below each name."""
    found: dict[str, str] = {}
    for text in pages.values():
        for match in re.finditer(r"^:+\{py:\w+\} ([\w.]+).*\n(.*(?:\n(?!:::).*)*)", text, re.MULTILINE):
            assert match[1] not in found, f"{match[1]} stands twice"
            found[match[1]] = match[2].strip()
    return found


def test_every_public_name_has_an_entry(described: dict[str, str]) -> None:
    import names

    expected = {name.path for module in names.modules() for name in names.public(module)}
    expected |= {f"adjoint.Tensor.{name}" for name in dir(names.adjoint.Tensor) if not name.startswith("_")}
    assert len(expected) > 2000 and expected <= set(described), expected - set(described)


def test_what_stubs_show_has_an_entry(described: dict[str, str]) -> None:
    stub = Path(__file__).resolve().parents[2] / "packages" / "core" / "adjoint_core" / "_core.pyi"
    functions = set(re.findall(r"^def ([a-z]\w*)\(", stub.read_text(), re.MULTILINE))
    import adjoint

    assert {f"adjoint.{name}" for name in functions if hasattr(adjoint, name)} <= set(described)


def test_every_page_is_in_the_index_once(pages: dict[str, str]) -> None:
    from pages import contents

    assert sorted(re.findall(r"^generated/(\S+)$", contents(list(pages)), re.MULTILINE)) == sorted(pages)


def test_derivatives_are_told(described: dict[str, str]) -> None:
    from adjoint_core import registry

    told = [name for name in registry.names() if f"adjoint.{name}" in described and registry.record(name).differentiable]
    assert len(told) > 100
    assert not [name for name in told if "**Derivative**" not in described[f"adjoint.{name}"]]
    assert "v * cos(x)" in described["adjoint.sin"]


SHOWN = ("adjoint", "adjoint.fft", "adjoint.linalg", "adjoint.nn.functional", "adjoint.signal.windows", "adjoint.special")
OTHER_FORMS = re.compile(  # what leads to another entry, which has the example
    r"^(The same as|Another name|The older name|`interpolate` in mode|.* into new memory|.*, with the indices of the maxima)"
)
OF_THE_MACHINE = {
    "device_generator",
    "random_states",
    "skip_prefix",
}  # their results are those of a machine, or of an installation


def test_functions_show_an_example(described: dict[str, str]) -> None:
    import names

    bare = [
        name.path
        for space in SHOWN
        for name in names.public(space)
        if callable(name.value)
        and not isinstance(name.value, type)
        and not name.name.endswith("_")
        and name.name not in OF_THE_MACHINE
        and "```pycon" not in (text := described[name.path])
        and not OTHER_FORMS.match(text)
    ]
    assert not bare
