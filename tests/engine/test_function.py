"""Custom Functions: arguments, outputs, what is saved, flags, and the errors of wrong ones."""

import gc
import math
import warnings
import weakref

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import Function, function


def leaf(*values):
    return ad.tensor(values or (1.0, 2.0), dtype=ad.float64, requires_grad=True)


def make(forward, backward, **attributes):
    """A Function from two lambdas."""
    return type("Made", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward), **attributes})


class Power(Function):
    @staticmethod
    def forward(ctx, x, n=2, *, scale=1.0):
        ctx.n, ctx.scale = n, scale
        ctx.save_for_backward(x)
        return scale * x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.scale * ctx.n * x ** (ctx.n - 1), None


@pytest.mark.parametrize(
    "call",
    [
        lambda x: Power.apply(x, 3, scale=2.0),
        lambda x: Power.apply(x, n=3, scale=2.0),
        lambda x: Power.apply(x=x, n=3, scale=2.0),
        lambda x: Power.apply(n=3, x=x, scale=2.0),
    ],
)
def test_arguments_by_name_and_position(call):
    x = leaf()
    (g,) = autograd.grad(call(x).sum(), x, create_graph=True)
    assert g.tolist() == [6.0, 24.0]
    assert autograd.grad(g.sum(), x)[0].tolist() == [12.0, 24.0]


def test_defaults_count_with_setup_context():
    class Scale(Function):
        @staticmethod
        def forward(x, factor=3.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            assert len(inputs) == 2
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = leaf()
    Scale.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("materialize", [True, False])
def test_outputs_of_every_kind(materialize):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        marked = x.floor()
        ctx.mark_non_differentiable(marked)
        return x * 2, "text", marked, ad.tensor([1, 2]), x * 3

    f = make(forward, lambda ctx, *gs: seen.extend(gs) or gs[0] * 2)
    x = leaf()
    y, text, marked, whole, other = f.apply(x)
    assert (text, marked.requires_grad, whole.requires_grad, other.requires_grad) == ("text", False, False, True)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert seen[1] is None
    assert [g is None for g in seen] == [False, True, not materialize, not materialize, not materialize]
    if materialize:
        assert seen[2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("returned", "error", "match"),
    [
        (lambda g: (g, g), RuntimeError, "gradient different than None at position 2"),
        (lambda g: (g, None, g), RuntimeError, "incorrect number of gradients .expected 2, got 3"),
        (lambda g: g, RuntimeError, "incorrect number of gradients .expected 2, got 1"),
        (lambda g: (g.new_ones(7), None), RuntimeError, "invalid gradient at index 0"),
        (lambda g: (3, None), TypeError, r"expected Variable or None \(got int\)"),
    ],
)
def test_wrong_gradients_are_told(returned, error, match):
    f = make(lambda ctx, x, c: x * c, lambda ctx, g: returned(g))
    with pytest.raises(error, match=match):
        f.apply(leaf(), 2).sum().backward()


def test_gradients_are_fitted_to_inputs():
    f = make(lambda ctx, x, y: x + y, lambda ctx, g: (g, g, None, None))  # more Nones than arguments are fine
    x, y = leaf(), ad.ones(1, dtype=ad.float32, requires_grad=True)
    f.apply(x, y).sum().backward()
    assert y.grad.tolist() == [2.0] and y.grad.dtype == ad.float32


def test_needs_input_grad():
    seen = []
    f = make(lambda ctx, a, b, c: a * b, lambda ctx, g: seen.append(ctx.needs_input_grad) or (g, g, None))
    f.apply(leaf(), leaf().detach(), 3).sum().backward()
    a, b = leaf(), leaf()
    autograd.grad(f.apply(a, b, 3).sum(), a)
    assert seen == [(True, False, False), (True, False, False)]  # what was asked for, narrower than PyTorch


def test_undefined_gradients_reach_backward():
    stop = make(lambda ctx, x: x * 1, lambda ctx, g: None)
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    f = make(forward, lambda ctx, g: seen.append(g))
    x = leaf()
    stop.apply(f.apply(x)).sum().backward()
    assert seen == [None] and x.grad is None


def test_saved_tensors_can_be_cleared_on_access():
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with pytest.raises(RuntimeError, match="can only be accessed once"):
            _ = ctx.saved_tensors
        return g * x

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x / 2

    f = make(forward, backward, clear_saved_tensors_on_access=True)
    x = leaf()
    f.apply(x).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [1.0, 2.0]


def test_boxed_gradients():
    def backward(ctx, grads):
        a, b = grads.pop(), grads.pop()
        assert grads == []
        return a * 3 + b * 2

    f = make(lambda ctx, x: (x * 2, x * 3), backward, boxed_grads_call=True)
    x = leaf()
    sum(f.apply(x)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def exp_in_place(ctx, x):
    ctx.mark_dirty(x)
    ctx.save_for_backward(y := x.exp_())
    return y


@pytest.mark.parametrize("place", [lambda y: y, lambda y: y[0], lambda y: y.view(2, 1)[1:].squeeze(0)])
def test_functions_that_write_to_their_argument(place):
    f = make(exp_in_place, lambda ctx, g: g * ctx.saved_tensors[0])
    x, same = leaf(), leaf()
    y, expected = x * 1, same * 1
    z, w = f.apply(place(y)), place(expected).exp_()
    assert y.tolist() == expected.tolist() and y._version > 0
    (y.sin().sum() + z.cos().sum()).backward()
    (expected.sin().sum() + w.cos().sum()).backward()
    assert x.grad.tolist() == pytest.approx(same.grad.tolist())


@pytest.mark.parametrize(
    ("place", "match"),
    [(lambda x: x, "a leaf Variable"), (lambda x: x[0], "view of a leaf"), (lambda x: (x * 1).unbind()[0], "multiple views")],
)
def test_what_may_not_be_written(place, match):
    with pytest.raises(RuntimeError, match=match):
        make(exp_in_place, None).apply(place(leaf()))


def test_views_are_written_first_and_alone():
    def forward(ctx, a, b):
        ctx.mark_dirty(b)
        return b.add_(a)

    with pytest.raises(RuntimeError, match="must take it first"):
        make(forward, None).apply(leaf(), (leaf(1.0, 2.0, 3.0) * 1)[:2])


def test_dirty_tensors_must_come_back():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with pytest.raises(RuntimeError, match="must all be outputs"):
        make(forward, None).apply(leaf() * 1)


def test_once_differentiable():
    f = make(lambda ctx, x: x**2, function.once_differentiable(lambda ctx, g: g * 2))
    x = leaf()
    (g,) = autograd.grad(f.apply(x).sin().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_protocol_errors():
    with pytest.raises(NotImplementedError, match="forward"):
        Function.apply(leaf())
    with pytest.raises(NotImplementedError, match="backward or vjp"):
        type("NoBackward", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(leaf()).sum().backward()
    both = make(lambda ctx, x: x * 2, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with pytest.raises(RuntimeError, match="both 'backward' and 'vjp'"):
        both.apply(leaf()).sum().backward()
    with pytest.raises(TypeError, match="save_for_backward"):
        make(lambda ctx, x: ctx.save_for_backward(3), None).apply(leaf())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="Legacy"):
            Power()(leaf())
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        Power()


def test_numpy_in_forward():
    f = make(lambda ctx, x: ad.from_numpy(x.numpy() * 2), lambda ctx, g: g * 2)
    x = leaf()
    f.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()


def test_names_of_old():
    assert isinstance(Power, function.FunctionMeta) and issubclass(Power._backward_cls, function.BackwardCFunction)
    assert function._ContextMethodMixin is function.FunctionCtx
    with pytest.warns(DeprecationWarning):
        assert function.InplaceFunction(inplace=True).inplace
    for name in ("forward_extended", "backward_extended"):
        with pytest.raises(NotImplementedError):
            getattr(function.NestedIOFunction, name)(None)


def test_backward_may_be_replaced_after_the_class_was_made():
    f = make(lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    f.backward = staticmethod(lambda ctx, g: g * 5)
    x = leaf()
    f.apply(x).sum().backward()
    assert x.grad.tolist() == [5.0] * x.numel()


class SavesIntermediate(Function):
    """2 exp(x), which keeps exp(x)."""

    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e, x.sign(), (x > 0).to(x.dtype))
        return e * 2

    @staticmethod
    def backward(ctx, v):
        e, _, _ = ctx.saved_tensors
        return v * e * 2


def test_second_derivative_through_a_saved_intermediate_is_refused():
    x = ad.tensor(1.0, requires_grad=True)
    y = SavesIntermediate.apply(x)
    (first,) = ad.autograd.grad(y, x, retain_graph=True)
    assert not first.requires_grad
    (first,) = ad.autograd.grad(y * y, x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"SavesIntermediateBackward \(.*test_function.py.*saved tensor 0"):
        ad.autograd.grad(first, x)


def test_a_derivative_beside_a_saved_intermediate_is_right():
    x = ad.tensor(1.0, requires_grad=True)
    v = ad.tensor(3.0, requires_grad=True)
    (first,) = ad.autograd.grad(SavesIntermediate.apply(x), x, v, create_graph=True)
    (by_v,) = ad.autograd.grad(first, v)  # what jvp by two backwards asks for
    assert abs(by_v.item() - 2 * math.exp(1)) < 1e-5


def test_what_is_no_tensor_is_refused_where_it_will_be_kept():
    class SavesAnything(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, "a word")
            return x * 2

        @staticmethod
        def backward(ctx, v):
            return v * 2

    assert SavesAnything.apply(ad.tensor(1.0)).item() == 2
    with ad.no_grad():
        assert SavesAnything.apply(ad.tensor(1.0, requires_grad=True)).item() == 2
    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type str"):
        SavesAnything.apply(ad.tensor(1.0, requires_grad=True))


def test_a_saved_intermediate_that_becomes_a_leaf_is_one():
    class MakesALeaf(SavesIntermediate):
        @staticmethod
        def backward(ctx, v):
            e, _, _ = ctx.saved_tensors
            ctx.leaf = e.requires_grad_()
            return v * e * 2

    x = ad.tensor(1.0, requires_grad=True)
    y = MakesALeaf.apply(x)
    (first,) = ad.autograd.grad(y * y, x, create_graph=True)
    leaf = y.grad_fn.leaf
    assert leaf.is_leaf
    second, by_leaf = ad.autograd.grad(first, (x, leaf))  # first = 2 y(x) 2 e: what flows through y, and what the leaf got
    assert math.isclose(second.item(), 8 * math.exp(2), rel_tol=1e-5) and math.isclose(
        by_leaf.item(), 8 * math.exp(1), rel_tol=1e-5
    )


def test_a_saved_mask_is_no_intermediate():
    class Halves(Function):
        @staticmethod
        def forward(ctx, x):
            mask = ad.ones_like(x) * 0.5
            ctx.save_for_backward(mask, (x > 0).to(x.dtype))
            return x * mask

        @staticmethod
        def backward(ctx, v):
            mask, positive = ctx.saved_tensors
            return v * v * mask * positive

    x = ad.tensor(2.0, requires_grad=True)
    v = Halves.apply(x) * x
    (first,) = ad.autograd.grad(v, x, create_graph=True)
    ad.autograd.grad(first, x)


def test_a_context_knows_no_outputs_before_forward_returns():
    seen = []
    made = make(lambda ctx, x: (seen.append(ctx._input_metadata), x * 2)[1], lambda ctx, v: v * 2)
    y = made.apply(leaf())
    assert seen == [()] and len(y.grad_fn._input_metadata) == 1 and autograd.graph.Node()._input_metadata == ()


def test_a_leaf_that_takes_any_type_gets_the_gradient_as_it_is():
    f = make(lambda ctx, x: x * 2, lambda ctx, g: g.to(ad.float64))
    for wanted, got in ((None, ad.float64), (ad.float16, ad.float16), (ad.float32, ad.float32)):
        x = ad.ones(2, requires_grad=True)
        x.grad_dtype = wanted
        f.apply(x).sum().backward()
        assert x.grad.dtype == got


def test_what_a_checkpoint_makes_again_is_freed_without_the_collector():
    made = []

    def forward(ctx, x):
        y = x.clone()
        ctx.save_for_backward(y)
        made.append(weakref.ref(y))
        return y

    f = make(forward, lambda ctx, g: ctx.saved_tensors and None)
    gc.disable()
    try:
        ad.utils.checkpoint.checkpoint(f.apply, leaf(), use_reentrant=False).sum().backward()
        assert [r() for r in made] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("fills", [True, False])
def test_gradients_of_constant_outputs_are_zeros_or_none(fills):
    def forward(ctx, x):
        a, b = x.clone(), x.clone()
        ctx.mark_non_differentiable(b)
        ctx._materialize_non_diff_grads = fills
        return a, b

    seen = []
    f = make(forward, lambda ctx, g, h: seen.append(h) or g)
    f.apply(leaf())[0].sum().backward()
    assert (seen[0] is not None) == fills


def test_the_old_name_of_saved_tensors_warns():
    def backward(ctx, g):
        with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
            (x,) = ctx.saved_variables
        return g * x

    x = leaf()
    make(lambda ctx, x: ctx.save_for_backward(x) or x * x, backward).apply(x).sum().backward()
    assert x.grad.tolist() == x.tolist()


def test_a_complex_gradient_for_a_real_input():
    class Turn(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    with pytest.raises(RuntimeError, match="complex one .* for a real input"):
        Turn.apply(ad.ones(2, requires_grad=True)).sum().backward()
    z = ad.ones(2, dtype=ad.complex64, requires_grad=True)
    Turn.apply(z).backward(ad.ones(2, dtype=ad.complex64))
    assert z.grad.tolist() == [1j, 1j]


def test_written_in_place_and_without_a_gradient():
    class Constant(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = ad.ones(2, requires_grad=True) * 1
    y = Constant.apply(x)
    assert not y.requires_grad and x.requires_grad
    assert y.tolist() == x.tolist() == [2, 2]


def test_an_input_that_comes_back_as_something_else():
    class Forgetful(ad.Tensor):
        @classmethod
        def __torch_function__(cls, f, types, args=(), kwargs=None):
            return None if f.__name__ == "view_as" else super().__torch_function__(f, types, args, kwargs or {})

    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(TypeError, match="expected a Tensor, got NoneType"):
        Same.apply(ad.ones(2, requires_grad=True).as_subclass(Forgetful))


def test_what_a_context_keeps_is_checked():
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.to_save = (3,)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(TypeError, match="can only save variables, but argument 0 is of type int"):
        Keeps.apply(ad.ones(2, requires_grad=True))
