"""Compiles every kernel variant that the device tests ask for, without a GPU: python tools/compile_asked.py [--arch 90] [--jobs 2] [PYTEST ARGUMENT...]

Triton's interpreter runs what its compiler refuses: a loop's variable that changes its type, a constant that is none. So the tests of
tests/device_kernels (or those that the arguments name) run on the stand-in driver with kernels that do nothing, what they ask for is
noted, and compiled. Their own outcomes mean nothing. Ends with an error where a variant does not compile, and names the slowest:
one above 5 s is a fault, too. All 6,800 variants take a quarter of an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SLOW = 5.0  # seconds of a variant


def pytest_configure(config: Any) -> None:
    """As a plugin of the tests: notes variants, and gives kernels that the stand-in takes and does not run."""
    import numpy as np

    import adjoint
    from adjoint_kernels_triton import _build, _registered
    from adjoint_kernels_triton._store import Image

    asked = (Path(os.environ["VARIANTS"]) / str(os.getpid())).open("a", buffering=1)
    adjoint.cuda.load_kernels_from("adjoint_kernels_triton")

    def image(function: Any, signature: Any, arch: int, options: Any) -> Image:
        sizes = [size for _, size in signature.parameters] + [8, 8]
        head = b"STANDIN1" + struct.pack(f"<{len(sizes) + 1}I", len(sizes), *sizes)
        return Image(head, "nothing", 0, 32 * options.warps, 1, False, False, 0, signature.parameters)

    def compiled(variant: Any) -> Image:
        if _registered.operation_of(variant.op) in _registered.OWN:
            _registered.declare()
            print(json.dumps([variant.op, variant.specs.hex(), variant.constants]), file=asked)
        return _build.build(_build.DECLARED[variant.op], variant.arch, variant.specs, list(variant.constants))

    _registered.indices, _registered.compiled, _build.compile_image = [], compiled, image
    np.testing.assert_allclose = adjoint.testing.assert_close = lambda *a, **k: None


def variants(arguments: list[str]) -> list[str]:
    """What the tests ask for, each once."""
    sys.path.insert(0, str(ROOT / "tests"))
    import standin

    with tempfile.TemporaryDirectory() as folder:
        paths = [str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
        chosen = {
            "ADJOINT_GPU": "1",
            "STANDIN_ZEROED": "1",
            "ADJOINT_CUDA_DRIVER": str(standin.build_driver()),
            "VARIANTS": folder,
        }
        environment = os.environ | chosen | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "compile_asked", "-p", "no:cacheprovider", *arguments]
        subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)
        return sorted({line for file in Path(folder).iterdir() for line in file.read_text().splitlines()})


def compile_one(arch: int, line: str) -> tuple[str, float, str]:
    """The variant, seconds, and what is wrong with it."""
    from adjoint_kernels_triton import _registered
    from adjoint_kernels_triton._store import Variant

    op, specs, constants = json.loads(line)
    _registered.indices = []
    _registered.declare()
    start = time.monotonic()
    fault = ""
    try:
        _registered.compiled(Variant(op, arch, bytes.fromhex(specs), tuple(constants)))
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__:
            cause = cause.__cause__
        fault = str(cause).splitlines()[-1]
    return f"{op} {specs} {constants}", time.monotonic() - start, fault


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, default=90, help="compute capability")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given, arguments = parser.parse_known_args()
    asked = variants(arguments or ["tests/device_kernels"])
    print(f"{len(asked)} variants", flush=True)
    with ProcessPoolExecutor(given.jobs) as pool:
        found = list(pool.map(partial(compile_one, given.arch), asked, chunksize=8))
    bad = [f"{name}: {fault}" for name, _, fault in found if fault]
    slow = sorted(((seconds, name) for name, seconds, _ in found if seconds > SLOW), reverse=True)
    print(*(f"does not compile: {line}" for line in bad), *(f"{seconds:.1f} s: {name}" for seconds, name in slow), sep="\n")
    return 1 if bad or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
