"""What kernels move and compute, as compiled for sm_90, beside the limits of an H100: the last part of docs/gpu_kernels.md. python tools/roofline.py
prints the page; `--write` and `--check` renew and compare it. Needs Triton, and no GPU: kernels are compiled and disassembled, and nothing runs."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpu_kernels.md"
HEADING = "## Beside the limits of an H100"

LIMITS = {"memory": 3.35e12, "float32": 67e12, "float64": 34e12, "TF32 tensor cores": 494e12, "half tensor cores": 989e12}
"Of an H100 SXM, a second: bytes, and operations, of which a fused product and sum is two (NVIDIA H100 Tensor Core GPU data sheet; dense)."

FLOPS = {"FADD": 1, "FMUL": 1, "FFMA": 2, "MUFU": 1, "DADD": 1, "DMUL": 1, "DFMA": 2}
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ +)?([A-Z0-9][A-Z0-9_.a-z]*)")


@dataclass
class Line:
    """An instruction of a thread: where it jumps, bytes in global memory, operations, and the limit on these."""

    target: int | None  # a line's number
    loads: bool
    moved: int
    flops: int
    unit: str


def tensor_flops(parts: list[str]) -> tuple[int, str]:
    """Of an instruction for tensor cores, a share of each thread: HMMA.16816 is 16 x 8 x 16 of a warp, HGMMA.64x128x16 is of four."""
    kind = "TF32 tensor cores" if "TF32" in parts else "half tensor cores"
    if parts[0] == "HGMMA":
        m, n, k = map(int, re.findall(r"\d+", next(p for p in parts if re.fullmatch(r"\d+x\d+x\d+", p))))
        return 2 * m * n * k // 128, kind
    return 2 * 16 * 8 * int(parts[1].removeprefix("168")) // 32, kind


def instruction(text: str) -> tuple[bool, int, int, str]:
    """Whether it loads, bytes, operations, and their unit."""
    parts = text.split(".")
    if parts[0] in ("LDG", "LDGSTS", "STG") and "CONSTANT" not in parts:  # those are tables of libdevice
        width = next((WIDTHS[p] for p in parts if p in WIDTHS), 4)
        return parts[0] != "STG", width, 0, ""
    if parts[0] == "HGMMA" or parts[0] == "HMMA":
        return False, 0, *tensor_flops(parts)
    return False, 0, FLOPS.get(parts[0], 0), "float64" if parts[0].startswith("D") else "float32"


def lines(cubin: bytes) -> list[Line]:
    """A kernel, disassembled."""
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([tool, "-c", file.name], check=True, capture_output=True, text=True).stdout
    found: list[Line] = []
    labels: dict[str, int] = {}
    jumps: list[tuple[int, str]] = []
    for row in text.splitlines():
        if label := re.match(r"\s*(\.L_\w+):", row):
            labels[label[1]] = len(found)
        elif made := INSTRUCTION.search(row):
            if to := re.search(r"BRA.*`\((\.L_\w+)\)", row):
                jumps.append((len(found), to[1]))
            found.append(Line(None, *instruction(made[2])))
    for at, label in jumps:
        found[at].target = labels[label]
    return found


def loops(code: list[Line]) -> list[Line]:
    """The innermost loops that load, without what stands around them; all of a kernel that has none."""
    spans = [(line.target, i) for i, line in enumerate(code) if line.target is not None and line.target <= i]
    spans = [(a, b) for a, b in spans if any(line.loads and line.moved for line in code[a : b + 1])]
    inner = [(a, b) for a, b in spans if not any((c, d) != (a, b) and a <= c and d <= b for c, d in spans)]
    return [line for a, b in sorted(set(inner)) for line in code[a : b + 1]] or code


def row(name: str, code: list[Line], share: float) -> str:
    """A line of a table; `share` of the counts is shown."""
    moved, flops = sum(line.moved for line in code), {}
    for line in code:
        if line.flops:
            flops[line.unit] = flops.get(line.unit, 0) + line.flops
    times = {"memory": moved / LIMITS["memory"], **{unit: n / LIMITS[unit] for unit, n in flops.items()}}
    most = max(times, key=lambda unit: times[unit])
    total = sum(flops.values())
    return f"| `{name}` | {moved * share:.4g} | {total * share:.4g} | {total / moved if moved else 0:.3g} | {most} |"


def elementwise() -> Iterator[str]:
    """Of each elementwise kernel."""
    from adjoint_core import registry
    from adjoint_kernels_triton import _build, _kinds
    from adjoint_kernels_triton._variant import ALIGNED_POINTER, BY_VALUE

    types = [name for name, _ in registry.element_types()]
    truths = {"eq", "ne", "lt", "le", "gt", "ge"}
    number, truth, whole = (ALIGNED_POINTER << 4 | types.index(t) for t in ("float32", "bool", "int32"))
    value, count = (BY_VALUE << 4 | types.index(t) for t in ("float32", "int32"))
    for name, declared in sorted(_build.DECLARED.items()):
        if not isinstance(declared, _kinds.Elementwise) or name == "complex":  # whose result is none of these types
            continue
        pointer = whole if name.startswith("bitwise") else number
        operands = [pointer] * declared.operands
        if name in ("where", "masked_fill", "masked_scale"):
            operands[name != "where"] = truth
        result, size = (truth, 1) if name in truths or name.startswith(("logical", "is")) else (pointer, 4)
        specs = bytes([*operands, *[value] * len(declared.fields), result, count])
        code = lines(_build.build(declared, 90, specs, [0, declared.block]).image)
        yield row(name, code, size / sum(line.moved for line in code if not line.loads))


def calls() -> dict[str, Callable[[], Any]]:
    """Whole models' operations, and sizes for which their kernels are as large as they get."""
    import adjoint as ad

    f = ad.nn.functional

    def drawn(*sizes: int, dtype: Any = ad.float32) -> Any:
        return ad.ones(*sizes, dtype=dtype, device="cuda", requires_grad=True)

    def both(y: Any) -> None:
        y.backward(ad.ones_like(y))

    places = ad.zeros(256, dtype=ad.long, device="cuda")
    weights = drawn(1024)
    return {
        "matmul, float32": lambda: drawn(1024, 1024).detach() @ drawn(1024, 1024).detach(),
        "matmul, bfloat16": lambda: (
            drawn(1024, 1024, dtype=ad.bfloat16).detach() @ drawn(1024, 1024, dtype=ad.bfloat16).detach()
        ),
        "attention, float32": lambda: both(f.scaled_dot_product_attention(*[drawn(2, 8, 512, 64)] * 3)),
        "attention, bfloat16": lambda: both(f.scaled_dot_product_attention(*[drawn(2, 8, 512, 64, dtype=ad.bfloat16)] * 3)),
        "conv2d, float32": lambda: both(f.conv2d(drawn(8, 64, 32, 32), drawn(64, 64, 3, 3), padding=1)),
        "conv2d, bfloat16": lambda: both(
            f.conv2d(drawn(8, 64, 32, 32, dtype=ad.bfloat16), drawn(64, 64, 3, 3, dtype=ad.bfloat16), padding=1)
        ),
        "max_pool2d": lambda: f.max_pool2d(drawn(8, 64, 32, 32), 2),
        "batch_norm": lambda: both(f.batch_norm(drawn(64, 1024), None, None, weights.detach(), weights.detach(), True)),
        "layer_norm": lambda: both(f.layer_norm(drawn(256, 1024), (1024,), weights, weights)),
        "rms_norm": lambda: both(f.rms_norm(drawn(256, 1024), (1024,), weights)),
        "softmax": lambda: both(drawn(256, 1024).softmax(1)),
        "log_softmax": lambda: both(drawn(256, 1024).log_softmax(1)),
        "cross_entropy": lambda: f.cross_entropy(drawn(256, 1024), places).backward(),
        "sum": lambda: drawn(256, 1024).detach().sum(1),
        "cumsum": lambda: drawn(256, 1024).detach().cumsum(1),
        "sort": lambda: drawn(256, 1024).detach().sort(),
        "embedding": lambda: f.embedding(places, drawn(256, 1024).detach()),
        "embedding_bag": lambda: both(f.embedding_bag(places[:, None], drawn(256, 1024), mode="sum")),
        "dropout": lambda: f.dropout(drawn(256, 1024).detach()),
    }


def structured() -> Iterator[str]:
    """Of the kernels that `calls` launch."""
    from adjoint_kernels_triton import _build, _compile, _kinds, _registered

    made: dict[str, bytes] = {}

    def compile_image(function: Any, signature: Any, arch: int, options: Any) -> Any:
        image = _compile.image(function, signature, 90, options)
        made.setdefault(function.fn.__name__, image.image)
        return image

    own = {d.function.fn.__name__ for d in _build.DECLARED.values() if isinstance(d, _kinds.Structured)}
    _registered.indices, _build.compile_image = [], compile_image
    for name, call in calls().items():
        made.clear()
        call()
        for kernel, image in made.items():
            if kernel in own:
                yield row(f"{name}: {kernel}" if kernel != name else name, loops(lines(image)), 1)


def part() -> str:
    import triton

    return "\n".join(
        [
            HEADING,
            "",
            f"Written by `tools/roofline.py`, with Triton {triton.__version__}, from kernels as they are compiled for sm_90: global loads and stores",
            "and floating-point operations are counted in the machine code. Nothing was measured. The limits, a second:",
            "",
            *(f"- {name}: {limit:.4g}{' bytes' if name == 'memory' else ''}" for name, limit in LIMITS.items()),
            "",
            "A fused product and sum are two operations; a root, a reciprocal or a power of two is one. The last column is the limit that takes",
            "longest. Instructions of branches and of inner loops count once: functions with a long way for rare values take less for most",
            "elements, and series more. What lies in the L2 cache counts as read from memory: products of matrices are farther from that",
            "limit than it seems here.",
            "",
            "Of each element that is written, float32 in rows (`bitwise`: int32; comparisons write bool):",
            "",
            "| kernel | bytes | operations | operations a byte | limit |",
            "|---|---|---|---|---|",
            *elementwise(),
            "",
            "Of a thread, in one pass of the innermost loops that load (without loops: in all of the kernel), for sizes of models:",
            "",
            "| call: kernel | bytes | operations | operations a byte | limit |",
            "|---|---|---|---|---|",
            *structured(),
            "",
        ]
    )


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    import standin

    standin.choose_driver("adjoint_kernels_triton")
    from adjoint_kernels_triton import _registered

    _registered.declare()
    before, _, _ = PAGE.read_text().partition(HEADING)
    text = before + part()
    if "--write" in sys.argv:
        PAGE.write_text(text)
    elif "--check" in sys.argv:
        if PAGE.read_text() != text:
            sys.exit("docs/gpu_kernels.md is out of date: python tools/roofline.py --write")
    else:
        print(text)


if __name__ == "__main__":
    main()
