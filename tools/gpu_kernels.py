"""The table of operations with and without a GPU kernel: python tools/gpu_kernels.py prints it; `--write` and `--check` renew and
compare docs/gpu_kernels.md. Kernels are found by reading their files: Triton is not needed."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from adjoint_core import registry

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpu_kernels.md"
KERNELS = ROOT / "packages" / "kernels-triton" / "adjoint_kernels_triton" / "kernels"


def declared() -> Iterator[tuple[str, str, str]]:
    """The operations that the files declare kernels of: the decorator's name, the operation's, and the file's; "linear" for kernels
    that take complex numbers too."""
    for path in sorted(KERNELS.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            for decorator in getattr(node, "decorator_list", []):
                if not isinstance(decorator, ast.Call):
                    continue
                names = [a.value for a in decorator.args if isinstance(a, ast.Constant)] or [node.name]
                linear = any(keyword.arg == "linear" for keyword in decorator.keywords)
                for name in names:
                    yield decorator.func.id, name, path.stem
                    if linear:
                        yield "linear", name, path.stem


def page() -> str:
    found = list(declared())
    where = {name: file for kind, name, file in found if kind == "complex_elementwise"}
    where |= {name: file for kind, name, file in found if kind in ("elementwise", "kernel")}
    core = {name for name in registry.names() if "cuda" in registry.record(name).kernels}
    views = {name for name in registry.names() if registry.record(name).view}
    of_pairs = core | {name for kind, name, _ in found if kind in ("linear", "complex_elementwise")}
    rows = [
        f"| `{name}` | {where.get(name) or 'core'} | {'yes' if name in of_pairs else ''} |"
        for name in registry.names()
        if name in where or name in core
    ]
    rest = [
        f"`{name}`"
        for name in registry.names()
        if name not in where and name not in core and name not in views and name != "to_device"
    ]
    return "\n".join(
        [
            "# Operations on GPUs",
            "",
            "Written by `tools/gpu_kernels.py`. Views need no kernel; compositions run where their parts do. Where an operation",
            "has no kernel, or none for complex numbers, the error names it; `nonzero` and `ravel_index` run on the CPU, between copies.",
            "Random numbers (`rand`, `randn`, `randint`, `bernoulli`, `dropout` and the filling methods) are made on the GPU, with the bits",
            "of the CPU; `randperm` is uploaded.",
            "",
            f"{len(rows)} operations have a kernel (by its file in `adjoint_kernels_triton/kernels`; core: the driver's copies):",
            "",
            "| operation | kernel | complex |",
            "|---|---|---|",
            *rows,
            "",
            f"{len(rest)} have none yet: {', '.join(rest)}.",
            "",
        ]
    )


def main() -> None:
    text = page()
    if "--write" in sys.argv:
        PAGE.write_text(text)
    elif "--check" in sys.argv:
        if PAGE.read_text() != text:
            sys.exit("docs/gpu_kernels.md is out of date: python tools/gpu_kernels.py --write")
    else:
        print(text)


if __name__ == "__main__":
    main()
