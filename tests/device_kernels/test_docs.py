"""The examples of docs/cuda.md, which need a GPU or what stands in for one."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cuda.md"


def test_examples():
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    printed, namespace = io.StringIO(), {}
    for block in blocks:
        with contextlib.redirect_stdout(printed):
            exec(compile(block, PAGE.name, "exec"), namespace)
        for text in re.findall(r"^print\(.*\)  # (.+)$", block, re.MULTILINE):
            assert text in printed.getvalue()
    assert "3.6\n6.4\n" in printed.getvalue()
