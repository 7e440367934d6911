"""What formulas of an operation have in common: its value is found once for a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ._formula import CODE

_SHORT = 4  # words of code that are run faster than a value is looked up
_MOST = 64  # values that core keeps
_FOLLOWED = CODE["element"]  # codes up to this one are followed by a number
_TAKES = {
    **dict.fromkeys(("size", "stride", "element", "next_pow2", "log2", "factors"), 1),
    **{name: 2 for name, code in CODE.items() if CODE["add"] <= code <= CODE["span"]},
    "choose": 3,
}
_ARITY = {CODE[name]: takes for name, takes in _TAKES.items()}
_VARYING = {CODE[name] for name in ("constant", "round", "rounds")}  # from one launch of a call to another

Part = tuple[tuple[int, ...], tuple[int, ...]]  # the last word of its code, with what follows that; and which parts it takes


@dataclass
class _Parts:
    """The parts of all formulas, each once, in an order in which those that a part takes are before it."""

    numbers: dict[Part, int] = field(default_factory=dict)
    all: list[Part] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    varies: list[bool] = field(default_factory=list)

    def add(self, word: tuple[int, ...], takes: tuple[int, ...]) -> int:
        part = (word, takes)
        if part not in self.numbers:
            self.numbers[part] = len(self.all)
            self.all.append(part)
            self.sizes.append(len(word) + sum(self.sizes[one] for one in takes))
            self.varies.append(word[0] in _VARYING or any(self.varies[one] for one in takes))
        return self.numbers[part]

    def whole(self, code: Sequence[int]) -> int:
        """The part that a formula is."""
        stack: list[int] = []
        words = iter(code)
        for op in words:
            word = (op, next(words)) if op <= _FOLLOWED else (op,)
            arity = _ARITY.get(op, 0)
            takes = tuple(stack[len(stack) - arity :])
            del stack[len(stack) - arity :]
            stack.append(self.add(word, takes))
        return stack[0]


def share(formulas: Sequence[list[int]]) -> list[list[int]]:
    """Writes formulas anew, so that what several have in common is named; the code of what is named, each after what it names itself."""
    parts = _Parts()
    roots = [parts.whole(code) for code in formulas]
    counts: Counter[int] = Counter(roots)
    for number in reversed(range(len(parts.all))):
        counts.update(parts.all[number][1])  # a part that comes several times takes others once
    named: dict[int, int] = {}
    codes: list[list[int]] = []

    def own(number: int) -> list[int]:
        word, takes = parts.all[number]
        return [*(w for one in takes for w in written(one)), *word]

    def written(number: int) -> list[int]:
        if counts[number] == 1 or parts.sizes[number] <= _SHORT or parts.varies[number]:
            return own(number)
        if number not in named:
            code = own(number)
            if len(codes) == _MOST:
                return code
            named[number] = len(codes)
            codes.append(code)
        return [CODE["named"], named[number]]

    for code, root in zip(formulas, roots, strict=True):
        code[:] = written(root)
    return codes
