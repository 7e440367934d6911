"""Which names of PyTorch the sources of libraries use, how many libraries do, and which of them adjoint lacks.

    python tools/torch_names.py uses FOLDER > uses.json      # FOLDER/*: the unpacked source of one library each
    TORCH_PYTHON tools/torch_names.py exist uses.json > torch.json
    python tools/torch_names.py exist --as-torch uses.json > adjoint.json
    python tools/torch_names.py page uses.json torch.json adjoint.json > docs/torch_names.md

A name is what the syntax tree shows: `torch.nn.functional.relu` below the names that an import binds, `from torch.x import y`, and, as
`torch.Tensor.name`, attributes of anything if PyTorch's tensors have a name that no builtin type, NumPy array or module of PyTorch has.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")


# ---- what sources use


def _dotted(node: ast.AST) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _bindings(tree: ast.AST) -> tuple[dict[str, str], set[str]]:
    """What local names stand for a name of PyTorch, and the names that imports themselves read."""
    bound, read = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "torch":
                    read.add(alias.name)
                    bound[alias.asname or "torch"] = alias.name if alias.asname else "torch"
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").partition(".")[0] == "torch":
            for alias in node.names:
                if alias.name != "*":
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                    read.add(f"{node.module}.{alias.name}")
    return bound, read


def uses(file: Path) -> set[str]:
    """The names of PyTorch that a source file uses; attributes of other things as `?.name`."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    bound, found = _bindings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = _dotted(node)
            first, _, rest = (name or "?").partition(".")
            found.add(f"{bound[first]}.{rest}" if first in bound else f"?.{node.attr}")
    return found


# ---- what exists


def exists(name: str) -> bool:
    """Whether the name can be imported, or read from what can be."""
    parts = name.split(".")
    try:
        value: Any = importlib.import_module(parts[0])
    except ImportError:
        return False
    for n, part in enumerate(parts[1:], 2):
        try:
            value = getattr(value, part)
        except Exception:
            try:
                value = importlib.import_module(".".join(parts[:n]))
            except Exception:
                return False
    return True


def _of_tensors_alone(name: str) -> bool:
    import numpy
    import torch  # PyTorch, or what stands for it

    others = (
        int,
        float,
        str,
        list,
        dict,
        set,
        tuple,
        bytes,
        Path,
        numpy.ndarray,
        torch.nn.Module,
        torch.optim.Optimizer,
        type(torch),
        Counter,
    )
    return not any(hasattr(kind, name) for kind in others)


def names_of(counts: dict[str, int]) -> dict[str, str]:
    """Each use under the name to look up: `?.name` is one of Tensor's."""
    found = {use: use for use in counts if not use.startswith("?")}
    return found | {use: "torch.Tensor." + use[2:] for use in counts if use.startswith("?.") and _of_tensors_alone(use[2:])}


# ---- the page


def _reason(name: str) -> str:
    from adjoint._absent import reason

    return reason(name) or "planned"


def page(counts: dict[str, int], in_torch: set[str], here: set[str], libraries: list[str]) -> str:
    """The Markdown page."""
    used = Counter({name: n for name, n in counts.items() if name in in_torch})
    private = {name for name in used if any(part.startswith("_") and not part.startswith("__") for part in name.split("."))}
    missing = sorted((name for name in used if name not in here), key=lambda name: (-used[name], name))
    have = sum(name in here for name in used)
    weight = 100 * sum(used[name] for name in used if name in here) / sum(used.values())
    lines = [
        "# Names of PyTorch that libraries use",
        "",
        f"Written by tools/torch_names.py from the sources of {len(libraries)} libraries: {', '.join(libraries)}. Of the {len(used):,} names that they",
        f"use and PyTorch 2.13 has, {have:,} are in adjoint ({weight:.1f} % weighted by how many libraries use a name). What is missing:",
        "",
        "| name | libraries | in adjoint |",
        "|---|---|---|",
        *(f"| `{name}` | {used[name]} | no: {_reason(name)} |" for name in missing),
        "",
        "Private names that at least two libraries use:",
        "",
        "| name | libraries | in adjoint |",
        "|---|---|---|",
        *(
            f"| `{name}` | {used[name]} | {'yes' if name in here else 'no: ' + _reason(name)} |"
            for name in sorted(private, key=lambda name: (-used[name], name))
            if used[name] > 1
        ),
        "",
        "Not counted: names reached through objects other than modules, classes and tensors (`module._buffers`).",
    ]
    return "\n".join(lines) + "\n"


def main(task: str, *arguments: str) -> None:
    """The task of the command line."""
    if task == "uses":
        counts: Counter[str] = Counter()
        folders = sorted(folder for folder in Path(arguments[0]).iterdir() if folder.is_dir())
        for folder in folders:
            counts.update(set().union(*map(uses, folder.rglob("*.py"))))
        names = [folder.name.rpartition("-")[0].replace("_", "-") or folder.name for folder in folders]
        print(json.dumps({"libraries": names, "counts": counts}))
    elif task == "exist":
        if "--as-torch" in arguments:
            import adjoint.as_torch  # noqa: F401
        found = names_of(json.loads(Path(arguments[-1]).read_text())["counts"])
        print(json.dumps(sorted(name for name in set(found.values()) if exists(name))))
    elif task == "page":
        import adjoint.as_torch  # noqa: F401  (names_of asks for what torch has)

        read = json.loads(Path(arguments[0]).read_text())
        there, here = (set(json.loads(Path(file).read_text())) for file in arguments[1:])
        counts = Counter()
        for use, name in names_of(read["counts"]).items():
            counts[name] += read["counts"][use]
        print(page(counts, there, here, read["libraries"]), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
