"""Write the stubs of the C++ modules beside their packages: python tools/stubs.py [--check]

nanobind.stubgen describes what nanobind bound. The types made by hand (`Tensor`, `Node`) are described here, from the signatures
of their methods, the Python functions that packages put on them, and the tables of tools/stub_types.py. Documentation that a
function lacks is its record's.
"""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import stub_types as types
from nanobind.stubgen import StubGen

import adjoint
from adjoint_core import registry

ROOT = Path(__file__).resolve().parent.parent
MODULES = {
    "adjoint_core._core": ("packages/core", ["Tensor"]),
    "adjoint_engine._engine": ("packages/engine", ["Node"]),
    "adjoint_kernels_cpu._kernels": ("packages/kernels-cpu", []),
}


def documentation(name: str, doc: str | None) -> str:
    """The docstring as a statement, or nothing."""
    if not doc and name.removesuffix("_") in RECORDS and not name.startswith("__"):
        doc = registry.record(name.removesuffix("_")).doc + (" In place." if name.endswith("_") else "")
    return f"    {inspect.cleandoc(doc)!r}\n" if doc else ""


RECORDS = set(registry.names())


def nanobind_method(name: str, method: Any) -> Iterator[str]:
    """One definition for each overload."""
    overloads = method.__nb_signature__
    for signature, doc, defaults in overloads:
        plain = (type(None), bool, int, float, str)
        values = ["..." if not isinstance(d, plain) else repr(d) for d in defaults or ()]
        signature = re.sub(r"\\(\d+)", lambda match, values=values: values[int(match[1])], signature)
        yield ("@overload\n" if len(overloads) > 1 else "") + f"{signature}:\n{documentation(name, doc)}    ..."


def python_function(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    known = types.METHODS.get(name)
    plain = re.sub(r"(: |-> )'(.*?)'", r"\1\2", str(signature))
    text = known or plain.replace("(self: Tensor", "(self").replace("(self: Any", "(self")
    return f"def {name}{text}:\n{documentation(name, function.__doc__)}    ..."


def attribute(name: str, value: Any) -> str:
    kind = types.ATTRIBUTES.get(name, "Any")
    text = f"@property\ndef {name}(self) -> {kind}:\n{documentation(name, value.__doc__)}    ..."
    if getattr(value, "fset", None) is not None:
        text += f"\n@{name}.setter\ndef {name}(self, value: {kind}) -> None: ..."
    return text


def raw_class(cls: type) -> str:
    """The stub of a type that is not nanobind's."""
    lines: list[str] = [repr(cls.__doc__)] if cls.__doc__ else []
    for name, value in sorted(cls.__dict__.items(), key=lambda item: (item[0].startswith("_"), item[0])):
        kind = type(value).__name__
        if name in types.OVERRIDES:
            lines.append(types.OVERRIDES[name])
        elif kind == "wrapper_descriptor":
            lines.append(f"def {name}{types.operator(name)}: ...")
        elif hasattr(value, "__nb_signature__"):
            lines.extend(nanobind_method(name, value))
        elif kind == "function":
            lines.append(python_function(name, value))
        elif kind in ("property", "getset_descriptor") and name != "__dict__":
            lines.append(attribute(name, value))
        elif kind in ("bool", "int"):
            lines.append(f"{name}: {kind}")
    body = "\n".join(lines).replace("\n", "\n    ")
    return f"class {cls.__name__}:\n    {body}\n"


class Names(ast.NodeTransformer):
    """Writes annotations with names that the module and its classes do not shadow, and says what `object` stands for."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # noqa: N802
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            if argument.annotation:
                argument.annotation = self.rename(argument.annotation)
            elif argument.arg != "self":
                argument.annotation = ast.Name("Any")
        if arguments.vararg:
            kind = arguments.vararg.annotation
            arguments.vararg.annotation = (
                self.rename(kind) if kind else ast.Name(types.VARIADIC.get(arguments.vararg.arg, "_Dims"))
            )
        if arguments.kwarg and not arguments.kwarg.annotation:
            arguments.kwarg.annotation = ast.Name("Any")
        if any(a.arg == "requires_grad" for a in arguments.kwonlyargs) and all(
            a.arg != "pin_memory" for a in arguments.kwonlyargs
        ):  # factories are told so as packages/core/python/keywords.cpp reads it
            arguments.kwonlyargs.append(ast.arg("pin_memory", ast.Name("_bool")))
            arguments.kw_defaults.append(ast.Constant(value=False))
        if node.returns:
            node.returns = self.rename(node.returns, node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:  # noqa: N802
        node.annotation = self.rename(node.annotation)
        return node

    def rename(self, annotation: ast.expr, returned_by: ast.FunctionDef | None = None) -> ast.expr:
        text = ast.unparse(annotation)
        if returned_by:
            names = {a.arg for a in returned_by.args.kwonlyargs}
            text = types.returned(returned_by.name, text, makes_tensor="requires_grad" in names)
        for pattern, replacement in types.NAMES:
            text = re.sub(pattern, replacement, text)
        return ast.parse(text, mode="eval").body


def without_repetitions(scope: ast.Module | ast.ClassDef) -> None:
    """Leaves out what is said before: docstrings of further overloads, and of in-place forms."""
    said: dict[str, str | None] = {}
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            without_repetitions(node)
        elif isinstance(node, ast.FunctionDef) and (doc := ast.get_docstring(node)):
            if doc in (said.setdefault(node.name, None), f"{said.get(node.name.removesuffix('_'))} In place."):
                node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
            said[node.name] = doc


class Functions(StubGen):
    """Sees nanobind's functions behind the direct calls."""

    def put(self, value: object, name: str | None = None, parent: object | None = None) -> None:
        while type(value).__name__ in ("DirectFunction", "DirectMethod"):
            value = value.__wrapped__  # type: ignore[attr-defined]
        super().put(value, name, parent)


def stub(module: ModuleType, raw: list[str]) -> str:
    generator = Functions(module, quiet=True, include_private=True)
    generator.put(module)
    described = ast.parse(generator.get())
    described.body = [node for node in described.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if isinstance(described.body[0], ast.Expr):
        described.body = described.body[1:]
    for node in described.body:
        if isinstance(node, ast.FunctionDef) and not ast.get_docstring(node) and (doc := documentation(node.name, None)):
            node.body = [*ast.parse(inspect.cleandoc(doc)).body, *node.body]
    classes = ast.parse("".join(raw_class(getattr(module, name)) for name in raw))
    for tree in (classes, described):
        without_repetitions(tree)
    text = "\n\n".join(ast.unparse(Names().visit(tree)) for tree in (classes, described))
    text = re.sub(r":\n +\.\.\.$", ": ...", text, flags=re.MULTILINE)
    text = re.sub(r'("""|\'|")\n +\.\.\.$', r"\1", text, flags=re.MULTILINE)  # a docstring is a body
    head = types.HEADS[module.__name__]
    return f'"""{module.__doc__ or "Fast CPU kernels."}"""\n\n# Written by tools/stubs.py: ./run stubs\n{head}\n\n{text}\n'


MADE_LAYERS = (
    "generated",
    "loss",
    "padding",
    "pooling",
)  # files that make classes by calls, which a type checker does not follow


def layers() -> str:
    """The stub of the layers that are made from functions."""
    module, *others = (importlib.import_module(f"adjoint_functional.nn.modules.{name}") for name in MADE_LAYERS)
    classes = {
        name: cls for m in (module, *others) for name, cls in vars(m).items() if getattr(cls, "__module__", "") == m.__name__
    }
    lines = []
    for name, cls in sorted(classes.items()):
        if isinstance(cls, type) and name[0] != "_":
            kept = [p.replace(annotation=str(p.annotation)) for p in inspect.signature(cls).parameters.values()]
            own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *kept]
            text = re.sub(r"(: )'(.*?)'(?=[ ,)])", r"\1\2", str(inspect.Signature(own, return_annotation=None)))
            lines.append(f"class {name}(Module):\n    {cls.__doc__.partition(chr(10))[0]!r}\n    def __init__{text}: ...\n")
    head = (
        "from collections.abc import Callable, Sequence\nfrom typing import Any\n\nfrom adjoint_core import Tensor, dtype\n\n"
        "from ..functional.window_sizes import Ints\nfrom .module import Module"
    )
    return f'"""{module.__doc__}"""\n\n# Written by tools/stubs.py: ./run stubs\n{head}\n\n' + "\n".join(lines)


def made_names() -> str:
    """The stub of what `adjoint` has and no file spells out: in-place functions, copies of views, types of tensors and memory, errors of core."""
    lines = [
        "from collections.abc import Sequence",
        "from typing import Any",
        "",
        "import adjoint_core as core",
        "from adjoint_core import Tensor",
        "",
    ]
    for name, value in sorted(vars(adjoint).items()):
        if name[0] == "_":
            continue
        if name.endswith("_") and hasattr(adjoint.Tensor, name):
            lines.append(f"{name} = Tensor.{name}")
        elif name.endswith("_copy") and hasattr(core := adjoint._core, view := name.removesuffix("_copy")):
            lines.append(f"{name} = core.{view}" if hasattr(core, view) else f"{name} = Tensor.{view}")
        elif name.endswith("_copy") and not hasattr(value, "__nb_signature__") and not hasattr(adjoint._core, name):
            signature = re.sub(r"(: |-> )'(.*?)'", r"\1\2", str(inspect.signature(value)))
            lines.append(f"def {name}{signature}: ...")
        elif type(value).__name__ == "_TypeOf":
            lines.append(f"class {name}(Tensor): ...")
        elif type(value).__name__ == "_StorageOf":
            lines.append(f"class {name}(core.TypedStorage): ...")
        elif isinstance(value, type) and issubclass(value, Exception) and value.__module__ == "adjoint":
            lines.append(f"class {name}({value.__base__.__name__}): ...")
    return (
        '"""Names of `adjoint` that are made while it is imported."""\n\n# Written by tools/stubs.py: ./run stubs\n'
        + "\n".join(lines)
        + "\n"
    )


def main() -> int:
    stale = []
    texts = {
        ROOT / "packages/functional/adjoint_functional/nn/modules/generated.pyi": layers(),
        ROOT / "packages/adjoint/adjoint/_made.pyi": made_names(),
    }
    for name, (folder, raw) in MODULES.items():
        texts[ROOT / folder / (name.replace(".", "/") + ".pyi")] = stub(importlib.import_module(name), raw)
    for path, text in texts.items():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if "--check" not in sys.argv:
            path.write_text(text)
    print("\n".join(stale) or f"the stubs of {adjoint.__name__} are up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
