"""Check that names in anonymous namespaces differ within a target: python tools/check_names.py [root]

Wheels compile eight files of a target as one (`adjoint_unity` in adjoint_helpers.cmake), which eight changes with each file that is added: two functions
of one name and the same parameters, or two types of one name, fail to compile then.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TARGETS = ("packages/core/src", "packages/core/python", "packages/engine/src", "packages/engine/python")

BEFORE = r"(?:template <[^>]*> )?(?:\[\[[\w:, ]+\]\] )?(?:constexpr |inline |static )*"
FUNCTION = re.compile(rf"{BEFORE}[\w:<>,*&]+(?: const)?[ *&]+(\w+)\(([^)]*)\)(?: noexcept)? {{")
TYPE = re.compile(rf"{BEFORE}(?:struct|class|enum class|enum) (\w+)[^;]*{{")


def local_names(text: str) -> Iterator[tuple[str, str]]:
    """Names at the left margin of anonymous namespaces, functions with the types of their parameters."""
    inside = False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        if inside and (m := TYPE.match(line)):
            yield m[1], ""
        elif (inside or line.startswith("static ")) and (m := FUNCTION.match(line)):
            yield m[1], ", ".join(re.sub(r"\s*\b\w+$", "", parameter.strip()) for parameter in m[2].split(","))


def check(root: Path) -> list[str]:
    complaints = []
    for target in TARGETS:
        places: dict[tuple[str, str], set[str]] = defaultdict(set)
        for path in sorted((root / target).rglob("*.cpp")):
            for name in local_names(path.read_text()):
                places[name].add(str(path.relative_to(root)))
        complaints += [
            f"{' and '.join(sorted(files))}: {name}({types}) stands in anonymous namespaces of one target"
            for (name, types), files in places.items()
            if len(files) > 1
        ]
    return complaints


def main() -> None:
    complaints = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])
    print("\n".join(complaints) if complaints else f"check_names: names of {len(TARGETS)} targets differ")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
