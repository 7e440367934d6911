"""A case: one call of one operation, from which every test of that operation is generated."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from op_cases._inputs import Input, Shape

BATCH_CELLS = ("vmap", "vmap_of_vjp", "vmap_of_jvp", "vjp_of_vmap")
Kink = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True, eq=False)
class Case:
    """One call. `name` is a path below the package (`nn.functional.relu`) or a method (`Tensor.view`).

    Fields beyond the call:
        variant: what sets this call apart from others of the same name.
        call: `call(ad, *args, **kwargs)`, where the path does not say it all (indexing, properties).
        ref: the same call on NumPy arrays, in float64.
        elementwise: output i depends on input i alone; brings the 0-d, zero-size and ulp tests.
        complex: the operation is differentiable for complex128 too.
        inplace: True if the method `name_` exists, "inplace" if the function takes `inplace=True`.
        alias: the first two inputs may be one tensor.
        empty, scalar: shapes of all inputs at which the call is made again, for zero sizes and 0-d.
        kinks: `(inputs, gradients of the sum)` at points where the derivative is a choice.
        skip: cells that do not apply, each with its reason.
        records: names of the op records this call stands for, beside its own.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    variant: str = ""
    call: Callable[..., Any] | None = None
    ref: Callable[..., Any] | None = None
    elementwise: bool = False
    complex: bool = False
    inplace: bool | str = False
    alias: bool = False
    empty: Sequence[Shape] | None = None
    scalar: Sequence[Shape] | None = None
    kinks: Sequence[Kink] = ()
    skip: Mapping[str, str] = field(default_factory=dict)
    records: Sequence[str] = ()

    @property
    def id(self) -> str:
        return f"{self.name}-{self.variant}" if self.variant else self.name

    @property
    def inputs(self) -> list[Input]:
        """The tensor arguments, in order."""
        return list(_leaves((self.args, dict(self.kwargs))))

    @property
    def differentiable(self) -> list[int]:
        """Positions among `inputs` that have a derivative."""
        return [i for i, leaf in enumerate(self.inputs) if leaf.differentiable]

    def rng(self, seed: int = 0) -> np.random.Generator:
        """The case's own source of randomness: adding a case moves no other."""
        return np.random.default_rng([zlib.crc32(self.id.encode()), seed])

    def sample(self, seed: int = 0, *, shapes: Sequence[Shape] | None = None, imaginary: bool = False) -> list[np.ndarray]:
        """One array per input, at the case's shapes or at `shapes`."""
        rng, inputs = self.rng(seed), self.inputs
        return [leaf.draw(rng, s, imaginary) for leaf, s in zip(inputs, shapes or [i.shape for i in inputs], strict=True)]

    def bind(self, ad: Any, tensors: Sequence[Any]) -> Callable[[], Any]:
        """The call in `ad` with `tensors` as its inputs, to be made any number of times."""
        args, kwargs = self._filled(tensors)
        if self.call is not None:
            return partial(self.call, ad, *args, **kwargs)
        if self.name.startswith("Tensor."):
            return partial(getattr(args[0], self.name.removeprefix("Tensor.")), *args[1:], **kwargs)
        function = ad
        for part in self.name.split("."):
            function = getattr(function, part)
        return partial(function, *args, **kwargs)

    def run(self, ad: Any, tensors: Sequence[Any]) -> Any:
        """Make the call in `ad` with `tensors` as its inputs."""
        return self.bind(ad, tensors)()

    def run_inplace(self, ad: Any, tensors: Sequence[Any]) -> Any:
        """Make the call so that it overwrites its first tensor, and return what it returns."""
        args, kwargs = self._filled(tensors)
        if self.inplace == "inplace":
            return self.run_function(ad, *args, **kwargs, inplace=True)
        return getattr(args[0], self.name.rpartition(".")[2] + "_")(*args[1:], **kwargs)

    def run_function(self, ad: Any, *args: Any, **kwargs: Any) -> Any:
        """The named function of `ad.nn.functional`."""
        return getattr(ad.nn.functional, self.name.rpartition(".")[2])(*args, **kwargs)

    def reference(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What NumPy says."""
        assert self.ref is not None
        args, kwargs = self._filled(arrays)
        result = self.ref(*args, **kwargs)
        return [np.asarray(r) for r in (result if isinstance(result, (tuple, list)) else (result,))]

    def shapes_of(self, cell: str) -> Sequence[Shape] | None:
        """Input shapes for the zero-size and 0-d cells."""
        given = self.empty if cell == "empty" else self.scalar
        if given is not None or not self.elementwise:
            return given
        return [(0, 3) if cell == "empty" else ()] * len(self.inputs)

    def _filled(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return _fill((self.args, dict(self.kwargs)), iter(values))


def case(name: str, *args: Any, no_batch: str = "", skip: Mapping[str, str] | None = None, **options: Any) -> Case:
    """A case from one line: keywords that are fields of `Case` describe it, all others are arguments of the operation.

    Example: `case("index_select", x(3, 4), dim=0, index=idx(5, hi=3), ref=lambda x, dim, index: x[index])`
    """
    skipped = {**{cell: no_batch for cell in BATCH_CELLS if no_batch}, **(skip or {})}
    about = {k: options.pop(k) for k in tuple(options) if k in Case.__dataclass_fields__}
    return Case(name, args, options, skip=skipped, **about)


def _leaves(tree: Any) -> Iterator[Input]:
    if isinstance(tree, Input):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for part in tree:
            yield from _leaves(part)
    elif isinstance(tree, dict):
        yield from _leaves(tuple(tree.values()))


def _fill(tree: Any, values: Iterator[Any]) -> Any:
    if isinstance(tree, Input):
        return next(values)
    if isinstance(tree, (tuple, list)):
        return type(tree)(_fill(part, values) for part in tree)
    if isinstance(tree, dict):
        return {key: _fill(part, values) for key, part in tree.items()}
    return tree
