"""Begin a new elementwise operation, or its GPU kernel, from one line; what it writes is a start, complete and tested, to be edited.

    python tools/new.py operation cube "x * x * x" --derivative "3.0 * square(x)" --doc "The cube of each element of `x`."
    python tools/new.py kernel cube "x * x * x"

The value is an expression of `x` (in C++, which is Python's for arithmetic; --numpy gives another for the test), the derivative one of
`x` and the result `y` in the functions of core's ops.h. docs/add_an_operation.md and docs/add_a_kernel.md say what each place is.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE, CPU, TRITON = (
    "packages/core",
    "packages/kernels-cpu/src/unary.cpp",
    "packages/kernels-triton/adjoint_kernels_triton/kernels/unary.py",
)


def before(marker: str, text: str) -> Callable[[str], str]:
    """An edit: `text` in front of the last `marker`."""

    def edit(source: str) -> str:
        head, found, tail = source.rpartition(marker)
        if not found:
            raise ValueError(f"new: the place {marker!r} is gone")
        return head + text + found + tail

    return edit


def among_records(name: str) -> Callable[[str], str]:
    """An edit: the record in the sorted list at the end of its file."""

    def edit(source: str) -> str:
        start = source.index("const Op* const unary_ops[] = {")
        stop = source.index("};", start)
        listed = sorted({*re.findall(r"&op_(\w+)", source[start:stop]), name})
        rows, row = [], "   "
        for record in listed:
            word = f" &op_{record},"
            if len(row + word) > 128:
                rows.append(row)
                row = "   "
            row += word
        return source[:start] + "const Op* const unary_ops[] = {\n" + "\n".join([*rows, row]) + "\n" + source[stop:]

    return edit


def into_table(entry: str) -> Callable[[str], str]:
    """An edit: a kernel in the sorted table of kernels-cpu."""

    def edit(source: str) -> str:
        start = source.index("constexpr Entry entries[] = {\n") + len("constexpr Entry entries[] = {\n")
        at = start
        for line in source[start : source.index("};", start)].splitlines(keepends=True):
            if re.match(r'    \{"', line) and line > entry:
                break
            at += len(line)
        return source[:at] + entry + source[at:]

    return edit


def operation(name: str, value: str, derivative: str, doc: str, numpy: str) -> dict[str, Callable[[str], str]]:
    """The edits that a new operation takes, by file."""
    functor = "".join(word.capitalize() for word in name.split("_"))
    needs = ", ".join(
        ["V v", *["X<0> x"] * bool(re.search(r"\bx\b", derivative)), *["Y<> y"] * bool(re.search(r"\by\b", derivative))]
    )
    record = (
        f'const Op op_{name}{{.name = "{name}", .types = types::floating,\n'
        f"    .d = {{wide_rule([]({needs}) {{ return v * ({derivative}); }})}},\n"
        f'    .doc = "{doc}", .reference = elementwise<functors::{functor}, 1>}};\n'
        f"Tensor {name}(const Tensor& x) {{ return apply(op_{name}, {{x}}); }}\n\n"
    )
    declared = f"ADJOINT_API Tensor {name}(const Tensor& x);\n"
    scalar = f"struct {functor} {{ template <Field T> T operator()(T x) const {{ return {value}; }} }};\n\n"
    return {
        f"{CORE}/include/adjoint/core/functors/unary.h": before("}  // namespace adjoint::functors", scalar),
        f"{CORE}/include/adjoint/core/ops.h": before("// ---- activations (ops/activation.cpp)", declared),
        f"{CORE}/src/ops/unary.cpp": lambda text: among_records(name)(before("const Op* const unary_ops[]", record)(text)),
        f"{CORE}/python/elementwise.cpp": before('{"isfinite", isfinite}', f'{{"{name}", {name}}}, '),
        CPU: into_table(f'    {{"{name}", kernel<{functor}, 1>}},\n'),
        "tests/op_cases/unary.py": before("]", f'    holomorphic("{name}", x(3, 4), ref=lambda x: {numpy}),\n'),
    }


def kernel(name: str, value: str) -> dict[str, Callable[[str], str]]:
    """The edit that a new GPU kernel takes."""
    return {TRITON: lambda text: f"{text.rstrip()}\n\n\n@elementwise()\ndef {name}(x):\n    return {value}\n"}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/new.py", description="Begin a new elementwise operation, or its GPU kernel.")
    parser.add_argument("what", choices=["operation", "kernel"])
    parser.add_argument("name")
    parser.add_argument("value", help="an expression of x")
    parser.add_argument("--derivative", help="an expression of x, and of the result y")
    parser.add_argument("--doc", help="one sentence")
    parser.add_argument("--numpy", help="the value for arrays, where it is not the same text")
    parser.add_argument("--root", type=Path, default=ROOT)
    given = parser.parse_args(arguments)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", given.name):
        parser.error(f"the name must be small letters, digits and underscores, got {given.name!r}")
    if given.what == "operation" and not given.derivative:
        parser.error("an operation needs --derivative")
    doc = given.doc or f"`{given.value}` for each element of `x`."
    make = (
        operation(given.name, given.value, given.derivative, doc, given.numpy or given.value)
        if given.what == "operation"
        else kernel(given.name, given.value)
    )
    texts = {file: (given.root / file).read_text() for file in make}
    record = f'.name = "{given.name}"' if given.what == "operation" else f"\ndef {given.name}("
    if any(record in text for text in texts.values()):
        parser.error(f"there is a {given.name} already")
    for file, edit in make.items():
        (given.root / file).write_text(edit(texts[file]))
        print(file)
    print("next: tools/dev.sh && .venv/bin/python -m pytest tests -k", given.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
