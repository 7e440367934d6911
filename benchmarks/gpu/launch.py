"""What a launch costs on the CPU, without the driver: python benchmarks/gpu/launch.py

Needs no GPU and no Triton. The stand-in driver takes launches of a kernel that nobody runs: what is timed is the way from Python through
dispatch, allocation, packing and the look-up of the variant to the driver's entry. PyTorch's eager launch takes 3 to 7 us with its driver.
"""

import struct
import sys
import timeit
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def choose_driver():
    sys.path.insert(0, str(ROOT / "tests"))
    import standin

    standin.choose_driver("no_kernels_here")


def compiled(operands):
    """A compiler whose kernel takes all arguments."""

    def compile(device, specs, constants):
        sizes = [8 if spec >> 4 >= 3 else 4 for spec in specs]
        image = struct.pack(f"<8s{len(sizes) + 3}I", b"STANDIN1", len(sizes) + 2, *sizes, 8, 8)
        return image, "kernel", 0, 128, 1, False, False, 0, list(enumerate(sizes))

    return compile


def nanoseconds(f, number=500):
    """The least of many short bursts: other programs disturb only some of them."""
    f()
    return min(timeit.repeat(f, number=number, repeat=1000)) / number * 1e9


def main():
    choose_driver()
    import ctypes
    import os

    import adjoint as ad
    from adjoint_core import registry

    driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
    for name in ("add", "mul", "sin", "addcmul"):
        registry.register_elementwise(name, ["value"] if name == "addcmul" else [], 1024, compiled(name))
    registry.register_random("random_uniform", 256, compiled("random_uniform"))
    x, y, z = (ad.ones(64, 64, device="cuda") for _ in range(3))
    wide = ad.ones(64, 128, device="cuda")[:, ::2]
    host = ad.ones(64, 64)
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        x[0, 0].fill_(1.0)
    driver.standin_quiet(1)
    rows = {
        "empty (allocate and free)": lambda: ad.empty_like(x),
        "x.sin()": lambda: x.sin(),
        "x.sin_() (nothing to allocate)": lambda: x.sin_(),
        "x + y": lambda: x + y,
        "x * 2.0": lambda: x * 2.0,
        "x + y, x strided": lambda: wide + y,
        "addcmul(x, y, z)": lambda: ad.addcmul(x, y, z, value=0.5),
        "rand(64, 64)": lambda: ad.rand(64, 64, device="cuda"),
        "replay of a graph": graph.replay,
        "the same x + y on the CPU, 64 x 64": lambda: host + host,
    }
    for name, f in rows.items():
        print(f"{name:40} {nanoseconds(f):7.0f} ns")


if __name__ == "__main__":
    sys.exit(main())
