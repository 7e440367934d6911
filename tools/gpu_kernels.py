"""The table of operations with and without a GPU kernel: python tools/gpu_kernels.py prints it; `--write` and `--check` renew and
compare docs/gpu_kernels.md. Kernels are found by reading their files: Triton is not needed. The page's last part is tools/roofline.py's."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from adjoint_core import registry
from adjoint_kernels_triton._on_host import ON_HOST

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpu_kernels.md"
COMPOSED = ("householder_product", "ormqr", "ravel_index", "sparse_matmul", "unique")
SPARSE = ("coalesce", "sparse_at", "sparse_coo_tensor", "sparse_layout", "sparse_values", "to_dense", "to_sparse")
ROOFLINES = "## Beside the limits of an H100"
KERNELS = ROOT / "packages" / "kernels-triton" / "adjoint_kernels_triton" / "kernels"

CANNOT_RAISE = """\
A kernel cannot raise, so values that are errors on the CPU, or undefined, are seen in the result or not at all:

- Positions outside of the tensor: `x[i]`, `gather`, `index_select`, `embedding` and `take_along_dim` read NaN there (0 of integers), so
  `cross_entropy` and `nll_loss` of a class that there is not are NaN. `index_add`, `scatter`, `index_put` and their like drop what they would
  write. Of several positions, as in `x[i, j]`, one outside of its own dimension may name another element. Positions given to `x[...]` as
  lists or CPU tensors are checked. `index_select`, `index_add`, `index_copy`, `gather` and `scatter` count negative positions from the
  end (CPU: IndexError).
- Factorisations with `check`, which is the default of all but the `_ex` functions, raise what they raise on the CPU; for that the host
  waits for the GPU, and a capture refuses them. Without `check`, what follows the first minor that is not positive is NaN in `cholesky`.
  `svd` and `eigh` raise too, but in a graph that is captured, where singular values and eigenvalues of what is not finite are NaN.
- The values of a tensor of quantiles on the GPU (`quantile`, `nanquantile`) are not looked at, as in PyTorch; numbers and lists are.
- Integers: `x // 0` and `x % 0` are some number, on an H100 -1 and x (CPU: an error).
- What NaN, infinities and numbers beyond the type become as integers is not determined; GPU and CPU differ.
- Complex functions at NaN and infinities, and signs of zero in their results, may differ from the CPU's.""".splitlines()


def declared() -> Iterator[tuple[str, str, str]]:
    """The operations that the files declare kernels of: the decorator's name, the operation's, and the file's; "linear" for kernels
    that take complex numbers too."""
    for path in sorted(KERNELS.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            calls = [node.value] if isinstance(node, ast.Expr) else getattr(node, "decorator_list", [])
            for call in calls:
                if not isinstance(call, ast.Call) or call.func.id == "step":
                    continue
                names = [a.value.partition(".")[0] for a in call.args if isinstance(a, ast.Constant)] or [node.name]
                parts = any(keyword.arg in ("linear", "complex") for keyword in call.keywords)
                for name in names:
                    yield call.func.id, name, path.stem
                    if parts:
                        yield "linear", name, path.stem


def page() -> str:
    found = list(declared())
    where = {name: file for kind, name, file in found if kind.startswith("complex")}
    where |= {name: file for kind, name, file in found if kind in ("elementwise", "kernel", "sequence")}
    core = {name for name in registry.names() if "cuda" in registry.record(name).kernels}
    views = {name for name in registry.names() if registry.record(name).view}
    of_pairs = core | {name for kind, name, _ in found if kind in ("linear", "complex_elementwise", "complex_kernel")}
    rows = [
        f"| `{name}` | {where.get(name) or 'core'} | {'yes' if name in of_pairs else ''} |"
        for name in registry.names()
        if name in where or name in core
    ]
    rest = [
        f"`{name}`"
        for name in registry.names()
        if name not in where
        and name not in core
        and name not in views
        and name not in {*ON_HOST, *COMPOSED, *SPARSE, "to_device"}
    ]
    return "\n".join(
        [
            "# Operations on GPUs",
            "",
            "Written by `tools/gpu_kernels.py`. Views need no kernel; compositions run where their parts do. Where an operation",
            "has no kernel, or none for complex numbers, the error names it.",
            "Where it has one, it has it for all element types and layouts that it takes on the CPU.",
            "",
            *CANNOT_RAISE,
            "",
            "Random numbers are made on the GPU. `rand`, `randn`, `randint`, `bernoulli`, `dropout`, `uniform_`, `normal_`, `random_`,",
            "`bernoulli_` and the dropout of `scaled_dot_product_attention`, which is drawn within its kernels, give the bits of the CPU. `exponential_`, `log_normal_`, `geometric_` and `cauchy_` start from the same bits and take",
            "the GPU's `log`, `exp` and `tan` of them: the last digits may differ. `randperm` is uploaded.",
            "",
            "`optim.Adam`, `AdamW` and `SGD` step all parameters of one type in one launch (by `optimizers`), also in a graph that is captured,",
            "unless `foreach=False`; what lies in memory unlike its gradient goes alone. In float32 and float64 the numbers are the same.",
            "",
            f"{len(rows)} operations have a kernel (by its file in `adjoint_kernels_triton/kernels`; core: the driver's copies):",
            "",
            "| operation | kernel | complex |",
            "|---|---|---|",
            *rows,
            "",
            f"Other operations make up {' and '.join(f'`{name}`' for name in COMPOSED)} there, and those of sparse tensors:",
            f"{', '.join(f'`{name}`' for name in SPARSE)}. A graph that is captured refuses",
            "`coalesce`, `sparse_coo_tensor` and `to_sparse`, whose results depend on values.",
            "",
            f"The CPU computes these {len(ON_HOST)}, between copies; the first call of each in a process warns, and a graph that is captured refuses it:",
            "",
            *(f"- `{name}`: {why}." for name, why in sorted(ON_HOST.items())),
            "",
            f"Records without a kernel: {len(rest)}{''.join(f', {name}' for name in rest)}.",
            "",
        ]
    )


def main() -> None:
    _, heading, rooflines = PAGE.read_text().partition(ROOFLINES)
    text = page() + "\n" + heading + rooflines
    if "--write" in sys.argv:
        PAGE.write_text(text)
    elif "--check" in sys.argv:
        if PAGE.read_text() != text:
            sys.exit("docs/gpu_kernels.md is out of date: python tools/gpu_kernels.py --write")
    else:
        print(text)


if __name__ == "__main__":
    main()
