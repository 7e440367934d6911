"""What functions bound in C++ say of themselves beside their signature: `documentation.txt`, read when somebody first asks.

An entry of that file is a name, one sentence (a record's own stands in for it) and an example, or `name = other`.
"""

from __future__ import annotations

from pathlib import Path

from . import registry

_entries: dict[str, str] = {}


def entries() -> dict[str, str]:
    """The text below each name, or "= other"."""
    if not _entries:
        for block in (Path(__file__).parent / "documentation.txt").read_text().split("\n\n"):
            name, _, text = block.strip().partition("\n")
            name, _, other = name.partition(" = ")
            _entries[name] = f"= {other}" if other else text
    return _entries


def told(name: str, own: str = "") -> str:
    """Sentence and example of a function, whose own documentation, if any, stands first.

    Example:
        >>> print(told("absolute"))
        The same as `abs`.
        >>> print(told("exp_"))
        e to the power of each element of `x`. In place.
    """
    if ">>>" in own:
        return own
    if name not in entries() and name.endswith("_") and not name.startswith("_"):
        sentence = told(name[:-1], own).split("\n\n")[0]
        return own or (f"{sentence} In place." if sentence else "")
    text = entries().get(name, "")
    if text.startswith("= "):
        return own or f"The same as `{text[2:]}`."
    lines = [line.removeprefix("    ") for line in text.splitlines()]
    at = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    sentence = own or "\n".join(lines[:at])
    if not sentence and name in registry.names():
        sentence = registry.record(name).doc
    example = "\n".join("    " + line for line in lines[at:])
    return "\n\n".join(filter(None, [sentence, example and f"Example::\n\n{example}"]))


def documentation(name: str, bound: str | None) -> str | None:
    """`__doc__` of a function that nanobind bound: its signatures, and what there is to say."""
    lines = (bound or "").splitlines()
    signatures = [line for line in lines if line.startswith(f"{name}(")]
    if not signatures or any(line.startswith("Overloaded") for line in lines):
        return bound
    own = "\n".join(lines[len(signatures) :]).strip()
    return "\n".join(signatures) + "\n\n" + told(name, own)
