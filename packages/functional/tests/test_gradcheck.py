"""gradcheck and gradgradcheck: options, complex numbers, precision, errors."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import adjoint as ad

gradcheck, gradgradcheck = ad.autograd.gradcheck, ad.autograd.gradgradcheck


def t(*values: Any, dtype: Any = None) -> Any:
    return ad.tensor(values, dtype=dtype or ad.float64, requires_grad=True)


def f(x: Any) -> Any:
    return x.sin() * x


ALL = [
    {},
    {"fast_mode": True},
    {"check_forward_ad": True},
    {"check_forward_ad": True, "fast_mode": True},
    {"check_forward_ad": True, "check_backward_ad": False},
    {"check_batched_grad": True},
    {"check_forward_ad": True, "check_batched_forward_grad": True},
    {"check_grad_dtypes": True, "check_forward_ad": True},
]


@pytest.mark.parametrize("options", ALL, ids=str)
def test_right_derivatives_pass(options: dict[str, Any]) -> None:
    x, y, z = t(0.3, 1.2), t(0.5, -0.7), t(1 + 2j, 0.5 - 1j, dtype=ad.complex128)
    assert gradcheck(f, x, **options) is True
    assert gradcheck(lambda a, b: (a * b, a.exp().sum()), (x, y), **options)
    assert gradcheck(lambda c: c * c.conj().sin(), (z,), **options)
    assert gradcheck(lambda c: (c * c).abs(), (z,), **options)
    assert gradcheck(lambda a: ad.complex(a, a * a), (x,), **options)
    assert gradcheck(lambda a, c: a * c, (x, z[:2].detach().requires_grad_()), **options)


class Wrong(ad.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3

    @staticmethod
    def jvp(ctx: Any, v: Any) -> Any:
        return v * 3


def test_fast_mode_fails_with_slow_details() -> None:
    with pytest.raises(RuntimeError, match="computed in fast mode") as caught:
        gradcheck(Wrong.apply, t(1.0, 2.0, 3.0), fast_mode=True)
    assert "In slow mode" in str(caught.value) and "1.5 times" in str(caught.value)
    assert gradcheck(Wrong.apply, t(1.0), fast_mode=True, raise_exception=False) is False


def test_float32_passes_without_tolerances_and_still_finds_bugs() -> None:
    x = t(0.3, 1.2, dtype=ad.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert gradcheck(f, (x,))
        assert gradcheck(lambda a: (a @ a).exp(), (x,), check_forward_ad=True)
        assert not gradcheck(Wrong.apply, (x,), raise_exception=False)
    with pytest.warns(UserWarning, match="not a double precision floating point or complex"):
        gradcheck(f, (x,))


def test_inputs_are_checked() -> None:
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(f, (ad.ones(2),))
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(f, (ad.ones(1, dtype=ad.float64).expand(3).detach().requires_grad_(),))
    for options in (
        {"check_backward_ad": False},
        {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
        {"check_batched_forward_grad": True},
    ):
        with pytest.raises(AssertionError):
            gradcheck(f, (t(1.0),), **options)


def test_other_arguments_pass_through() -> None:
    x = t(1.0, 2.0)
    assert gradcheck(lambda a, n, c: a * n * c, (x, 3, ad.ones(2)))
    assert gradcheck(lambda a: (a * a, (a > 0)), (x,))


def test_detached_function_is_found() -> None:
    with pytest.raises(RuntimeError, match="expected to be zero"):
        gradcheck(lambda a: a.detach() * 2, (t(1.0),))
    assert gradcheck(lambda a: ad.ones(2), (t(1.0),))


def test_zero_size_and_zero_dim() -> None:
    assert gradcheck(f, (ad.zeros(0, dtype=ad.float64, requires_grad=True),))
    assert gradcheck(f, (ad.tensor(0.5, dtype=ad.float64, requires_grad=True),), check_forward_ad=True)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fast_mode": True},
        {"gen_non_contig_grad_outputs": True},
        {"check_fwd_over_rev": True},
        {"check_batched_grad": True, "check_grad_dtypes": True},
    ],
    ids=str,
)
def test_second_derivatives(options: dict[str, Any]) -> None:
    assert gradgradcheck(f, (t(0.3, 1.2),), **options)
    assert gradgradcheck(lambda z: z * z.exp(), (t(1 + 2j, dtype=ad.complex128),), **options)
    assert gradgradcheck(ad.sin, t(0.3, 1.2), t(1.0, -0.5), **{k: v for k, v in options.items() if "gen" not in k})


def test_saved_intermediate_fails_in_second_order_only() -> None:
    class Square(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.doubled = x * 2
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.doubled

    x = t(1.0, 2.0)
    assert gradcheck(Square.apply, (x,))
    with pytest.raises(RuntimeError, match="kept as ctx.name"):
        gradgradcheck(Square.apply, (x,))


def test_sparse_inputs() -> None:
    x = ad.tensor([[0.0, 1.0], [2.0, 0.0]], dtype=ad.float64).to_sparse().requires_grad_()
    assert gradcheck(lambda s: s.to_dense(masked_grad=True), (x,), masked=True)
    assert gradcheck(lambda s: s.to_dense(masked_grad=False), (x,), masked=False)


class Square(ad.autograd.Function):
    """Its backward is a Function too; neither has a rule for batches."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return SquareBackward.apply(ctx.saved_tensors[0], g)


class SquareBackward(ad.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, g: Any) -> Any:
        ctx.save_for_backward(x, g)
        return 2 * x * g

    @staticmethod
    def backward(ctx: Any, h: Any) -> Any:
        x, g = ctx.saved_tensors
        return 2 * g * h, 2 * x * h


def test_batched_gradients_run_functions_without_a_rule() -> None:
    x = ad.randn(3, dtype=ad.float64, requires_grad=True)
    assert ad.autograd.gradcheck(Square.apply, x, check_batched_grad=True)
    assert ad.autograd.gradgradcheck(Square.apply, x, check_batched_grad=True)
    rows = ad.autograd.functional.jacobian(Square.apply, x, vectorize=True)
    assert ad.allclose(rows, (2 * x).diag())


class Pair(ad.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        if ad.autograd.forward_ad._current_level >= 0:
            assert not x.requires_grad and not y.requires_grad
        return x.clone(), y.clone()

    @staticmethod
    def jvp(ctx: Any, a: Any, b: Any) -> Any:
        return a, b


def test_forward_mode_is_checked_without_reverse_mode() -> None:
    x, y = (ad.rand(2, dtype=ad.float64, requires_grad=True) for _ in range(2))
    alone = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_grad": False}
    assert ad.autograd.gradcheck(Pair.apply, (x, y), check_batched_forward_grad=True, **alone)

    def tampered(x: Any, y: Any) -> Any:
        if ad.autograd.forward_ad._current_level >= 0:
            p, t = ad.autograd.forward_ad.unpack_dual(y)
            y = ad.autograd.forward_ad.make_dual(p, t * 1.1)
        return x + y

    with pytest.raises(RuntimeError, match="computed with forward mode mismatch for output 0 with respect to input 1"):
        ad.autograd.gradcheck(tampered, (x, y), check_forward_ad=True)


@pytest.mark.parametrize("fast", [True, False])
def test_layouts_of_gradients(fast: bool) -> None:
    class Layout(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.to_sparse()

    def other_split(x: Any) -> Any:
        y = x.clone()
        y.register_hook(lambda g: g.to_dense().to_sparse(1))
        return y.to_dense()

    options = {"check_batched_grad": False, "fast_mode": fast}
    dense = ad.ones(2, 2, dtype=ad.float64, requires_grad=True)
    sparse = ad.ones(2, 2, dtype=ad.float64).to_sparse().requires_grad_()
    assert ad.autograd.gradcheck(lambda s: s.sum(), sparse, masked=True, **options)
    with pytest.raises(RuntimeError, match="grad is incorrect layout"):
        ad.autograd.gradcheck(Layout.apply, dense, **options)
    with pytest.raises(RuntimeError, match="grad is sparse tensor, but has incorrect sparse_dim"):
        ad.autograd.gradcheck(other_split, sparse, masked=True, **options)


@pytest.mark.parametrize("fast", [False, True])
def test_hooks_that_take_no_absent_gradient_fail_with_a_warning(fast: bool) -> None:
    def hooked(x: Any) -> Any:
        def hook(g: Any) -> None:
            if g is None:
                raise RuntimeError("no gradient")

        y = x.clone()
        y.register_hook(hook)
        return y

    with (
        pytest.warns(UserWarning, match="New undefined gradient support checking feature"),
        pytest.raises(RuntimeError, match="handle undefined output grads.*It raised: no gradient"),
    ):
        gradcheck(hooked, t(1.0), fast_mode=fast)
    assert gradcheck(hooked, t(1.0), fast_mode=fast, check_undefined_grad=False)


@pytest.mark.parametrize("fast", [False, True])
def test_forward_mode_runs_once_for_each_direction(fast: bool) -> None:
    runs = []

    class Both(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx: Any, tx: Any, ty: Any) -> Any:
            runs.append(1)
            return tx, ty

    only_forward = {"check_forward_ad": True, "check_backward_ad": False, "check_undefined_grad": False}
    assert gradcheck(Both.apply, (t(1.0), t(2.0)), fast_mode=fast, **only_forward) and len(runs) == 2


def test_halves_of_old_warn() -> None:
    from adjoint.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    a, b = t(1.0, 2.0), t(3.0, 4.0)
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        (found,) = get_numerical_jacobian(lambda xs: 2 * xs[0] + xs[1], (a, b), target=a, eps=1e-6)
    assert ad.allclose(found, 2 * ad.eye(2, dtype=ad.float64))
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` was part of PyTorch's private API"):
        jacobians, *fine = get_analytical_jacobian((a, b), 2 * a + b)
    assert fine == [True] * 3 and [j.diagonal().tolist() for j in jacobians] == [[2, 2], [1, 1]]


@pytest.mark.parametrize("fast", [False, True])
def test_a_function_may_hold_its_inputs(fast: bool) -> None:
    model = ad.nn.Linear(3, 2, dtype=ad.float64)
    x, version = ad.ones(4, 3, dtype=ad.float64), model.weight._version
    before = [p.tolist() for p in model.parameters()]
    assert ad.autograd.gradcheck(lambda *_: model(x), tuple(model.parameters()), fast_mode=fast)
    assert ad.autograd.gradgradcheck(lambda *_: model(x).square(), tuple(model.parameters()), fast_mode=fast)
    assert [p.tolist() for p in model.parameters()] == before

    def breaks(w: ad.Tensor) -> ad.Tensor:
        if w.tolist() != before[0]:
            raise ZeroDivisionError
        return w * 2

    with pytest.raises(ZeroDivisionError):
        ad.autograd.gradcheck(breaks, (model.weight,), fast_mode=fast)
    assert model.weight.tolist() == before[0] and model.weight._version == version
    twice = ad.tensor([2.0], dtype=ad.float64, requires_grad=True)
    assert ad.autograd.gradcheck(lambda a, b: a * b, (twice, twice), fast_mode=fast)
