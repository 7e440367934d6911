"""`__torch_function__`: who is asked about which call, and what results become. Without the protocol nothing is asked."""

from __future__ import annotations

import copy
import functools
import operator
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import adjoint as ad
from op_cases import CASES

asked: list[str] = []


class Logged(ad.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        asked.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


class Quiet(ad.Tensor):
    __torch_function__ = ad._C._disabled_torch_function_impl


class Number:
    """No tensor at all."""

    def __init__(self, value: float) -> None:
        self.value = value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (ad.exp, ad.linalg.inv):
            return func, args, kwargs
        return NotImplemented if func is ad.sin else (func.__name__, types)


class Log(ad.overrides.TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        asked.append(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    asked.clear()
    yield
    assert ad._C.DisableTorchFunction is ad.overrides.DisableTorchFunction


def logged(*values: float, **options: Any) -> Any:
    return ad.tensor(values, **options).as_subclass(Logged)


OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "mod": "remainder", "pow": "pow", "matmul": "matmul", "eq": "__eq__", "ne": "ne",
    "lt": "lt", "ge": "ge", "iadd": "add_", "isub": "sub_", "imul": "mul_", "floordiv": "__floordiv__",
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name: str) -> None:
    f, t = getattr(operator, name), ad.tensor([1.0, 2.0])
    expected = f(t.clone(), t).tolist()
    for a, b in [(logged(1.0, 2.0), t), (logged(1.0, 2.0), logged(1.0, 2.0))]:
        asked.clear()
        result = f(a, b)
        assert (
            type(result) is Logged
            and asked == [OPERATORS[name]]
            and ad.equal(ad.tensor(expected), result.as_subclass(ad.Tensor))
        )
    if not name.startswith("i"):
        mirrored = {"lt": "gt", "ge": "le"}.get(name, OPERATORS[name])
        asked.clear()
        assert type(f(t, logged(1.0, 2.0))) is Logged and asked == [mirrored]


def test_functions_methods_properties_and_indices() -> None:
    x = logged(1.0, 2.0)
    row = x.reshape(1, -1)
    calls = {
        "exp": lambda: x.exp(), "stack": lambda: ad.stack([ad.ones(2), x]), "relu": lambda: ad.nn.functional.relu(x), "T": lambda: row.T,
        "__getitem__": lambda: x[0], "max": lambda: x.max(0).values, "split": lambda: x.split(1)[1], "detach": lambda: x.detach(),
        "norm": lambda: ad.linalg.norm(x), "add": lambda: ad.add(input=ad.ones(2), other=x), "zeros_like": lambda: ad.zeros_like(x),
        "diff": lambda: ad.diff(x), "unbind": lambda: list(x)[0], "clone": lambda: copy.copy(x.clone()), "data": lambda: x.data,
    }  # fmt: skip
    for name, call in calls.items():
        asked.clear()
        assert type(call()) is Logged, name
        assert asked[0] == ("__get__" if name in ("T", "data") else name)
    x[0] = 5
    assert asked[-1] == "__setitem__" and repr(x) == "Logged([5., 2.])" and len(x) == 2 and float(x[0]) == 5
    assert type(pickle.loads(pickle.dumps(x))) is Logged


def test_gradients_tangents_and_lanes() -> None:
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = (x.as_subclass(Logged) ** 2).sum()
    assert type(y) is Logged and y.grad_fn is not None
    y.backward()
    assert x.grad.tolist() == [2, 4]
    assert ad.func.jvp(lambda t: t.as_subclass(Logged).exp() * 1.0, (ad.zeros(2),), (ad.ones(2),))[1].tolist() == [1, 1]
    assert ad.vmap(lambda t: (t.as_subclass(Logged) * 2).sum())(ad.ones(3, 2)).tolist() == [4, 4, 4]

    class Double(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: Any) -> Any:
            return t * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    z = ad.ones(2, requires_grad=True)
    Double.apply(z.as_subclass(Logged)).sum().backward()
    assert z.grad.tolist() == [2, 2]


def test_objects_that_are_no_tensors() -> None:
    n, t = Number(1.0), ad.ones(2)
    assert ad.exp(n) == (ad.exp, (n,), {}) and ad.linalg.inv(n) == (ad.linalg.inv, (n,), {})
    for call in (lambda: ad.cat([t, n]), lambda: ad.nn.functional.mse_loss(t, n), lambda: t.add(n), lambda: t + n, lambda: t @ n,
                 lambda: ad.mul(t, other=n), lambda: t == n):  # fmt: skip
        assert call()[1] == (Number,)
    with pytest.raises(TypeError, match="no implementation found for 'sin'.*Number"):
        ad.sin(n)


def test_subclasses_are_asked_first() -> None:
    class Deeper(Logged):
        pass

    assert type(logged(1.0) + ad.ones(1).as_subclass(Deeper)) is Deeper
    x, y = logged(1.0), ad.ones(1).as_subclass(Deeper)
    assert ad.overrides._get_overloaded_args([x, y, 3]) == [y, x] or ad.overrides._get_overloaded_args([x, y, 3])[0] is y


def test_who_is_not_asked() -> None:
    x = logged(1.0)
    with ad.overrides.DisableTorchFunctionSubclass():
        assert type(x + 1) is ad.Tensor and not asked and not ad.overrides.has_torch_function((x,))
        with Log():
            ad.ones(1)
        assert asked == ["ones"]
    with Log(), ad._C.DisableTorchFunction():
        ad.ones(1)
    assert asked == ["ones"] and ad.overrides.has_torch_function_unary(x)
    assert type(ad.ones(1).as_subclass(Quiet) + 1) is ad.Tensor
    p = ad.nn.Parameter(ad.ones(1))
    assert type(p * 2) is ad.Tensor and not ad.overrides.has_torch_function_variadic(p, ad.ones(1), 2)


def test_modes_see_every_call_and_leave_nothing_behind() -> None:
    with Log():
        x = ad.ones(2) * 2
        with Log():
            y = x.sum() - 1
        assert y.shape == ()
    assert asked == ["ones", "mul", "sum", "sum", "sub", "sub", "__get__"]
    asked.clear()
    assert (ad.ones(2) + 1).shape == (2,) and not asked
    assert type(ad.Tensor.__dict__["__add__"]).__name__ == "wrapper_descriptor"
    with pytest.raises(NotImplementedError), ad.overrides.TorchFunctionMode():
        ad.ones(1)
    assert ad.overrides._get_current_function_mode_stack() == []


def test_functions_of_libraries() -> None:
    def scaled(x: Any, factor: float = 2.0) -> Any:
        if ad.overrides.has_torch_function((x,)):
            return ad.overrides.handle_torch_function(scaled, (x,), x, factor=factor)
        return x * factor

    assert scaled(Number(1.0)) == ("scaled", (Number,)) and type(scaled(logged(1.0))) is Logged
    wrapped = ad.overrides.wrap_torch_function(lambda x: (x,))(lambda x: x)
    assert wrapped(Number(1.0))[1] == (Number,) and wrapped(3) == 3
    assert ad.overrides.is_tensor_like(Number(1.0)) and not ad.overrides.is_tensor_like(1.0)
    overridable = ad.overrides.get_overridable_functions()
    assert ad.exp in overridable[ad] and ad.Tensor.exp in overridable[ad.Tensor] and ad.ones not in overridable[ad]
    assert (
        ad.overrides.resolve_name(ad.Tensor.exp) == "adjoint.Tensor.exp" and ad.overrides.resolve_name(ad.exp) == "adjoint.exp"
    )
    assert ad.overrides.is_tensor_method_or_property(ad.Tensor.exp) and not ad.overrides.is_tensor_method_or_property(ad.exp)


@pytest.mark.parametrize("f", [ad.exp, ad.nn.functional.gelu, ad.linalg.inv, ad.special.erf], ids=lambda f: f.__name__)
def test_functions_can_be_copied_and_pickled(f: Any) -> None:
    assert copy.deepcopy(f) is f and copy.copy(f) is f and pickle.loads(pickle.dumps(f)) is f


def test_questions_about_types_are_not_passed_on() -> None:
    class Refuses:
        @classmethod
        def __torch_function__(cls, func: object, types: object, args: object = (), kwargs: object = None) -> object:
            raise NotImplementedError(func)

    assert not ad.is_tensor(Refuses()) and ad.is_tensor(ad.ones(1))


def test_as_subclass_is_not_asked_about_and_gives_the_class_that_it_is_told() -> None:
    x = logged(1.0)
    plain = x.as_subclass(ad.Tensor)
    assert type(plain) is ad.Tensor and not asked and type(plain + 1) is ad.Tensor


def test_parameters_of_a_class_keep_it() -> None:
    data, module = logged(1.0, 2.0), ad.nn.Module()
    module.weight = p = ad.nn.Parameter(data)
    assert type(p) is Logged and isinstance(p, ad.nn.Parameter) and p.is_leaf and p.requires_grad
    assert not isinstance(data, ad.nn.Parameter) and not issubclass(Logged, ad.nn.Parameter) and p.data_ptr() == data.data_ptr()
    assert list(module.parameters()) == [p] and type(p * 2) is Logged
    assert repr(ad.nn.Parameter(ad.ones(1).as_subclass(Logged))) == "Parameter(Logged([1.], requires_grad=True))"
    ad.optim.SGD(module.parameters(), lr=1.0).step(lambda: (p * p).sum().backward())
    assert p.tolist() == [-1.0, -2.0] and not ad.nn.Parameter(data, requires_grad=False).requires_grad
    assert type(ad.nn.Parameter(ad.ones(1).as_subclass(Quiet))) is ad.nn.Parameter  # what is made of it is no Quiet either


@pytest.mark.parametrize("operation", ["and_", "or_", "xor"])
def test_a_number_before_a_tensor_is_asked_about_as_the_function(operation: str) -> None:
    x = ad.tensor([1, 2]).as_subclass(Logged)
    asked.clear()
    assert getattr(operator, operation)(6, x).tolist() == [getattr(operator, operation)(6, k) for k in (1, 2)]
    assert asked[0] == f"bitwise_{operation.strip('_')}"


class Place:
    """Answers where it stands as an index, as a value, or on the right of an operator in place."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func.__name__, len(args)


def test_indices_and_the_right_side_of_operators_in_place() -> None:
    t, place = ad.arange(4.0), Place()
    assert t[place] == t[0, place] == ("__getitem__", 2)
    t[place] = 1.0
    t[0] = place
    assert t.tolist() == [0, 1, 2, 3]
    t += place
    assert t == ("add_", 2)
    sub, t = logged(1.0, 1.0), ad.ones(2)
    asked.clear()
    t += sub
    assert asked == ["add_"] and type(t) is Logged and t.tolist() == [2, 2]
    asked.clear()
    u = ad.arange(3.0)
    assert type(u[ad.tensor([0, 2]).as_subclass(Logged)]) is Logged and asked[0] == "__getitem__"
    u[0] = logged(7.0)[0]
    assert asked[-1] == "__setitem__" and u.tolist() == [7, 1, 2]
    with pytest.raises((TypeError, RuntimeError)):
        u["no index"]


LAYERS = {
    "linear": (lambda: ad.nn.Linear(4, 2), (3, 4)),
    "layer_norm": (lambda: ad.nn.LayerNorm(4), (3, 4)),
    "rms_norm": (lambda: ad.nn.RMSNorm(4), (3, 4)),
    "batch_norm": (lambda: ad.nn.BatchNorm1d(4), (3, 4)),
    "group_norm": (lambda: ad.nn.GroupNorm(2, 4), (3, 4)),
    "conv2d": (lambda: ad.nn.Conv2d(3, 2, 2), (1, 3, 4, 4)),
    "conv_transpose1d": (lambda: ad.nn.ConvTranspose1d(3, 2, 2), (1, 3, 4)),
    "gelu": (lambda: ad.nn.GELU(), (3,)),
    "dropout": (lambda: ad.nn.Dropout(), (3,)),
    "silu": (lambda: ad.nn.SiLU(), (3,)),
    "max_pool2d": (lambda: ad.nn.MaxPool2d(2), (1, 3, 4, 4)),
    "avg_pool1d": (lambda: ad.nn.AvgPool1d(2), (1, 3, 4)),
    "pad": (lambda: ad.nn.ZeroPad2d(1), (1, 3, 4, 4)),
    "prelu": (lambda: ad.nn.PReLU(), (3,)),
    "interpolate": (lambda: ad.nn.Upsample(scale_factor=2), (1, 1, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_ask_with_the_function_that_users_see(name: str) -> None:
    make, shape = LAYERS[name]
    seen = []

    class Watched(ad.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    y = make()(ad.randn(shape).as_subclass(Watched))
    assert isinstance(y, Watched) and any(func is getattr(ad.nn.functional, name) for func in seen)


@pytest.mark.parametrize(
    "name",
    [
        "special.zeta",
        "special.xlog1py",
        "special.chebyshev_polynomial_t",
        "special.shifted_chebyshev_polynomial_w",
        "float_power",
        "isin",
    ],
)
def test_functions_that_take_numbers_too_ask(name: str) -> None:
    class Deaf(ad.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    f = functools.reduce(getattr, name.split("."), ad)
    assert f(ad.ones(2).as_subclass(Deaf), 2) == f(2, ad.ones(2).as_subclass(Deaf))
    assert isinstance(f(ad.ones(2).as_subclass(Deaf), ad.ones(2)), str)


def test_gradients_ask() -> None:
    class Asked(ad.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is ad.autograd.grad:
                return "gradients"
            return super().__torch_function__(func, types, args, kwargs or {})

    x = ad.ones(2).as_subclass(Asked).requires_grad_()
    assert ad.autograd.grad((x * x).sum(), x) == "gradients"


def _public(name: str) -> bool:
    return not name.startswith("Tensor.") and callable(functools.reduce(getattr, name.split("."), ad))


@pytest.mark.parametrize("case", [c for c in CASES if c.call is None and _public(c.name)], ids=lambda c: c.id)
def test_a_mode_sees_one_call_of_each_function(case: Any) -> None:
    call = case.bind(ad, [ad.tensor(a) for a in case.sample()])
    with Log():
        call()
    assert len(asked) == 1, asked


STEPS: dict[str, tuple[Any, ...]] = {
    **{f"{kind}_window": (4,) for kind in ("hann", "hamming", "blackman", "bartlett", "kaiser")},
    **{"tril_indices": (2, 2), "triu_indices": (2, 2), "sparse_coo_tensor": ([[0]], [1.0], (2,)), "eye": (2,)},
    **{f"{view}_copy": ((1, 3),) for view in ("alias", "detach", "squeeze", "t", "unbind")},
    **{"rnn_tanh_cell": ((1, 2), (1, 3), (3, 2), (3, 3)), "gru_cell": ((1, 2), (1, 3), (9, 2), (9, 3))},
}


@pytest.mark.parametrize("name", STEPS)
def test_a_mode_sees_functions_of_several_steps_by_their_name(name: str) -> None:
    args = [ad.ones(*a) if name.endswith(("cell", "copy")) else a for a in STEPS[name]]
    with Log():
        getattr(ad, name)(*args)
    assert asked == [name]


def test_names_of_what_modes_see_and_no_object_is_asked_about() -> None:
    class Names(ad.overrides.TorchFunctionMode):
        def __torch_function__(self, f, types, args=(), kwargs=None):
            seen.append(ad.overrides.resolve_name(f))
            return f(*args, **(kwargs or {}))

    seen: list[str | None] = []
    with Names():
        x = ad.ones(2)
        assert x[0].item() and x.shape
    assert {"adjoint.ones", "adjoint.Tensor.__getitem__", "adjoint.Tensor.shape.__get__"} <= set(seen)
    assert ad.overrides.resolve_name(len) is None and ad.overrides.resolve_name(object().__str__) is None
    assert [ad.overrides.resolve_name(getattr(ad.Tensor, n).__get__) for n in ("grad", "is_leaf", "shape")] == [
        f"adjoint.Tensor.{n}.__get__" for n in ("grad", "is_leaf", "shape")
    ]
