"""`library`: operators that a program defines, with kernels, derivatives and batching rules of its own: ``ops.namespace.name``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import operators

from .operator import CustomOperator
from .schema import Schema, infer, parse

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "impl", "impl_abstract", "infer_schema", "opcheck", "register_autograd", "register_fake",
    "register_kernel", "register_vmap",
]  # fmt: skip

_DEVICES = {"CPU": "cpu", "CUDA": "cuda", "CompositeExplicitAutograd": "", "default": "", None: ""}


def _found(op: Any) -> CustomOperator:
    """The operator of that name, or of what stands for one."""
    qualname = (
        op
        if isinstance(op, str)
        else op._qualname
        if isinstance(op, CustomOpDef)
        else op.name()
        if hasattr(op, "name")
        else str(op)
    )
    qualname = qualname.replace(".", "::", 1) if "::" not in qualname else qualname
    known = operators.CUSTOM.get(qualname)
    if known is None:
        raise RuntimeError(
            f"library: the operator {qualname} is not defined; define it first, by custom_op, define or Library.define"
        )
    return known


def _new(schema: Schema) -> CustomOperator:
    if schema.qualname.count("::") != 1:
        raise ValueError(f"library: expected a name with a namespace, namespace::name, got {schema.qualname!r}")
    made = operators.CUSTOM[schema.qualname] = CustomOperator(schema)
    return made


class CustomOpDef:
    """A function that is an operator, as `custom_op` makes it; calling it calls the operator."""

    def __init__(self, op: CustomOperator, function: Callable[..., Any]) -> None:
        self._op, self._init_fn = op, function
        self._qualname = op.schema.qualname
        self._namespace, _, self._name = self._qualname.partition("::")
        self.__doc__, self.__name__ = function.__doc__, self._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._op(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    @property
    def _opoverload(self) -> Any:
        return getattr(getattr(operators.ops, self._namespace), self._name).default

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """`fn` gives the form of the results on device meta."""
        return register_fake(self._qualname, fn)

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /) -> Any:
        """`fn` computes on these devices."""
        return register_kernel(self._qualname, device_types, fn)

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """`backward(ctx, *grads)` gives a gradient, or None, for each positional argument; `setup_context` saves what it needs."""
        register_autograd(self._qualname, backward, setup_context=setup_context)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """`func(info, in_dims, *args)` gives batched results and their dimensions."""
        return register_vmap(self._qualname, func)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Makes an operator of a function on tensors, which may use anything: NumPy, a C library, a kernel.

    Arguments:
        name: with a namespace, "mine::scale".
        fn: computes new tensors; without it this is a decorator.
        mutates_args: the arguments that it writes to, or "unknown".
        device_types: where it computes; anywhere by default.
        schema: of its arguments; by default what its annotations say.

    Raises:
        ValueError: an argument without annotation, or of a type that operators do not take.

    Example::

        >>> @ad.library.custom_op("doc::double", mutates_args=())
        ... def double(x: ad.Tensor) -> ad.Tensor:
        ...     return ad.from_numpy(x.numpy() * 2)
        >>> double.register_autograd(lambda ctx, g: g * 2)
        >>> x = ad.ones(2, requires_grad=True)
        >>> double(x).sum().backward()
        >>> x.grad, ad.ops.doc.double(ad.ones(1))
        (tensor([2., 2.]), tensor([2.]))
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        if schema is None:
            found = infer(function, mutates_args, name)
        else:
            found = parse(f"{name}{schema}")
        op = _new(found)
        for device in _devices(device_types):
            op.kernels[device] = function
        return CustomOpDef(op, function)

    return make if fn is None else make(fn)


def _devices(types: str | Sequence[str] | None) -> list[str]:
    return [_DEVICES.get(t, t or "") for t in ([types] if types is None or isinstance(types, str) else types)]


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None
) -> str:
    """The schema that the annotations of a function give.

    Example::

        >>> def scale(x: ad.Tensor, by: float = 2.0) -> ad.Tensor: ...
        >>> ad.library.infer_schema(scale, mutates_args=())
        '(Tensor x, float by=2.0) -> Tensor'
    """
    return str(infer(prototype_function, mutates_args, op_name or ""))


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> Any:
    """Defines an operator by its name and schema, "(Tensor x) -> Tensor"; kernels are registered with it later."""
    _new(parse(f"{qualname}{schema}"))


class Library:
    """Operators of a namespace, defined ("DEF", "FRAGMENT") or given kernels ("IMPL").

    Example::

        >>> lib = ad.library.Library("doc2", "DEF")
        >>> lib.define("halve(Tensor x) -> Tensor")
        'halve'
        >>> lib.impl("halve", lambda x: x / 2, "CPU")
        >>> ad.ops.doc2.halve(ad.ones(1))
        tensor([0.5000])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Library: Unsupported kind: {kind}; expected DEF, IMPL or FRAGMENT")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Defines an operator; its name."""
        return _new(parse(schema, self.ns)).schema.qualname.partition("::")[2]

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Gives an operator a kernel: "CPU", "CUDA", "CompositeExplicitAutograd" (any device), "CompositeImplicitAutograd" or "Autograd"
        (its operations are differentiated), "Meta"."""
        name = op_name if isinstance(op_name, str) else op_name.__name__.partition(".")[0]
        _implement(
            _found(name if "::" in name else f"{self.ns}::{name}"),
            fn,
            dispatch_key or self.dispatch_key or "CompositeImplicitAutograd",
        )

    def _destroy(self) -> None:
        for name in [n for n in operators.CUSTOM if n.startswith(f"{self.ns}::") and self.kind != "IMPL"]:
            del operators.CUSTOM[name]


def _implement(op: CustomOperator, fn: Callable[..., Any], key: str) -> None:
    if key == "Meta":
        op.fake = fn
    elif key.startswith(("Autograd", "CompositeImplicit")):
        op.composite = fn
    elif key in _DEVICES or key in ("cpu", "cuda"):
        op.kernels[_DEVICES.get(key, key)] = fn
    else:
        raise NotImplementedError(f"library: kernels for dispatch key {key!r} are not supported")


def impl(qualname: Any, types: Any, func: Callable[..., Any] | None = None, *, lib: Any = None) -> Any:
    """Gives an operator a kernel: by its name and devices ("cpu", "cuda", "default"), or by a `Library`, a name and a dispatch key."""
    if isinstance(qualname, Library):
        library, name, key = qualname, types, func if isinstance(func, str) else ""

        def register(f: Callable[..., Any]) -> Callable[..., Any]:
            library.impl(name, f, key)
            return f

        return register
    return register_kernel(qualname, types, func)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`func` computes on these devices: "cpu", "cuda", a sequence of them, or None for all."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for device in _devices(device_types):
            _found(op).kernels[device] = f
        return f

    return register if func is None else register(func)


def register_fake(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, allow_override: bool = False, **other: Any
) -> Any:
    """`func` gives the form of the results: what runs on device meta. A library whose operators were refused may go on without them."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        if not (operators.refused and isinstance(op, str) and op not in operators.CUSTOM):
            _found(op).fake = f
        return f

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """`backward(ctx, *grads)` gives a gradient, or None, for each positional argument.

    `setup_context(ctx, inputs, output)` saves what it needs; with arguments given by name only it takes `keyword_only_inputs` too.
    """
    known = _found(op)
    known.backward, known.setup = backward, setup_context


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`func(info, in_dims, *args)` gives batched results and their dimensions. Without a rule members are computed one by one."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        _found(op).batch = f
        return f

    return register if func is None else register(func)


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: Any = None,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, str]:
    """Calls an operator as a user would: with these arguments, on device meta if it has a form there, and backward if it has one.

    Raises:
        RuntimeError: the forms on meta differ from the results', or whatever a call raises.
    """
    known, kwargs = _found(op), kwargs or {}
    results = known(*args, **kwargs)
    checks = {"test_schema": "SUCCESS"}
    found = [y for y in (results if isinstance(results, (list, tuple)) else [results]) if isinstance(y, Tensor)]
    if known.fake is not None:
        shadow = known(*(x.detach().to("meta") if isinstance(x, Tensor) else x for x in args), **kwargs)
        forms = [
            (y.shape, y.dtype) for y in (shadow if isinstance(shadow, (list, tuple)) else [shadow]) if isinstance(y, Tensor)
        ]
        if forms != [(y.shape, y.dtype) for y in found]:
            raise RuntimeError(
                f"opcheck: {known.schema.qualname}: register_fake gave {forms}, the results are {[(y.shape, y.dtype) for y in found]}"
            )
        checks["test_faketensor"] = "SUCCESS"
    if known.backward is not None and any(y.requires_grad for y in found):
        sum((y.sum() for y in found if y.requires_grad), start=0).backward()  # type: ignore[union-attr]
    return checks | {"test_autograd_registration": "SUCCESS", "test_aot_dispatch_dynamic": "SUCCESS"}
