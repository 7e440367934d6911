"""What the table of records and its source say of an operation: kind, derivative, batches, kernels."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from adjoint_core import registry

OPS = Path(__file__).resolve().parents[2] / "packages" / "core" / "src" / "ops"
RECORD = re.compile(r'^const Op op_\w+\{\.name = "(\w+)"', re.MULTILINE)
SIMPLE = re.compile(r"^(?:wide_)?rule\(\[[^\]]*\]\([^)]*\)(?: -> \w+)? \{ return (.+); \}\)$", re.DOTALL)


@cache
def sources() -> dict[str, tuple[str, str]]:
    """For each record the file that declares it and what stands there."""
    found = {}
    for file in sorted(OPS.glob("*.cpp")):
        text = file.read_text()
        for match in RECORD.finditer(text):
            found[match[1]] = file.stem, text[match.start() : balanced(text, text.index("{", match.start()))]
    return found


def balanced(text: str, start: int) -> int:
    """The position behind the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "{[(") - (text[at] in "}])")
        if depth == 0:
            return at + 1
    raise ValueError(f"no end of {text[start : start + 40]!r}")


def elements(text: str) -> list[str]:
    """What a list in braces holds, split at its own commas."""
    found, depth, piece = [], 0, ""
    for letter in text[1:-1]:
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            found.append(piece.strip())
            piece = ""
        else:
            piece += letter
    return [*found, piece.strip()]


def formulas(name: str) -> list[str]:
    """The rule of each operand by the source, in which `v` is the cotangent or tangent, `x`, `a`, `b` inputs, `y` the output."""
    _, text = sources().get(name, ("", ""))
    at = re.search(r"\.d = (?=\{)", text)
    if not at:
        return []
    rules = elements(text[at.end() : balanced(text, at.end())])
    return [found[1] if (found := SIMPLE.match(rule)) else "" for rule in rules]


def derivative(record: registry.Record) -> str:
    """One sentence on the derivative."""
    if not record.differentiable:
        return "none; the result is constant."
    which = "of every operand" if record.variadic else "of operand " + ", ".join(map(str, record.differentiable))
    written = [f"`{text}`" for text in formulas(record.name) if text and len(text) < 100 and "\n" not in text]
    return f"{which}, in reverse and forward mode to any order" + (f": {'; '.join(written)}." if written else ".")


SHAPES = {"elementwise": "operands broadcast; the result has their common shape."}


def told(name: str) -> str:
    """The lines of the reference that the record makes."""
    record = registry.record(name)
    lines = [f"**Derivative** {derivative(record)}"]
    if record.kind in SHAPES and not record.attributes and not record.variadic:
        lines.insert(0, f"**Shape** {SHAPES[record.kind]}")
    batch = "in one call" if record.batched else "lane by lane"
    lines.append(f"**Record** `{record.name}`, {record.kind}{', a view' if record.view else ''}; vmap runs it {batch}.")
    return "\n\n".join(lines)
