"""What a function sees of its lanes inside vmap."""

import pytest

import adjoint as ad
from adjoint import vmap
from adjoint.func import grad, jvp

INTEGER, SINGLE, DOUBLE = ad.int32, ad.float32, ad.float64


@pytest.mark.parametrize("other_lanes", [0, None])
@pytest.mark.parametrize("types", [(SINGLE, DOUBLE), (DOUBLE, SINGLE), (INTEGER, ad.int64), (INTEGER, SINGLE)])
@pytest.mark.parametrize("op", [ad.add, ad.mul, ad.maximum, ad.atan2, lambda a, b: ad.where(a > b, a, b)])
@pytest.mark.parametrize("shapes", [((2,), ()), ((), (2,)), ((), ())])
def test_a_lane_without_dimensions_gives_way_in_promotion(op, types, shapes, other_lanes):
    a, b = (ad.ones(shape, dtype=t) for shape, t in zip(shapes, types, strict=True))
    lanes = b.expand(3, *shapes[1]) if other_lanes == 0 else b
    found = vmap(op, (0, other_lanes))(a.expand(3, *shapes[0]), lanes)
    assert found.dtype == op(a, b).dtype


def test_view_shares_memory_or_is_an_error():
    def doubled(x):
        x.view(10).mul_(2)
        return x

    x = ad.ones(3, 2, 5)
    vmap(doubled)(x)
    assert (x == 2).all()
    apart = ad.ones(2, 3, 5)  # rows of a lane lie apart: no view has them as one dimension
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        vmap(doubled, in_dims=1)(apart)
    assert vmap(lambda x: x.reshape(10), in_dims=1)(apart).shape == (3, 10)


def test_only_tensors_have_lanes():
    with pytest.raises(ValueError, match="Got in_dim=0 for an input but the input is of type <class 'int'>"):
        vmap(ad.sum)(ad.ones(2, 3), 0)
    with pytest.raises(ValueError, match="Expected at least one Tensor to vmap over"):
        vmap(ad.sum, (None,))(ad.ones(2, 3))


def test_printed_inside_a_transform():
    seen = []

    def f(x):
        seen.append(repr(x))
        return x.sum()

    x = ad.arange(4.0).reshape(2, 2)
    vmap(grad(f))(x)
    jvp(f, (x[0],), (x[0],))
    values = "        tensor([[0., 1.],\n                [2., 3.]])"
    batch = f"    BatchedTensor(lvl=1, bdim=0, value=\n{values}\n    )"
    assert seen == [
        f"GradTrackingTensor(lvl=2, value=\n{batch}\n)",
        "GradTrackingTensor(lvl=1, value=\n    tensor([0., 1.])\n)",
    ]


def test_lanes_in_order_are_contiguous_as_they_are():
    def cleared(x):
        x.contiguous().zero_()
        return x

    assert not vmap(cleared)(ad.ones(2, 3)).any()
    assert vmap(cleared, in_dims=1)(ad.ones(2, 3)).all()  # elements of a lane lie apart: what is zeroed is a copy
    assert not vmap(vmap(cleared))(ad.ones(2, 2, 3)).any()
    assert not jvp(lambda x: cleared(x * 1), (ad.ones(2, 2),), (ad.ones(2, 2),))[1].any()


def test_detached_lanes_lie_as_they_lay():
    seen = []
    vmap(lambda x: seen.append((x.detach().is_contiguous(), x.T.detach().is_contiguous())) or x)(ad.ones(2, 3, 4))
    assert seen == [(True, False)]


def test_lanes_without_dimensions_are_transposed():
    def turned(x):
        return vmap(lambda v: v.transpose(0, -1))(x)

    assert grad(lambda x: turned(x).sum())(ad.ones(2)).tolist() == [1, 1]
    assert jvp(turned, (ad.ones(2),), (ad.ones(2),))[1].tolist() == [1, 1]


@pytest.mark.parametrize("shape, said", [((), "there is none"), ((5,), "should hold 1 lanes")])
def test_what_a_mode_answers_must_hold_the_lanes(shape, said):
    class Answers(ad.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return ad.ones(shape) if getattr(func, "__name__", "") == "narrow" else func(*args, **(kwargs or {}))

    with pytest.raises((RuntimeError, IndexError), match=said), Answers():
        vmap(lambda x: x * 2, chunk_size=1)(ad.ones(3))


def test_what_the_vmap_of_a_function_answers_must_hold_the_lanes():
    class Wrong(ad.autograd.Function):
        forward = staticmethod(lambda x: x.clone())
        setup_context = staticmethod(lambda ctx, inputs, output: None)
        vmap = staticmethod(lambda info, dims, x: (ad.ones(4, 2), 0))

    with pytest.raises(RuntimeError, match=r"dimension 0 of a tensor of shape \[4, 2\] should hold 3 lanes"):
        vmap(Wrong.apply)(ad.ones(3))
