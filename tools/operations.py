"""Write docs/operations.md from the table of records: python tools/operations.py [--check]"""

import sys
from pathlib import Path

import adjoint_kernels_cpu  # noqa: F401  its kernels count
from adjoint_core import registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"
HEAD = """# Operations

One row for each record, written by `tools/operations.py` (`./run docs --write`). Everything else in the public names is composed of
these. *Derivative*: the operands it exists for, by number ("all" for a list of operands); each has reverse and forward mode, to any
order. *Batch*: vmap runs it in one call ("yes"), or once for each lane ("lanes"). Kernels: `reference` is core's, whose elementwise loops run on all
threads; `cpu` from adjoint-kernels-cpu.

{count} operations, {differentiable} with derivatives, {fast} with a kernel of their own in adjoint-kernels-cpu.

| operation | what it computes | kind | derivative | batch | kernels |
|---|---|---|---|---|---|
"""


def row(r: registry.Record, fast: set[str]) -> str:
    derivative = "all" if r.variadic and r.differentiable else ", ".join(map(str, r.differentiable)) or "none"
    kernels = ["reference"] * ("reference" in r.kernels) + ["cpu"] * (r.name in fast)
    kernels = kernels or ["view"] * r.view
    doc = " ".join(r.doc.split()).replace("|", "\\|")
    kind = f"{r.kind}, view" if r.view else r.kind
    return f"| `{r.name}` | {doc} | {kind} | {derivative} | {'yes' if r.batched else 'lanes'} | {', '.join(kernels)} |\n"


def page() -> str:
    records = [registry.record(name) for name in registry.names()]
    fast = set(adjoint_kernels_cpu._kernels.kernel_names())
    counts = {
        "count": len(records),
        "differentiable": sum(bool(r.differentiable) for r in records),
        "fast": len(fast & {r.name for r in records}),
    }
    return HEAD.format(**counts) + "".join(row(r, fast) for r in records)


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        print("docs/operations.md is out of date: ./run docs --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
