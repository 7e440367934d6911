"""Check the arrows of layers.toml against #includes, CMake links and Python imports: python tools/check_layers.py [root]

Inside a package, files must not import each other in a circle, be it in functions or for types only.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LINK = re.compile(r"target_link_libraries\(([^)]*)\)")
CPP_SUFFIXES = {".h", ".cpp"}
# Python-free, so that a C++ program without Python can use the libraries.
PYTHON_HEADERS = re.compile(r"^(Python\.h|structmember\.h|nanobind/)")

LATER = {"import_module", "_import_module", "__import__"}


def module_name(package: str) -> str:
    """The Python package of a distribution: kernels-cpu -> adjoint_kernels_cpu."""
    return "adjoint" if package == "adjoint" else f"adjoint_{package.replace('-', '_')}"


def files(folder: Path, suffixes: set[str]) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in suffixes and "build" not in path.relative_to(folder).parts:
            yield path


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """The top-level names that a file imports, also by `import_module`, with their lines; relative imports stay inside the package."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.split(".")[0]
        elif isinstance(node, ast.Call) and node.args and getattr(node.func, "attr", getattr(node.func, "id", "")) in LATER:
            name = getattr(node.args[0], "value", None)
            if isinstance(name, str) and not name.startswith("."):
                yield node.lineno, name.split(".")[0]


def check_python(package: str, rule: dict, folder: Path) -> Iterator[str]:
    allowed = {module_name(name) for name in [package, *rule["python"]]} | set(rule["external"])
    for path in files(folder / module_name(package), {".py", ".pyi"}):
        for line, module in imported_modules(path):
            if module not in sys.stdlib_module_names and module not in allowed:
                yield f"{path}:{line}: {package} may not import {module}"


def imported_files(path: Path, top: Path) -> Iterator[Path]:
    """The files of the package `top` that a file of it imports. A package is imported where a name of its __init__.py is."""

    def found(*parts: str) -> Path | None:
        place = top.joinpath(*parts)
        return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if parts and p.is_file()), None)

    here = (top.name, *path.relative_to(top).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (parts := alias.name.split("."))[0] == top.name and (file := found(*parts[1:])):
                    yield file
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            parts = (*base, *(node.module.split(".") if node.module else ()))
            if parts[0] == top.name:
                for alias in node.names:
                    if file := found(*parts[1:], alias.name) or found(*parts[1:]):
                        yield file


def check_circles(package: str, rule: dict, folder: Path) -> Iterator[str]:
    top = folder / module_name(package)
    graph = {path: {file for file in imported_files(path, top) if file != path} for path in files(top, {".py"})}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"{top}: files import each other in a circle: {' <- '.join(str(p.relative_to(top)) for p in error.args[1])}"


def owner_of(header: str, packages: Path) -> str | None:
    """The package whose public headers include this one; a header that nobody has belongs to the one it names."""
    if not header.startswith("adjoint/"):
        return None
    found = next(packages.glob(f"*/include/{header}"), None)
    return found.relative_to(packages).parts[0] if found else header.split("/")[1]


def check_includes(package: str, rule: dict, folder: Path) -> Iterator[str]:
    allowed = {package, *rule.get("cpp", [])}
    for path in files(folder, CPP_SUFFIXES):
        where = path.relative_to(folder).parts[0]
        if where == "tests":
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            place = f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}"
            header = match[2]
            owner = owner_of(header, folder.parent)
            if owner and owner not in allowed:
                yield f"{place}: {package} may not include a header of {owner}"
            if match[1] == '"' and (header.startswith("..") or owner):
                yield f"{place}: include public headers as <adjoint/...>, private ones from the folder's root, got {header}"
            if package in ("core", "engine") and PYTHON_HEADERS.match(header) and not is_binding(path, folder):
                yield f"{place}: the shared libraries are Python-free, got {header}"


def is_binding(path: Path, folder: Path) -> bool:
    """Whether a file belongs to the bindings: python/ or include/adjoint/python/."""
    return "python" in path.relative_to(folder).parts[:-1]


def check_links(package: str, rule: dict, folder: Path) -> Iterator[str]:
    path = folder / "CMakeLists.txt"
    if not path.exists():
        return
    allowed = {package, *rule.get("cpp", [])}
    for match in LINK.finditer(path.read_text()):
        for owner in re.findall(r"adjoint::([a-z-]+)", match[1]):
            if owner not in allowed:
                yield f"{path}: {package} may not link adjoint::{owner}"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    layers = tomllib.loads((root / "layers.toml").read_text())
    faults = [f"packages/{path.name}: not in layers.toml" for path in sorted((root / "packages").iterdir())
              if path.is_dir() and path.name not in layers]  # fmt: skip
    for package, rule in layers.items():
        folder = root / "packages" / package
        for check in (check_python, check_circles, check_includes, check_links):
            faults += check(package, rule, folder)
    print("\n".join(faults) or f"check_layers: {len(layers)} packages keep to layers.toml")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
