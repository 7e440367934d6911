"""In-place calls on views: gradients of what they do, and errors where they cannot be."""

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import Function
from adjoint.autograd import forward_ad as fwad


def base():
    return ad.tensor([[0.5, 1.5, -1.0], [2.0, -0.3, 0.7]], dtype=ad.float64, requires_grad=True)


VIEWS = {
    "row": lambda y: y[0],
    "slice": lambda y: y[:, 1:],
    "transpose": lambda y: y.t(),
    "diagonal": lambda y: y[:, :2].diagonal(),
    "reshape": lambda y: y.view(-1)[1:4],
    "view of view": lambda y: y.t()[1:][0],
    "expand": lambda y: y[0:1].squeeze(0).view(3, 1),
    "row of an expanded one": lambda y: y.expand(2, 2, 3)[1],
    "part of a row that was expanded": lambda y: y[0].expand(2, 3)[0][1:],
    "one of windows": lambda y: y.view(-1).unfold(0, 3, 1)[2],
    "memory": lambda y: y.as_strided((2, 2), (3, 2), 0),
    "memory beyond the slice": lambda y: y[1:, 1:].as_strided((2,), (3,), 2),
    "memory around a slice with gaps": lambda y: y.t()[::2].as_strided((2, 2), (1, 3), 1),
}
BEYOND_THE_INPUT = ("memory beyond the slice", "memory around a slice with gaps")
WRITES = {
    "mul": (lambda v: v.mul_(3), lambda v: v * 3),
    "exp": (lambda v: v.exp_(), lambda v: v.exp()),
    "by itself": (lambda v: v.mul_(v), lambda v: v * v),
    "zero": (lambda v: v.zero_(), lambda v: v * 0),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_writing_through_a_view_is_scattering(view, write):
    if write == "by itself" and view in BEYOND_THE_INPUT:
        pytest.skip("what a view reads outside of its input has no gradient, in PyTorch neither")
    in_place, out_of_place = WRITES[write]
    x = base()
    y = x * 1
    in_place(VIEWS[view](y))
    (found,) = autograd.grad((y * y).sum(), x)
    places = VIEWS[view](ad.arange(6).view(2, 3)).reshape(-1)
    flat = (x * 1).view(-1)
    kept = flat.clone()
    kept[places] = out_of_place(flat[places])
    assert kept.tolist() == pytest.approx(y.view(-1).tolist())
    (expected,) = autograd.grad((kept * kept).sum(), x)
    assert found.view(-1).tolist() == pytest.approx(expected.view(-1).tolist())

    def written(x):
        y = x * 1
        in_place(VIEWS[view](y))
        return y * y

    assert autograd.gradcheck(written, x, check_batched_grad=True) and autograd.gradgradcheck(written, x)


@pytest.mark.parametrize("write", [w for w in WRITES if w != "exp"])  # its result is needed, and written to again
def test_writes_through_what_repeats_elements_are_seen_by_all_of_them(write):
    in_place, out_of_place = WRITES[write]

    def written(x):
        rows = (x * 1).expand(2, 2, 3)
        in_place(rows[0, 1])
        rows[1, 1, :2].mul_(x[0, 1:])
        return rows[0] * rows[1]

    def expected(x):
        row = out_of_place(x[1])
        y = ad.stack([x[0], ad.cat([row[:2] * x[0, 1:], row[2:]])])
        return y * y

    x = base()
    assert ad.allclose(written(x), expected(x))
    assert ad.allclose(*(autograd.grad(f(x).sum(), x)[0] for f in (written, expected)))
    assert autograd.gradgradcheck(written, x)


def test_writes_that_cannot_be_recorded_through_repeated_elements_or_gaps():
    x = base()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        (x * 1).expand(2, 2, 3).fill_(1)
    gaps = ad.zeros(4, 6, dtype=ad.float64)[::2, ::2].detach()
    with pytest.raises(RuntimeError, match=r"recorded on bases without gaps, got one of shape \[2, 3\] with strides \[12, 2\]"):
        gaps.as_strided((2,), (2,), 0).mul_(x[0, :2])


@pytest.mark.parametrize(
    "cut",
    [
        lambda y: y.unbind(),
        lambda y: y.unbind(1),
        lambda y: y.split(1),
        lambda y: y.split([1, 2], 1),
        lambda y: y.chunk(2, 1),
        tuple,
    ],
)
def test_pieces_of_a_tensor(cut):
    x = base()
    pieces = cut(x * 2)
    assert [p.output_nr for p in pieces] == list(range(len(pieces)))
    assert len({p.grad_fn for p in pieces}) == 1
    with pytest.raises(RuntimeError, match="returns multiple views"):
        pieces[0].mul_(2)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        pieces[-1][...].add_(1)
    (g,) = autograd.grad((pieces[1] ** 2).sum(), x, create_graph=True)
    (h,) = autograd.grad(g.sum(), x)
    expected = ad.zeros_like(x)
    cut(expected)[1].fill_(8)
    assert h.tolist() == expected.tolist()


def test_pieces_without_gradient_may_be_written():
    x = ad.zeros(3, 2)
    for i, row in enumerate(x):
        row.add_(i)
    assert x.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_pieces_follow_their_base():
    x = base()
    y = x * 1
    first, _ = y.unbind()
    y.mul_(5)
    assert autograd.grad(first.sum(), x)[0].tolist() == [[5.0] * 3, [0.0] * 3]


@pytest.mark.parametrize("order", ["jvp", "vmap"])
def test_pieces_under_transforms(order):
    x = base().detach()
    f = lambda x: sum(p.sin().sum() * k for k, p in enumerate(x.unbind(-1), 1))  # noqa: E731
    g = ad.func.grad(f)(x)
    if order == "vmap":
        assert ad.vmap(ad.func.grad(f))(x).tolist() == g.tolist()
    else:
        assert ad.func.jvp(f, (x,), (ad.ones_like(x),))[1].item() == pytest.approx(g.sum().item())


@pytest.mark.parametrize("make", [ad.no_grad, ad.inference_mode])
def test_views_made_outside_recording(make):
    y = base() * 1
    with make():
        v = y[0]
        v.add_(1)
    assert not v.requires_grad
    with pytest.raises(RuntimeError, match="no_grad mode|inference mode"):
        v.mul_(base()[0])


def test_leaves_and_their_views():
    x = base()
    for write in (lambda: x.add_(1), lambda: x[0].add_(1), lambda: x.view(-1).zero_()):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            write()
    with ad.no_grad():
        x[0].add_(1)
    assert x._version == 1


class Same(Function):
    @staticmethod
    def forward(ctx, x, how):
        return {"view": x.view(-1), "itself": x, "slice": x[0]}[how]

    @staticmethod
    def backward(ctx, g):
        return g.expand(2, 3).clone() if g.dim() == 1 and len(g) == 3 else g.reshape(2, 3), None


@pytest.mark.parametrize("how", ["view", "itself", "slice"])
def test_views_out_of_custom_functions(how):
    y = Same.apply(base() * 1, how)
    assert y.grad_fn.name() == "SameBackward"
    with pytest.raises(RuntimeError, match="custom Function"):
        y.add_(1)
    y.clone().add_(1).sum().backward()


def test_data_and_detach():
    x = base()
    y = x.exp()
    z = (y * y).sum()
    y.data.add_(1)
    assert y._version == 0
    z.backward()
    z = (x.exp() * 1).sum()
    d = y.detach()
    d.add_(1)
    assert y._version == d._version == 1
    x.data = ad.zeros(2, 3, dtype=ad.float64)
    assert x.is_leaf and x.requires_grad and x.sum().item() == 0


class Alias(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g


ORIGINS = {
    "plain": (lambda x: x.view_as(x), None),
    "piece": (lambda x: x.unbind()[0], "function that returns multiple views"),
    "custom": (Alias.apply, "created inside a custom Function"),
}
SHAPES = {
    "t": lambda v: v.t_(),
    "transpose": lambda v: v.transpose_(0, 0),
    "squeeze": lambda v: v.squeeze_(0),
    "unsqueeze": lambda v: v.unsqueeze_(0),
    "as_strided": lambda v: v.as_strided_((2,), (1,)),
}


@pytest.mark.parametrize("viewed", [True, False])
@pytest.mark.parametrize("reshaped", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("origin", ORIGINS)
def test_where_a_view_comes_from_outlives_its_shape(origin, shape, reshaped, viewed):
    make, why = ORIGINS[origin]
    y = base() * 1
    with ad.set_grad_enabled(viewed):
        v = make(y)
    why = why if viewed else "no_grad mode"
    if reshaped and why:
        with pytest.raises(RuntimeError, match=why):
            SHAPES[shape](v)
        return
    with ad.set_grad_enabled(reshaped):
        SHAPES[shape](v)
    if why:
        with pytest.raises(RuntimeError, match=why):
            v.add_(1)
    else:
        v.add_(1)
        assert autograd.grad(y.sum(), y)[0].shape == y.shape


@pytest.mark.parametrize("origin", ["piece", "custom"])
def test_recorded_writes_into_views_of_a_plain_tensor(origin):
    make, why = ORIGINS[origin]
    make(ad.ones(2, 3)).add_(1)
    with pytest.raises(RuntimeError, match=why):
        make(ad.ones(2, 3)).add_(base().sum())


def test_a_view_of_a_view_made_outside_recording():
    for mode, name in ((ad.no_grad, "no_grad block"), (ad.inference_mode, "inference_mode block")):
        x = ad.zeros(2)
        with mode():
            y = x.view(2)
        z = y.requires_grad_().view(2)
        with pytest.raises(RuntimeError, match=f"is a view of a view which was created in .* inside the {name}"):
            z.mul_(2)


@pytest.mark.parametrize(
    "cut", [lambda y: y.unsafe_split(1), lambda y: y.unsafe_split_with_sizes([1, 1]), lambda y: y.unsafe_chunk(2)]
)
def test_pieces_cut_without_the_bookkeeping(cut):
    x = base()
    first, second = cut(x * 1)
    first.mul_(3)
    (first.sum() + 2 * second.sum()).backward()
    assert x.grad.tolist() == [[3.0] * 3, [2.0] * 3]


def test_a_change_of_size_is_a_write():
    x = ad.ones(1)
    assert x.resize_(1, 2)._version == 1 and x.resize_(3)._version == 2 and x.resize_(3)._version == 2
    assert x.resize_(2)._version == 3 and x[0] == 1


def test_views_that_became_leaves_are_not_written_to():
    for write in (lambda v: v.mul_(2), lambda v: v[0].mul_(2), lambda v: v.t_()):
        v = ad.ones(4).view(2, 2).requires_grad_()
        with pytest.raises(
            RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place operation"
        ):
            write(v)
        with ad.no_grad():
            write(v)


class _Plus(Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1

    @staticmethod
    def backward(ctx, g):
        return g


USES_OF_HISTORY = [
    lambda t, x: t.grad_fn,
    lambda t, x: t * 2,
    lambda t, x: t[0],
    lambda t, x: t.mul_(2),
    lambda t, x: _Plus.apply(t),
    lambda t, x: t.backward(ad.ones_like(t)),
    lambda t, x: autograd.grad(t, x, ad.ones_like(t)),
]


@pytest.mark.parametrize(
    "back", [lambda x: x.view_as(x), lambda x: x, lambda x: (x.view_as(x), x + 1)], ids=["view", "input", "two outputs"]
)
def test_views_out_of_custom_functions_are_outdated_by_writes(back):
    class Reverse(Function):
        @staticmethod
        def forward(ctx, x):
            return back(x)

        @staticmethod
        def backward(ctx, g, *others):
            return -g

    x = base()
    y = x * 1
    r = Reverse.apply(y)
    r = r[0] if isinstance(r, tuple) else r
    y.mul_(3)
    with ad.no_grad():
        assert (r + 0).tolist() == y.tolist()
    assert r.detach().tolist() == y.tolist() and y.grad_fn is not None and repr(r).endswith("grad_fn=<Invalid>)")
    for use in USES_OF_HISTORY:
        with pytest.raises(
            RuntimeError,
            match=r"Output 0 of Reverse is a view and its base or another view of its base has been modified inplace\. This view ",
        ):
            use(r, x)


def test_views_made_without_recording_are_outdated_by_recorded_writes():
    x = base()
    y = x * 1
    with ad.no_grad():
        view = y[:]
        beyond = view[1:]
    assert (beyond + 1).tolist() == (y[1:] + 1).tolist() and not view.requires_grad
    y.mul_(3)
    for v in (view, beyond):
        with ad.no_grad():
            assert (v + 0).tolist() == (x[-len(v) :] * 3).tolist()
        assert repr(v).endswith("grad_fn=<Invalid>)")
        for use in USES_OF_HISTORY:
            with pytest.raises(
                RuntimeError,
                match="A view was created in no_grad mode and its base or another view of its base has been modified",
            ):
                use(v, x)


def test_what_a_function_writes_does_not_outdate_its_own_views():
    class Double(Function):
        @staticmethod
        def forward(ctx, x, first):
            v = x.view_as(x)
            x.mul_(2)
            ctx.mark_dirty(x)
            return (v, x) if first else (x, v)

        @staticmethod
        def backward(ctx, g, h):
            return 2 * (g + h), None

    for first in (True, False):
        x = base()
        y, z = Double.apply(x * 1, first)
        (y + z).sum().backward()
        assert (x.grad == 4).all()


def test_writes_through_very_many_views_are_refused_before_anything_is_written():
    t = base = ad.ones(3, requires_grad=True) * 1
    for _ in range(5001):
        t = t.view(3)
    with pytest.raises(RuntimeError, match="at most 5000 views of views, got 5001"):
        t.mul_(2)
    assert base.tolist() == [1, 1, 1]


BAD_WRITES = {
    "leaf": lambda d: (lambda w: (w, lambda: w.mul_(d)))(ad.ones(3, requires_grad=True)),
    "view of a leaf": lambda d: (lambda w: (w, lambda: w[:2].mul_(d[:2])))(ad.ones(3, requires_grad=True)),
    "shape": lambda d: (lambda w: (w, lambda: w.add_(d)))(ad.ones(4)),
    "shape of a copy": lambda d: (lambda w: (w, lambda: w.copy_(d)))(ad.ones(2)),
    "rows": lambda d: (lambda w: (w, lambda: w.index_add_(0, ad.tensor([0]), d)))(ad.ones(3)),
    "position": lambda d: (lambda w: (w, lambda: w.index_add_(0, ad.tensor([5]), d[:1])))(ad.ones(3)),
    "position, in a view": lambda d: (lambda w: (w, lambda: w[1:].index_put_((ad.tensor([2]),), d[0])))(ad.ones(3)),
    "places shared": lambda d: (lambda w: (w, lambda: w.expand(2, 3).add_(d)))(ad.ones(3)),
    "type": lambda d: (lambda w: (w, lambda: w.mul_(d)))(ad.ones(3, dtype=ad.int64)),
}


@pytest.mark.parametrize("name", BAD_WRITES)
def test_a_write_that_fails_lifts_nothing(name):
    """A tensor that a deeper level may not write to stays what it was: no tangent, the same leaf, its gradient."""
    with fwad.dual_level():
        w, write = BAD_WRITES[name](fwad.make_dual(ad.ones(3), ad.full((3,), 2.0)))
        with pytest.raises((RuntimeError, IndexError)):
            write()
        assert fwad.unpack_dual(w).tangent is None and w.is_leaf and w._version == 0 and w.tolist() == [1] * len(w)
        if w.requires_grad:
            assert ad.autograd.grad((w * w).sum(), w)[0].tolist() == [2.0, 2.0, 2.0]


def test_a_write_that_fails_leaves_a_tensor_unbatched():
    def f(x):
        own = ad.ones(3)
        with pytest.raises(RuntimeError, match="result type"):
            own.add_(x.sum() * ad.ones(3, dtype=ad.complex64))
        return own.view(-1)  # one for all lanes

    assert ad.vmap(f)(ad.ones(2, 3)).tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize(("base", "view"), [(ad.int32, ad.float32), (ad.float32, ad.bfloat16), (ad.complex64, ad.float32)])
def test_a_view_as_another_type_is_written_to_without_its_base(base: ad.dtype, view: ad.dtype) -> None:
    """The base may be of a type that has no derivatives: forward mode ran into that."""

    def doubled(x: ad.Tensor) -> ad.Tensor:
        v = ad.zeros(4, dtype=base).view(view)
        assert not v._is_view()
        return v.narrow(0, 0, 2).copy_(x) * 2

    x = ad.ones(2, dtype=view)
    assert ad.func.jvp(doubled, (x,), (x,))[1].tolist() == [2, 2]
    assert ad.func.grad(lambda x: doubled(x).sum())(x).tolist() == [2, 2]
    with ad.autograd.forward_ad.dual_level():
        bits = ad.zeros(4, dtype=base).view(view)
        bits[:2].copy_(ad.autograd.forward_ad.make_dual(x, x))
        assert ad.autograd.forward_ad.unpack_dual(bits * 3).tangent[:2].tolist() == [3, 3]


def test_bits_of_a_dual_tensor_are_written_to() -> None:
    with ad.autograd.forward_ad.dual_level():
        x = ad.autograd.forward_ad.make_dual(ad.zeros(2), ad.ones(2))
        x.view(ad.int32).copy_(x)
        assert x.tolist() == [0, 0]


def test_what_requires_grad_keeps_its_size():
    x = ad.ones(3, requires_grad=True)
    for t in (x, x * 2):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            t.resize_(2)
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            t.resize_as_(t)
    assert (x * 2).detach().resize_(2).tolist() == [2, 2]


@pytest.mark.parametrize("write", [False, True])
def test_views_made_before_their_base_required_grad_take_part(write):
    x = ad.ones(2, 2)
    flat, row = x.view(4), x[0][1:]
    with ad.no_grad():
        aside = x.view(4)
    x.requires_grad_()
    if write:
        with ad.no_grad():
            x.mul_(2)
    assert flat.requires_grad and row.requires_grad and not aside.requires_grad
    ((flat**2).sum() + (row * aside[:1]).sum()).backward()
    assert x.grad.tolist() == ([[4, 6], [4, 4]] if write else [[2, 3], [2, 2]])
    with pytest.raises(
        RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place operation"
    ):
        flat.mul_(2)
    x.requires_grad_(False)
    assert not (x * 2).requires_grad


def test_views_without_dimensions_are_tensors_of_their_own():
    x = ad.ones(())
    views = x.movedim(0, -1), x.transpose(0, -1), x.squeeze(), x.t(), x.permute(())
    assert all(v is not x and v._base is x for v in views)
    assert ad.func.grad(lambda x: x.movedim(0, 0) * 2)(x).item() == 2
