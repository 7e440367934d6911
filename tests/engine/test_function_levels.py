"""Custom Functions that write in place, under forward mode and functional tapes; outputs without a derivative there."""

import itertools

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import Function, forward_ad


class Twice(Function):
    """Doubles its argument in place; `how` its tangent is doubled."""

    @staticmethod
    def forward(ctx, x, how):
        ctx.how = how
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g, None

    @staticmethod
    def jvp(ctx, t, _):
        return {"in place": lambda: t.mul_(2), "new": lambda: t * 2, "not": lambda: t}[ctx.how]()


@pytest.mark.parametrize("grad", [True, False])
def test_a_function_that_writes_in_place_writes_its_tangent_in_place(grad):
    with forward_ad.dual_level():
        t = ad.tensor([1.0, 3.0])
        x = forward_ad.make_dual(ad.tensor([1.0, 2.0], requires_grad=grad).clone(), t)
        y = Twice.apply(x, "in place")
        primal, tangent = forward_ad.unpack_dual(y)
        assert y is x and tangent is t and tangent.tolist() == [2.0, 6.0] and primal.tolist() == [2.0, 4.0]
        assert y.requires_grad == grad


@pytest.mark.parametrize("how", ["new", "not"])
def test_a_tangent_that_was_not_written_in_place_is_refused(how):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(ad.ones(2), ad.ones(2))
        with pytest.raises(RuntimeError, match="jvp function must modify the corresponding gradient inplace"):
            Twice.apply(x, how)


def test_the_gradcheck_of_a_function_that_writes_in_place():
    x = ad.randn(3, dtype=ad.float64, requires_grad=True)
    assert autograd.gradcheck(lambda x: Twice.apply(x.clone(), "in place"), x, check_forward_ad=True)


class Both(Function):
    """Hands on a copy of each argument, the second without a derivative."""

    @staticmethod
    def forward(ctx, x, y):
        out = y.clone()
        ctx.mark_non_differentiable(out)
        return x.clone(), out

    @staticmethod
    def backward(ctx, g, _):
        return g, None

    @staticmethod
    def jvp(ctx, t, _):
        return t, None


class Wrong(Both):
    @staticmethod
    def jvp(ctx, t, _):
        return t, t.clone()


def test_outputs_without_a_derivative_have_none_in_both_modes():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(ad.ones(2, requires_grad=True), ad.ones(2))
        y = ad.ones(2, requires_grad=True)
        first, second = Both.apply(x, y)
        assert first.requires_grad and not second.requires_grad
        assert forward_ad.unpack_dual(second).tangent is None
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            Wrong.apply(x, y)


def test_marking_what_is_no_argument():
    class Fresh(Function):
        @staticmethod
        def forward(ctx, x, view):
            y = x.clone().view(-1) if view else x * 3
            ctx.mark_dirty(y)
            return y

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        Fresh.apply(ad.ones(2), False)
    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        Fresh.apply(ad.ones(2), True)


def test_versions_of_dual_tensors():
    x = ad.ones(2)
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x, ad.ones(2))
        x.add_(1)
        assert y._version == x._version == forward_ad.unpack_dual(y).primal._version == 1


class InPlace(Function):
    """Doubles its argument in place, at every level."""

    @staticmethod
    def forward(x):
        return x.mul_(2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(2)

    @staticmethod
    def vmap(info, in_dims, x):
        return x.mul_(2), in_dims[0]


class Exp(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.saved_tensors[0]


def _transforms():
    direction = ad.tensor([0.3, -0.2, 0.5], dtype=ad.float64)
    return {
        "jvp": lambda g: lambda x: ad.func.jvp(g, (x,), (direction,))[1],
        "vmap": lambda g: lambda x: ad.vmap(g)(ad.stack([x, x * 1.1])).sum(0),
        "grad": lambda g: ad.func.grad(lambda x: g(x).sum()),
        "jacfwd": lambda g: lambda x: ad.func.jacfwd(g)(x).sum(-1),
        "jacrev": lambda g: lambda x: ad.func.jacrev(g)(x).sum(-1),
    }


def _in_place(x):
    y = x * x
    assert InPlace.apply(y) is y
    return (y * x).sum()


def _in_place_view(x):
    y = x * x
    InPlace.apply(y[1:])
    return (y * x).sum()


@pytest.mark.parametrize(
    "custom, plain",
    [
        (lambda x: (Exp.apply(x * x[0]) * x).sum(), lambda x: ((x * x[0]).exp() * x).sum()),
        (_in_place, lambda x: (2 * x**3).sum()),
        (_in_place_view, lambda x: x[0] ** 3 + (2 * x[1:] ** 3).sum()),
    ],
    ids=["generated", "in_place", "in_place_view"],
)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_functions_under_all_orders_of_transforms(custom, plain, depth):
    x = ad.tensor([0.4, 0.7, -0.3], dtype=ad.float64)
    transforms = _transforms()
    for order in itertools.product(transforms, repeat=depth):
        f, g = custom, plain
        for name in order:
            f, g = transforms[name](f), transforms[name](g)
        assert ad.allclose(f(x), g(x), rtol=1e-8, atol=1e-10), order
