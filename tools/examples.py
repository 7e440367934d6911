"""Run the Python examples of Markdown pages: python tools/examples.py PAGES...

The ```python and ```{code-cell} blocks of a page run in order in one namespace. A line that ends in `# text` after a print must print that text.
"""

import contextlib
import io
import re
import sys
import traceback
from pathlib import Path

BLOCK = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\)  # (.+)$", re.MULTILINE)


def failure(block: str, namespace: dict[str, object]) -> str | None:
    """What went wrong in one block."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(block, "example", "exec"), namespace)
    except Exception:
        return traceback.format_exc(limit=-1)
    missing = [text for text in PRINTED.findall(block) if text not in output.getvalue()]
    return f"expected {missing}, printed:\n{output.getvalue()}" if missing else None


def main() -> int:
    failed = blocks = 0
    for page in map(Path, sys.argv[1:]):
        namespace: dict[str, object] = {"__name__": "example"}
        for block in BLOCK.findall(page.read_text()):
            blocks += 1
            if fault := failure(block, namespace):
                failed += 1
                print(f"{page}:\n{block}\n{fault}")
    print(f"{blocks} examples in {len(sys.argv) - 1} pages, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
