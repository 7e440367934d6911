"""Write a program that names all that is public: python tools/typed_surface.py FILE; for mypy --strict, to which nothing may be `object`."""

import importlib
import sys
import types
from pathlib import Path

SPACES = (
    "amp autograd autograd.forward_ad autograd.functional autograd.graph cuda distributions fft func linalg masked nested nn nn.functional nn.init nn.utils "
    "optim optim.lr_scheduler random signal.windows sparse special utils.data"
).split()


def kind(value: object) -> str:
    return "Callable[..., Any]" if callable(value) else "Any"


def main() -> None:
    import adjoint

    spaces = {"ad": adjoint, "ad.Tensor": adjoint.Tensor}
    spaces |= {f"ad.{name}": importlib.import_module(f"adjoint.{name}") for name in SPACES}
    lines = ["from collections.abc import Callable", "from typing import Any", "", "import adjoint as ad"]
    lines += [f"import adjoint.{name}" for name in SPACES]
    for prefix, space in spaces.items():
        for name in sorted(dir(space)):
            value = getattr(space, name)
            if name[0] != "_" and name != "TYPE_CHECKING" and not isinstance(value, types.ModuleType):
                lines.append(f"n{len(lines)}: {kind(value)} = {prefix}.{name}")
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")
    print(len(lines), "lines")


if __name__ == "__main__":
    main()
