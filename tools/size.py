"""Check sizes: no file over 500 lines, no function over 60 lines; print medians: python tools/size.py [root]

C++ functions are found by their braces: best effort. A limit is raised for one name in EXCEPTIONS, which is reviewed.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

FILE_LIMIT, FUNCTION_LIMIT = 500, 60
FOLDERS = ["packages", "tests", "tools", "benchmarks", "examples"]
SKIPPED = {"build", "dist", "__pycache__"}
EXCEPTIONS: dict[str, int] = {}  # "path" or "path:function" -> limit

COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
SCOPE = r"\b(namespace|class|struct|union|enum|concept)\b(?![^{]*\)\s*[\w\s]*$)"
NO_FUNCTION = re.compile(SCOPE + r"|=\s*$|^\s*extern\s*\"?")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and length of each function body at namespace or class level."""
    text = COMMENT_OR_LITERAL.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", "", text, flags=re.MULTILINE)
    open_scopes: list[str | None] = []  # the function's name, or None for a namespace, class or initializer
    start_line = start_of_head = 0
    for match in re.finditer(r"[{};]", text):
        if match[0] == "{":
            head = text[start_of_head : match.start()]
            name = NAME.search(head)
            inside = any(open_scopes)
            is_function = not inside and name is not None and not NO_FUNCTION.search(head)
            if is_function:
                start_line = text.count("\n", 0, start_of_head + len(head) - len(head.lstrip()))
            open_scopes.append(name[1] if is_function and name else None)
        elif match[0] == "}" and open_scopes:
            closed = open_scopes.pop()
            if closed:
                yield closed, text.count("\n", 0, match.start()) - start_line + 1
        start_of_head = match.end()


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and length of each function, its docstring not counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            docstring = node.body[0] if ast.get_docstring(node) else None
            documented = docstring.end_lineno - docstring.lineno + 1 if docstring and docstring.end_lineno else 0
            yield node.name, node.end_lineno - node.lineno + 1 - documented


READERS = {".py": python_functions, ".h": cpp_functions, ".cpp": cpp_functions}


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    faults, file_lines, function_lines = [], defaultdict(list), defaultdict(list)
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in READERS):
        short = path.relative_to(root)
        if SKIPPED & set(short.parts):
            continue
        text = path.read_text()
        lines = text.count("\n")
        kind = "Python" if path.suffix == ".py" else "C++"
        file_lines[kind].append(lines)
        if lines > EXCEPTIONS.get(str(short), FILE_LIMIT):
            faults.append(f"{short}: {lines} lines, the limit is {FILE_LIMIT}")
        for name, length in READERS[path.suffix](text):
            function_lines[kind].append(length)
            if length > EXCEPTIONS.get(f"{short}:{name}", FUNCTION_LIMIT):
                faults.append(f"{short}: function {name} has {length} lines, the limit is {FUNCTION_LIMIT}")
    for kind, lengths in file_lines.items():
        functions = function_lines[kind] or [0]
        print(
            f"{kind}: {len(lengths)} files, {sum(lengths)} lines, median {median(lengths):.0f}, longest {max(lengths)}; "
            f"{len(functions)} functions, median {median(functions):.0f}, longest {max(functions)}"
        )
    print("\n".join(faults) or "size: within the limits")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
