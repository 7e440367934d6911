"""What core asks a compiler for: the types and hints of the arguments, one byte each, and the values of the constants."""

from __future__ import annotations

from dataclasses import dataclass

DTYPES = (
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)
"Of core's element types those that Triton knows, at core's positions."
TRITON_TYPES = ("i1", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "fp16", "bf16", "fp32", "fp64")
SIZES = (1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8)

BY_VALUE, MULTIPLE_OF_16, EQUAL_TO_ONE, POINTER, ALIGNED_POINTER = range(5)


@dataclass(frozen=True)
class Argument:
    """One argument of a launch: its form and element type."""

    form: int
    dtype: str
    type: str
    size: int

    @property
    def divisible(self) -> bool:
        return self.form in (MULTIPLE_OF_16, ALIGNED_POINTER)


def arguments(specs: bytes) -> list[Argument]:
    """The arguments that a variant's bytes describe.

    Raises:
        NotImplementedError: an element type that Triton does not have.
    """
    found = []
    for spec in specs:
        form, index = spec >> 4, spec & 15
        if index >= len(DTYPES):
            raise NotImplementedError(f"no kernel for {'complex64' if index == 13 else 'complex128'} on cuda")
        pointer = form in (POINTER, ALIGNED_POINTER)
        found.append(
            Argument(form, DTYPES[index], ("*" if pointer else "") + TRITON_TYPES[index], 8 if pointer else SIZES[index])
        )
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
            slot, argument = next(slots)  # type: ignore[call-overload]
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
