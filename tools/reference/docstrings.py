"""Docstrings of this house as Markdown: sections become bold words and lists, examples become fences."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator

SECTIONS = (
    "Arguments",
    "Args",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Example",
    "Examples",
    "Derivative",
    "Note",
    "Warning",
)
HEADING = re.compile(rf"^({'|'.join(SECTIONS)})::?(?: (.+))?$")
ITEM = re.compile(r"^(\**[\w.]+(?:, \**[\w.]+)*)(?: \(.*?\))?:\s+(.*)$")


def parts(doc: str) -> Iterator[tuple[str, list[str]]]:
    """Each section's title ("" for the text before all) and lines."""
    title, lines = "", []
    for line in inspect.cleandoc(doc).splitlines():
        if found := HEADING.match(line):
            yield title, lines
            title, lines = found[1], [found[2]] if found[2] else []
        elif title and line and not line.startswith(" "):
            yield title, lines
            title, lines = "", [line]
        else:
            lines.append(line)
    yield title, lines


def items(text: str) -> str:
    """`name: what it is` lines as a list; anything else as it stands."""
    listed = False
    result = []
    for line in text.splitlines():
        found = ITEM.match(line)
        listed = listed or bool(found)
        result.append(f"- `{found[1]}`: {found[2]}" if found else f"  {line.strip()}" if listed else line)
    return "\n".join(result)


def fenced(text: str) -> str:
    """Examples at a prompt as fences, what stands between them as text."""
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    made = [f"```pycon\n{textwrap.dedent(b)}\n```" if ">>>" in b else textwrap.dedent(b) for b in blocks if b.strip()]
    return "\n\n".join(made)


def plain(text: str) -> str:
    """Text whose `code` is marked once and which says nothing to Markdown otherwise."""
    text = re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL)
    spans = re.split(r"(`[^`]*`)", text)
    return "".join(span if span.startswith("`") else re.sub(r"([*_<|\[\]$])", r"\\\1", span) for span in spans)


def markdown(doc: str) -> str:
    """The whole docstring."""
    out = []
    for title, lines in parts(doc):
        text = textwrap.dedent("\n".join(lines)).strip("\n")
        if not text.strip():
            continue
        if title.startswith("Example") or ">>>" in text:
            out.append(fenced(text))
        elif title in ("Arguments", "Args", "Attributes", "Raises"):
            out.append(f"**{title.replace('Args', 'Arguments')}**\n\n{items(plain(text))}")
        else:
            out.append((f"**{title}** " if title else "") + plain(text))
    return "\n\n".join(out)


def summary(doc: str) -> str:
    """The first sentence, for tables."""
    first = inspect.cleandoc(doc).split("\n\n")[0].replace("\n", " ")
    return plain(re.split(r"(?<=[^.][.!?]) (?=[A-Z`])", first)[0])
