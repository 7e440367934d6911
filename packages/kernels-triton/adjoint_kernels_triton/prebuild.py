"""Compiles kernels ahead, for machines without Triton: python -m adjoint_kernels_triton.prebuild FOLDER --arch 80 90 100

What is compiled is what programs on this machine have asked for (the cache's index knows), and the same with nothing known of
the arguments but their types, which serves all other alignments and sizes. Put FOLDER where `ADJOINT_PREBUILT_KERNELS` says, or
into the installed package as `prebuilt`. It needs the same version of this package there, and no GPU here.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from . import _registered, _store
from ._store import Index, Variant


def wanted(cached: Index, archs: list[int]) -> list[Variant]:
    """The variants that the cache knows and their general forms, for each compute capability."""
    known = [Variant.parse(text) for text in cached.variants]
    forms = {(v.op, v.specs, v.constants) for known_one in known for v in (known_one, _registered.weakened(known_one))}
    return [Variant(op, arch, specs, constants) for arch in archs for op, specs, constants in sorted(forms)]


def compiled(variant: Variant, folder: Path) -> tuple[Variant, str]:
    """Compiles one, through the cache, and puts it into the folder."""
    image = _registered.compiled(variant)
    _store.write_image(folder, image)
    return variant, image.key


def prebuild(folder: Path, archs: list[int], jobs: int | None = None) -> int:
    """Fills the folder; how many variants it has then.

    Arguments:
        folder: made if it is not there.
        archs: compute capabilities: 80, 90, 100.
        jobs: processes; as many as there are processors by default.
    """
    _registered.declare()
    variants = wanted(_store.cached(), archs)
    index = Index(folder, _store.prebuilt().path.name)
    index.start({op: how for op, how in _registered.OPERATIONS.items() if op in _registered.OWN})
    with ProcessPoolExecutor(jobs) as pool:
        for variant, key in pool.map(partial(compiled, folder=folder), variants, chunksize=4):
            index.add(variant, key)
    return len(variants)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m adjoint_kernels_triton.prebuild", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", type=int, nargs="+", default=[80, 90, 100], help="compute capabilities")
    parser.add_argument("--jobs", type=int, help="processes")
    given = parser.parse_args()
    print(f"{prebuild(given.folder, given.arch, given.jobs)} variants in {given.folder}")


if __name__ == "__main__":
    main()
