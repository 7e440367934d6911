"""`__torch_dispatch__`: modes and classes that answer calls below derivatives."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, _get_current_dispatch_mode

aten = ad.ops.aten


class Log(TorchDispatchMode):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((str(func), args, kwargs))
        return func(*args, **(kwargs or {}))

    @property
    def names(self) -> list[str]:
        return [name.removeprefix("aten.") for name, _, _ in self.calls]


class Flops(TorchDispatchMode):
    """Counts as PyTorch's FlopCounterMode does: by the operation and the shapes of its arguments."""

    def __init__(self) -> None:
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func._overloadpacket is aten.mm:
            (n, k), (_, m) = args[0].shape, args[1].shape
            self.total += 2 * n * k * m
        return func(*args, **(kwargs or {}))


class Wrapped(ad.Tensor):
    """No memory of its own: it answers with what it holds."""

    held: Any
    seen: list[str] = []

    @staticmethod
    def __new__(cls, held: Any, requires_grad: bool = False) -> Any:
        made = ad.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), dtype=held.dtype, device=held.device, requires_grad=requires_grad
        )
        made.held = held
        return made

    __torch_function__ = ad._C._disabled_torch_function_impl

    def __repr__(self) -> str:
        return f"Wrapped({self.held!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def below(x: Any) -> Any:
            return x.held if isinstance(x, Wrapped) else [below(y) for y in x] if isinstance(x, (list, tuple)) else x

        cls.seen.append(str(func))
        result = func(*below(args), **(kwargs or {}))
        if func.name().endswith("_"):
            return args[0]
        return tuple(map(Wrapped, result)) if isinstance(result, tuple) else Wrapped(result)


class Kept(ad.Tensor):
    """Has memory, and looks on."""

    seen: list[str] = []
    __torch_function__ = ad._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen.append(str(func))
        return super().__torch_dispatch__(func, types, args, kwargs)


def test_a_mode_sees_what_runs_below_derivatives() -> None:
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with Log() as log:
        assert _get_current_dispatch_mode() is log
        y = ((x @ x).exp() * 2).sum()
        forward = log.names
        y.backward()
    assert forward == ["mm.default", "exp.default", "mul.Tensor", "sum.default"]
    assert len(log.names) > len(forward) and "mm.default" in log.names[4:]
    expected = ad.autograd.grad((lambda t: ((t @ t).exp() * 2).sum())(z := x.detach().requires_grad_()), z)[0]
    assert ad.equal(x.grad, expected) and y.grad_fn is not None
    assert _get_current_dispatch_mode() is None


def test_arguments_are_those_of_pytorch() -> None:
    x, i = ad.ones(2, 3), ad.tensor([0, 1])
    with Log() as log:
        x.sum(1), x.select(0, 1), x.gather(1, i.view(2, 1)), ad.cat([x, x], 1), x.to(ad.float64), x[:, 1:], x.expand(4, 2, 3)  # noqa: B018
        x.transpose(0, 1), x > 0, x.softmax(1), x.pow(2), x.clamp_min(0.5), x.var(0), x.view(3, 2), x.add_(1)  # noqa: B018
    found = {name: (args[1:], kwargs) for name, args, kwargs in log.calls}
    assert found["aten.sum.dim_IntList"][0] == ([1], False)
    assert found["aten.select.int"][0] == (0, 1)
    assert found["aten.gather.default"][0][0] == 1
    assert found["aten.cat.default"][0] == (1,)
    assert found["aten._to_copy.default"] == ((), {"dtype": ad.float64})
    assert found["aten.slice.Tensor"][0][:2] == (1, 1)
    assert found["aten.expand.default"][0] == ([4, 2, 3],)
    assert found["aten.transpose.int"][0] == (0, 1)
    assert found["aten.gt.Scalar"][0] == (0,)
    assert found["aten._softmax.default"][0] == (1, False)
    assert found["aten.pow.Tensor_Scalar"][0] == (2,)
    assert found["aten.clamp_min.default"][0] == (0.5,)
    assert found["aten.var.correction"][1]["correction"] == 1
    assert found["aten.view.default"][0] == ([3, 2],)
    assert found["aten.add_.Tensor"][0] == (1,)


def test_counting() -> None:
    model = ad.nn.Sequential(ad.nn.Linear(3, 4), ad.nn.ReLU(), ad.nn.Linear(4, 2))
    with Flops() as forward:
        y = model(ad.ones(5, 3))
    assert forward.total == 2 * 5 * (3 * 4 + 4 * 2)
    with Flops() as backward:
        y.sum().backward()
    assert backward.total == 2 * 5 * (3 * 4 + 2 * 4 * 2)


def test_what_a_mode_answers_is_the_result() -> None:
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 0 if func is aten.exp.default else result

    x = ad.ones(2, requires_grad=True)
    with Zeros():
        y = x.exp()
    assert y.tolist() == [0, 0] and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]  # the derivative uses what the mode gave

    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return 3

    with pytest.raises(TypeError, match="must give tensors, got int"), Wrong():
        x.exp()
    with pytest.raises(RuntimeError, match="must give 2 results"), Wrong():
        x.max(0)
    with pytest.raises(NotImplementedError, match="__torch_dispatch__ is not defined"), TorchDispatchMode():
        x.exp()
    assert x.exp().tolist() == pytest.approx([2.718281828] * 2)


def test_modes_in_modes_and_views() -> None:
    base = ad.zeros(3)
    with Log() as outer, Log() as inner:
        view = base[1:]
        view.add_(1)
        with _disable_current_modes():
            base.mul(2)
    assert inner.names == outer.names == ["slice.Tensor", "add_.Tensor"]
    assert base.tolist() == [0, 1, 1] and view._base is base
    w = ad.ones(2, requires_grad=True)
    with Log():
        t = w * 1
        t[0] = 5.0
    t.sum().backward()
    assert w.grad.tolist() == [0, 1]


def test_under_vmap_and_forward_mode() -> None:
    x, t = ad.ones(3, 2), ad.ones(2)
    with Log() as log:
        y = ad.vmap(lambda t: t.sin())(x)
        tangent = ad.func.jvp(lambda t: t * t, (t,), (t,))[1]
    assert y.shape == (3, 2) and tangent.tolist() == [2, 2]
    assert log.names[0] == "sin.default" and log.calls[0][1][0].shape == (3, 2) and log.names.count("mul.Tensor") >= 2


MAKERS = {
    "zeros": lambda: ad.zeros(2, 3),
    "empty": lambda: ad.empty((2,)),
    "full": lambda: ad.full((2,), 1.0),
    "arange": lambda: ad.arange(3),
    "normal": lambda: ad.normal(0.0, 1.0, (2,)),
    "hann_window": lambda: ad.hann_window(4),
    "randn_like": lambda: ad.randn_like(_GIVEN),
    "new_zeros": lambda: _GIVEN.new_zeros(2, 3),
    "bernoulli": lambda: ad.bernoulli(_GIVEN),
    "uniform_": lambda: _GIVEN.clone().uniform_(-1, 1),
    "zero_": lambda: _GIVEN.clone().zero_(),
}
_GIVEN = ad.ones(2)


@pytest.mark.parametrize("name", MAKERS)
def test_modes_see_what_makes_tensors_and_draws_numbers(name: str) -> None:
    """Both modes, the outer one too, once each; and nothing of what it is made of."""
    ad.manual_seed(0)
    expected = MAKERS[name]()
    ad.manual_seed(0)
    with Log() as outer, Log() as inner:
        result = MAKERS[name]()
    assert [n.split(".")[0] for n in outer.names] == [n.split(".")[0] for n in inner.names]
    assert inner.names[-1].startswith(f"{name}.") and len(inner.names) <= 2  # a clone comes before writes
    assert name == "empty" or ad.equal(result, expected)


def test_what_makes_tensors_can_be_answered() -> None:
    class Doubles(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is aten.ones.default:
                assert args == ([2, 3],) and kwargs["device"] == ad.device("cpu")
                kwargs["dtype"] = ad.float64
            return func(*args, **(kwargs or {}))

    with Doubles():
        x = ad.ones(2, 3, requires_grad=True)
        with _disable_current_modes():
            assert ad.ones(2, 3).dtype == ad.float32
    assert x.dtype == ad.float64 and x.is_leaf and x.requires_grad and ad.ones(2, 3).dtype == ad.float32
    with Log() as log:
        ad.nn.Linear(2, 2)
    assert {"empty.memory_format", "uniform_.default"} <= set(log.names)


def test_wrappers() -> None:
    w = Wrapped(ad.tensor([1.0, 2.0, 3.0]))
    assert w.shape == (3,) and w.dtype is ad.float32 and type(w + 1) is Wrapped and (w + 1).held.tolist() == [2, 3, 4]
    assert [type(t) for t in w.max(0)] == [Wrapped, Wrapped] and ad.stack([w, w]).held.shape == (2, 3)
    w.add_(1)
    assert w.held.tolist() == [2, 3, 4]
    assert (ad.ones(3) + w).held.tolist() == [3, 4, 5] and w[1:].held.tolist() == [3, 4]
    for read in (
        lambda: w.tolist(),
        lambda: w.numpy(),
        lambda: w[0].item(),
        lambda: ad.tensor([w[0]]),
        lambda: bool(w[0]),
        lambda: w.data_ptr(),
    ):
        with pytest.raises((RuntimeError, TypeError)):
            read()
    with pytest.raises(RuntimeError, match="has no values here"), ad._C._DisableTorchDispatch():
        w.exp()


def test_gradients_of_wrappers() -> None:
    values = ad.tensor([0.5, 1.5])
    w = Wrapped(values, requires_grad=True)
    y = (w.exp() * w.tanh() + w[0]).sum()
    assert type(y) is Wrapped and y.grad_fn is not None
    y.backward()
    t = values.clone().requires_grad_()
    (t.exp() * t.tanh() + t[0]).sum().backward()
    assert type(w.grad) is Wrapped and ad.allclose(w.grad.held, t.grad)
    y = w.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    x = ad.ones(2, requires_grad=True)
    (Wrapped(ad.ones(2)) * x).sum().backward()
    assert type(x.grad) is Wrapped and x.grad.held.tolist() == [1, 1]


class _Twice(ad.autograd.Function):
    """Takes a wrapper and gives one; its backward is given the wrapper's gradient."""

    @staticmethod
    def forward(ctx: Any, w: Any) -> Any:
        return Wrapped(w.held * 2)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


def test_custom_functions_take_wrappers() -> None:
    w = Wrapped(ad.tensor([1.0, 2.0]), requires_grad=True)
    y = _Twice.apply(w + 1)
    assert type(y) is Wrapped and y.held.tolist() == [4, 6]
    (y * y).sum().backward()
    assert type(w.grad) is Wrapped and w.grad.held.tolist() == [16, 24]


def test_classes_with_memory() -> None:
    Kept.seen.clear()
    x = ad.ones(2, requires_grad=True)
    y = (x.as_subclass(Kept) * 3).sum()
    y.backward()
    assert "aten.mul.Tensor" in Kept.seen and x.grad.tolist() == [3, 3] and type(y) is ad.Tensor

    class Refuses(ad.Tensor):
        __torch_function__ = ad._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match="all __torch_dispatch__ handlers returned NotImplemented"):
        ad.Tensor._make_subclass(Refuses, ad.ones(2)) + 1


def test_operations_by_name() -> None:
    assert aten.add.Tensor is ad.ops.aten.add.Tensor and str(aten.mm.default) == "aten.mm.default"
    op = aten.add.Tensor
    assert (op.name(), op.__name__, op._overloadpacket is aten.add, op._schema.name) == (
        "aten::add",
        "add.Tensor",
        True,
        "aten::add",
    )
    assert op(ad.ones(1), 2).tolist() == [3]


@pytest.mark.parametrize("view", [lambda x: x[0], lambda x: x[1:2], lambda x: x.diagonal(), lambda x: x.softmax(1)])
def test_an_answer_of_another_shape_fails_in_backward(view: Any) -> None:
    class Answers(ad.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return ad.ones(7)

    x = ad.ones(3, 4, requires_grad=True)
    with Answers():
        y = view(x)
    for _ in range(3):  # a rule that raises leaves nothing behind
        with pytest.raises((RuntimeError, IndexError)):
            (y * 2).sum().backward(retain_graph=True)
    assert x.grad is None


def test_views_are_brought_up_to_date_without_asking() -> None:
    class Answers(ad.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return ad.ones(12)

    base = ad.zeros(3, 4)
    view = base[1:]
    inner = view.view(-1)
    base.mul_(ad.ones(1, requires_grad=True))
    with Answers():
        assert inner.sum().tolist() == [1.0] * 12
    assert view.shape == (2, 4) and inner.shape == (8,) and inner.sum().item() == 0


def test_a_view_answered_with_its_base() -> None:
    base = ad.zeros(3, 4)
    view = base[1:]

    class Answers(ad.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return base

    with Answers():
        assert view[0] is base and base[0] is base
    base.mul_(2 * ad.ones(1, requires_grad=True))
    assert not base._is_view() and view._base is base and view.requires_grad


def test_numbers_are_no_calls() -> None:
    class Through(ad.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            assert not any(isinstance(a, float) for a in args), func
            return func(*args, **(kwargs or {}))

    with Through():
        y = ad.ones(3).index_fill(0, ad.tensor([0, 2]), 2.5)
    assert y.dtype is ad.float32 and y.tolist() == [2.5, 1, 2.5]


@pytest.mark.parametrize("held", [lambda b: b[2], lambda b: b.view(-1), lambda b: b.t(), lambda b: b.detach()])
def test_a_view_answered_with_a_view_that_is_held(held: Any) -> None:
    base = ad.arange(12.0).reshape(3, 4)
    view, kept, before = base[1:], held(base), held(base).tolist()

    class Answers(ad.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return kept

    with Answers():
        assert view[0] is kept
    base.mul_(2 * ad.ones(1, requires_grad=True))
    assert kept.reshape(-1).tolist() == (2 * ad.tensor(before)).reshape(-1).tolist()


@pytest.mark.parametrize(
    "call", [lambda w: ad.nn.functional.linear(ad.ones(2, 3), w), lambda w: ad.outer(w[0], w[1]), lambda w: w.softmax(0)]
)
def test_views_on_the_way_are_views_to_a_mode(call: Any) -> None:
    """What it keeps is known to its base, and its own views have histories."""
    kept: list[Any] = []
    grads: list[Any] = []

    class Keeps(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            y = func(*args, **(kwargs or {}))
            kept.append((args, y))
            if not grads:
                grads.append(None)
                with ad.enable_grad():
                    w = ad.ones(2, requires_grad=True)
                    b = ad.ones(3, 2) * 1
                    b[0].mul_(w * 3)
                    b.sum().backward()
                    grads[0] = w.grad
            return y

    w = ad.ones(4, 3)
    with Keeps():
        call(w)
    assert grads[0].tolist() == [3.0, 3.0]
    for args, y in kept:
        if isinstance(y, ad.Tensor) and any(isinstance(a, ad.Tensor) and a.data_ptr() == y.data_ptr() for a in args):
            assert y._is_view()
