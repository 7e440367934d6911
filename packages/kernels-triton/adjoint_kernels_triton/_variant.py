"""What core asks a compiler for: the types and hints of the arguments, one byte each, and the values of the constants."""

from __future__ import annotations

from dataclasses import dataclass

from adjoint_core import registry

TRITON_TYPES = {
    "bool": "i1", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "complex64": "fp32", "complex128": "fp64",
}  # fmt: skip

BY_VALUE, MULTIPLE_OF_16, EQUAL_TO_ONE, POINTER, ALIGNED_POINTER = range(5)


@dataclass(frozen=True)
class Argument:
    """One argument of a launch: its form and element type. Of complex numbers it is one part, or a pointer to parts."""

    form: int
    dtype: str
    type: str
    size: int

    @property
    def complex(self) -> bool:
        return self.dtype.startswith("complex")

    @property
    def divisible(self) -> bool:
        return self.form in (MULTIPLE_OF_16, ALIGNED_POINTER)


def arguments(specs: bytes) -> list[Argument]:
    """The arguments that a variant's bytes describe.

    Raises:
        NotImplementedError: an element type that Triton does not have.
    """
    types, found = registry.element_types(), []
    for spec in specs:
        form, (dtype, size) = spec >> 4, types[spec & 15]
        if dtype not in TRITON_TYPES:
            raise NotImplementedError(f"no kernel for {dtype} on cuda")
        pointer = form in (POINTER, ALIGNED_POINTER)
        size //= 2 if dtype.startswith("complex") else 1
        found.append(Argument(form, dtype, ("*" if pointer else "") + TRITON_TYPES[dtype], 8 if pointer else size))
    return found


@dataclass(frozen=True)
class Leaf:
    """An argument at its place in a kernel's parameters: `path` is the parameter's position, then positions in tuples."""

    path: tuple[int, ...]
    slot: int
    argument: Argument


class Signature:
    """The parameters of a variant, in the forms that Triton and the launcher want."""

    def __init__(self) -> None:
        self.types: dict[str, object] = {}
        self.constants: dict[str | tuple[int, ...], object] = {}
        self.leaves: list[Leaf] = []

    def add(self, name: str, shape: object, slots: object) -> None:
        """A parameter: `shape` is None for one argument, or nested sequences of None; `slots` yields (slot, argument)."""
        self.types[name] = self._types((len(self.types),), shape, slots)

    def constant(self, name: str, value: object) -> None:
        self.types[name] = "constexpr"
        self.constants[name] = value

    def _types(self, path: tuple[int, ...], shape: object, slots: object) -> object:
        if shape is None:
            found = next(slots, None)  # type: ignore[call-overload]
            if found is None:
                raise RuntimeError("more parameters than arguments")
            slot, argument = found
            self.leaves.append(Leaf(path, slot, argument))
            if argument.form == EQUAL_TO_ONE:
                self.constants[path] = 1
                return "constexpr"
            return argument.type
        return tuple(self._types((*path, i), inner, slots) for i, inner in enumerate(shape))  # type: ignore[arg-type]

    @property
    def hints(self) -> dict[tuple[int, ...], list[list[object]]]:
        """Triton's attributes of the arguments."""
        return {leaf.path: [["tt.divisibility", 16]] for leaf in self.leaves if leaf.argument.divisible}

    @property
    def parameters(self) -> list[tuple[int, int]]:
        """The slot and size of each parameter of the compiled kernel."""
        return [(leaf.slot, leaf.argument.size) for leaf in self.leaves if leaf.argument.form != EQUAL_TO_ONE]
