"""What core is told, and what it gets when it asks for a variant: an image from disk, or from the compiler."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from adjoint_core import cuda, registry

from . import _store
from ._on_host import ON_HOST
from ._store import Image, Index, Variant
from ._variant import ALIGNED_POINTER, BY_VALUE, EQUAL_TO_ONE, MULTIPLE_OF_16, POINTER

FAMILIES = (
    "unary", "special", "gamma", "bessel", "bessel_oscillating", "airy", "polynomial", "binary", "logic", "activation", "copy", "reduce", "moments",
    "pick", "normalise", "normalise_vjp", "batch_norm", "cross_entropy", "attention", "bags", "scan", "matmul", "index", "scatter", "random", "sort", "compact",
    "complex", "complex_functions", "complex_rows", "lu", "cholesky", "qr", "fft", "conv", "conv_weight", "pool", "resize", "grid_sample", "distance", "margin", "optimizers", "jacobi",
)  # fmt: skip
OPERATIONS: dict[str, list[Any]] = {}
"How each operation is registered: as what, and the arguments but the compiler."
OWN: set[str] = set()
"Operations whose kernels this package declares: what indices say holds for them alone."

indices: list[Index] | None = None
"The cache's and the prebuilt one, when they have been read. Empty where all is compiled afresh, as in tests."


def put(op: str, how: list[Any], own: bool) -> bool:
    """Registers an operation; whether this is its kernel from now on. Users' kernels go before this package's."""
    if own and op in OPERATIONS:
        return op in OWN
    kind, *arguments = how
    getattr(registry, f"register_{kind}")(
        op, *arguments, partial(compile, op)
    )  # before it is noted: what is wrong changes nothing
    OPERATIONS[op] = how
    (OWN.add if own else OWN.discard)(op)
    return True


def read_indices() -> list[Index]:
    global indices
    if indices is None:
        indices = [_store.cached(), _store.prebuilt()]
    return indices


def register() -> None:
    """As an index says, or by importing the declarations; and what has no kernel."""
    for op, why in ON_HOST.items():
        registry.register_on_host(op, why)
    for index in read_indices():
        if index.operations:
            for op, how in index.operations.items():
                put(op, how, own=True)
            return
    declare()


def declare() -> None:
    """Imports the declarations, which registers them.

    Raises:
        RuntimeError: Triton is not installed.
    """
    try:
        importlib.import_module("triton")
    except ModuleNotFoundError as error:
        raise RuntimeError(
            'Triton compiles the kernels for GPUs and is not installed: pip install "adjoint[triton]"'
        ) from error
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.kernels.{family}")
    cached = next(iter(read_indices()), None)
    if cached and not cached.operations and not _store.cached().operations:  # nor has another process begun it meanwhile
        cached.start({op: how for op, how in OPERATIONS.items() if op in OWN})


def operation_of(kernel: str) -> str:
    """The operation that a kernel is of: steps are called by it and their own name, "sort.count"."""
    return kernel.partition(".")[0]


def compile(op: str, device: int, specs: bytes, constants: list[int], step: str = "") -> tuple[Any, ...]:
    """What core calls for a variant that it has not met."""
    major, minor = cuda.get_device_capability(device)
    variant = Variant(f"{op}.{step}" if step else op, 10 * major + minor, specs, tuple(constants))
    image = stored(variant) if op in OWN else None
    return tuple(vars(image or compiled(variant)).values())[:-1]  # all but the key


def stored(variant: Variant) -> Image | None:
    """From an index; without Triton also a prebuilt image that expects less of its arguments."""
    for index in read_indices():
        if image := fitting(index, variant):
            return image
    if _store.compiler() or not indices:
        return None
    general = fitting(read_indices()[1], weakened(variant))
    if general is None:
        raise RuntimeError(
            f"{operation_of(variant.op)}: there is no prebuilt kernel for these arguments (sm_{variant.arch}), and Triton, which would "
            'compile one, is not installed: pip install "adjoint[triton]"'
        )
    return general


def fitting(index: Index, variant: Variant) -> Image | None:
    """For this capability, or where code for 8.0 runs on 8.6 and 8.9."""
    image = index.find(variant)
    if image is None and 80 < variant.arch < 90:
        image = index.find(Variant(variant.op, 80, variant.specs, variant.constants))
    return image


def weakened(variant: Variant) -> Variant:
    """The same arguments with nothing known of them but their types."""
    less = {ALIGNED_POINTER: POINTER, MULTIPLE_OF_16: BY_VALUE, EQUAL_TO_ONE: BY_VALUE}
    specs = bytes(less.get(spec >> 4, spec >> 4) << 4 | spec & 15 for spec in variant.specs)
    return Variant(variant.op, variant.arch, specs, variant.constants)


def compiled(variant: Variant) -> Image:
    """By Triton, and noted in the cache's index."""
    op = operation_of(variant.op)
    if op in OWN:
        declare()
    from . import _build

    try:
        image = _build.build(_build.DECLARED[variant.op], variant.arch, variant.specs, list(variant.constants))
    except NotImplementedError as error:
        raise NotImplementedError(f"{op}: {error}") from None
    if op in OWN and read_indices():
        read_indices()[0].add(variant, image.key)
    return image
