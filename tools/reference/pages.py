"""The reference as Markdown pages, made from the imported library: each name once in full, elsewhere a line that leads there."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import docstrings
import names
import rules
import subjects
from names import Name

import adjoint
from adjoint_core._documentation import told

MODULE_TITLE = "`{}`"


def overloads(name: Name) -> list[tuple[str, str]]:
    """Signature and documentation of each form; the signature is "" for what is not called."""
    value = name.value
    if bound := getattr(value, "__nb_signature__", None):
        own = next((doc for _, doc, _ in bound if doc), "")
        return [(nanobind(text, defaults), told(name.name, own)) for text, _, defaults in bound]
    if not callable(value) or isinstance(value, property):
        return [("", inspect.getdoc(value) or "")]
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        text = "(...)"
    if isinstance(value, type):
        text = text.removesuffix(" -> None").removesuffix(" -> 'None'")
    return [(readable(text), inspect.getdoc(value) or "")]


def nanobind(text: str, defaults: tuple[object, ...] | None) -> str:
    """nanobind's signature from its first parenthesis on, defaults filled in."""
    filled = re.sub(r"\\(\d+)", lambda m: repr((defaults or ())[int(m[1])]), text)
    return readable(filled[filled.index("(") :])


def readable(signature: str) -> str:
    """Annotations without quotes and long paths; objects that have no spelling as dots."""
    signature = re.sub(r"(: |-> )'(.*?)'(?=[,)= ]|$)", r"\1\2", signature)
    signature = re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "...", signature)
    return re.sub(r"\b(?:collections\.abc|typing|adjoint_\w+(?:\.\w+)*)\.", "", signature).replace(
        "float | int | bool | complex", "Number"
    )


def base_of(name: str) -> str:
    """The function that a method in place belongs to."""
    return name[:-1] if name.endswith("_") and not name.startswith("_") else name


def described(name: Name, doc: str) -> str:
    """The documentation, or what stands in for it; then what the record says."""
    plain = base_of(name.name)
    of_tensor = name.module in (
        "adjoint",
        "adjoint.Tensor",
        "adjoint.special",
        "adjoint.nn.functional",
        "adjoint.fft",
        "adjoint.linalg",
    )
    has_record = of_tensor and plain in rules.sources()
    words = docstrings.markdown(doc) if doc.strip() else ""
    if plain != name.name and (callable(getattr(adjoint.Tensor, plain, None))):
        return "\n\n".join(filter(None, [words, f"The same as {method_link(plain)}, written into the tensor."]))
    if name.module == "adjoint.Tensor" and callable(getattr(adjoint, name.name, None)):
        return "\n\n".join(filter(None, [words, f"As a function: {link('adjoint.' + name.name)}."]))
    return "\n\n".join(filter(None, [words, rules.told(plain) if has_record else ""]))


def link(path: str) -> str:
    return "{py:obj}`" + path.replace("adjoint.", "ad.", 1) + f" <{path}>`"


def method_link(name: str) -> str:
    return "{py:obj}`Tensor." + name + f" <adjoint.Tensor.{name}>`"


def directive(kind: str, path: str, signature: str, body: str, colons: int = 3, index: bool = True) -> str:
    fence = ":" * colons
    options = "" if index else ":no-index:\n"
    return f"{fence}{{py:{kind}}} {path}{signature}\n{options}\n{body}\n{fence}\n"


def entry(name: Name, home: Name | None) -> str:
    """One name: function, class or value."""
    if home is not None and home.path != name.path:
        return directive("data", name.path, "", f"The same as {link(home.path)}.")
    forms = overloads(name)
    doc = next((doc for _, doc in forms if doc.strip()), "")
    also = "".join(f"\n\nAlso `{name.name}{signature}`." for signature, _ in forms[1:])
    if isinstance(name.value, type):
        members = (
            "\n".join(member(name, attribute) for attribute in names.attributes(name.value)) if name.name != "Tensor" else ""
        )
        return directive("class", name.path, forms[0][0], described(name, doc) + "\n\n" + members, colons=5)
    kind = "function" if forms[0][0] else "data"
    text = described(name, doc) if forms[0][0] else value_of(name)
    return directive(kind, name.path, forms[0][0], text + also)


def value_of(name: Name) -> str:
    """What a constant is."""
    kind = type(name.value)
    doc = docstrings.summary(kind.__doc__ or "") if kind.__module__.startswith("adjoint") else ""
    shown = "" if re.search(r" at 0x|<", repr(name.value)) or len(repr(name.value)) > 80 else f"`{name.value!r}`. "
    return shown + doc


def member(owner: Name, attribute: Name) -> str:
    """A method or property of a class."""
    forms = overloads(attribute)
    doc = next((doc for _, doc in forms if doc.strip()), "")
    kind = "method" if forms[0][0] else "attribute"
    also = "".join(f"\n\nAlso `{attribute.name}{signature}`." for signature, _ in forms[1:])
    named = Name(owner.path, attribute.name, attribute.value)
    body = described(named, doc) if owner.path == "adjoint.Tensor" or doc.strip() else ""
    return directive(kind, named.path, forms[0][0].replace("(self, ", "(").replace("(self)", "()"), body + also, colons=4)


def documented(name: Name) -> bool:
    """Whether the documentation of the value is that of the name: a constant has its type's."""
    return callable(name.value) or hasattr(name.value, "__set__") or hasattr(name.value, "__get__")


def table(listed: list[Name]) -> str:
    """Name and first sentence of each."""
    rows = []
    for name in listed:
        doc = next((doc for _, doc in overloads(name) if doc.strip()), "")
        rows.append(f"| {{py:obj}}`{name.name} <{name.path}>` | {docstrings.summary(doc) if documented(name) else ''} |\n")
    return "| name | |\n|---|---|\n" + "".join(rows).replace("|  |", "| |")


def page(title: str, intro: str, listed: list[Name], homes: dict[int, Name]) -> str:
    entries = "\n".join(entry(name, homes.get(id(name.value))) for name in listed)
    return f"# {title}\n\n{intro}\n\n{table(listed)}\n\n{entries}"


def tensor_page() -> str:
    owner = Name("adjoint", "Tensor", adjoint.Tensor)
    members = [Name("adjoint.Tensor", name.name, name.value) for name in names.attributes(adjoint.Tensor)]
    intro = "Methods whose name ends in `_` write into the tensor. Operators (`+`, `@`, `[...]`, `==`) are the functions of that name."
    body = "\n".join(member(owner, name) for name in members)
    return f"# `Tensor`\n\n{docstrings.markdown(adjoint.Tensor.__doc__ or '')}\n\n{intro}\n\n{table(members)}\n\n{body}"


def all_pages() -> Iterator[tuple[str, str]]:
    """File name and text of every page."""
    homes = names.homes()
    yield "tensor", tensor_page()
    own = names.public("adjoint")
    for stem, (title, _) in subjects.PAGES.items():
        yield stem, page(title, "Names of `ad.` itself.", [name for name in own if subjects.page(name) == stem], homes)
    for module in names.modules():
        listed = names.public(module)
        if module != "adjoint" and listed:
            doc = importlib.import_module(module).__doc__ or ""
            yield module.removeprefix("adjoint."), page(MODULE_TITLE.format(module), docstrings.markdown(doc), listed, homes)


CONTENTS = {  # captions of the index, and the pages below each; what nothing names comes last
    "Tensors": ["tensor", *subjects.PAGES],
    "Derivatives": ["autograd", "autograd.*", "func", "utils.checkpoint"],
    "Networks and training": ["nn", "nn.*", "optim", "optim.*", "amp", "utils", "utils.*", "distributions", "safetensors"],
    "Mathematics": ["linalg", "fft", "special", "signal", "signal.*", "sparse", "random"],
    "Machines and processes": ["accelerator", "backends*", "cpu*", "cuda*", "distributed*", "multiprocessing*", "futures"],
    "Tools": ["*"],
    "Tables": [],
}
TABLES = ["../operations", "../gpu_kernels", "../torch_names", "../differences"]


def contents(stems: list[str]) -> str:
    """The index: each page below the first caption that names it."""
    left = list(stems)
    made = []
    for caption, patterns in CONTENTS.items():
        found = [stem for pattern in patterns for stem in left if fnmatch(stem, pattern)]
        found = list(dict.fromkeys(found))
        left = [stem for stem in left if stem not in found]
        listed = [f"generated/{stem}" for stem in found] or TABLES
        made.append(f"```{{toctree}}\n:maxdepth: 1\n:caption: {caption}\n\n" + "\n".join(listed) + "\n```\n")
    return "\n".join(made)


def write(folder: Path) -> list[str]:
    """Writes all pages that changed; the names of all."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for stem, text in all_pages():
        file = folder / f"{stem}.md"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        written.append(stem)
    (folder / "contents.txt").write_text(contents(written))
    for file in folder.glob("*.md"):
        if file.stem not in written:
            file.unlink()
    return written
