"""Corners of hooks, Functions, views and modes that PyTorch's users rely on; each was tried there."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

Function = ad.autograd.Function


def leaf(*values: float) -> Any:
    return ad.tensor(values, dtype=ad.float64, requires_grad=True)


def function(forward: Callable[..., Any], backward: Callable[..., Any], **more: Any) -> type[Function]:
    members = {"forward": forward, "backward": backward, **more}
    return type("Made", (Function,), {k: staticmethod(v) for k, v in members.items()})


# ---- hooks


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (
            lambda gi: (gi[0],) * 4,
            RuntimeError,
            r"hook '<lambda>' has returned an incorrect number of values \(got 4, but expected 2\)",
        ),
        (lambda gi: 5, TypeError, "expected tuple, but hook returned 'int'"),
        (lambda gi: gi[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (lambda gi: (5, None), TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
def test_what_hooks_of_nodes_return(result: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    y = leaf(1.0) * 2
    y.grad_fn.register_hook(lambda gi, go: result(gi))
    with pytest.raises(error, match=text):
        y.backward()


def test_prehooks_return_tuples() -> None:
    x = leaf(1.0)
    y = x * 2
    handle = y.grad_fn.register_prehook(lambda go: go[0] * 10)
    with pytest.raises(TypeError, match="expected tuple"):
        y.backward(retain_graph=True)
    handle.remove()
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    assert x.grad.item() == 20


def test_messages_name_the_hook() -> None:
    x = leaf(1.0, 2.0)

    def narrow(g: Any) -> Any:
        return g.float()

    x.register_hook(narrow)
    with pytest.raises(RuntimeError, match="hook 'narrow' has changed the type of value"):
        x.sum().backward()


def test_gradients_of_one_node_reach_leaves_in_order() -> None:
    seen: list[str] = []
    x, y = leaf(1.0), leaf(2.0)
    for name, t in (("x", x), ("y", y)):
        t.register_hook(lambda g, name=name: seen.append(name))
    (x * y).backward()
    assert seen == ["x", "y"]


def test_pack_hooks_see_the_tensor_itself() -> None:
    x = leaf(3.0)
    seen: list[Any] = []
    with ad.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        y = x.sin() * 2
        x.exp()
    assert seen[0].requires_grad and not seen[-1].requires_grad, "an input with its history, an output without"
    y.backward()
    assert x.grad.item() == pytest.approx(2 * np.cos(3.0))


def test_callbacks_at_the_end_of_backward() -> None:
    engine = ad.autograd.Variable._execution_engine
    log: list[str] = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(lambda: log.append("end")) or log.append("y"))
    x.register_hook(lambda g: log.append("x"))
    y.backward(retain_graph=True)
    assert log == ["y", "x", "end"]
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    (leaf(1.0) * 2).backward()
    assert log == ["y", "x", "end", "y", "x"], "after an error, callbacks are dropped"
    with pytest.raises(RuntimeError, match="during backward pass"):
        engine.queue_callback(lambda: None)
    z = leaf(1.0)
    assert engine.run_backward((z * 3,), (None,), False, False, (z,))[0].item() == 3


def test_metadata_of_cotangents() -> None:
    x = leaf(1.0, 2.0)
    (meta,) = (x.float() > 0).float().mul(x).sum(0, keepdim=True).grad_fn._input_metadata
    assert (meta.shape, meta.dtype) == ((1,), ad.float64)
    two = function(lambda ctx, x: (x * 2, x.sum()), lambda ctx, g, h: g)
    assert [m.shape for m in two.apply(x)[0].grad_fn._input_metadata] == [(2,), ()]


# ---- custom Functions


def test_none_as_output() -> None:
    assert function(lambda ctx, x: None, lambda ctx, g: g).apply(leaf(1.0)) is None


def test_views_of_several_outputs_may_not_be_written() -> None:
    halves = function(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: ad.cat([g, h]))
    a, _ = halves.apply(leaf(1.0, 2.0) * 1)
    with pytest.raises(RuntimeError, match="Output 0 of Made is a view .* returns multiple views"):
        a.add_(1)
    b = function(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(leaf(1.0, 2.0) * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        b.add_(1)


@pytest.mark.parametrize(
    ("result", "text"),
    [(lambda t: (t, t), "invalid number of forward gradients"), (lambda t: ad.ones(2), "different size than that")],
)
def test_bad_tangents(result: Callable[[Any], Any], text: str) -> None:
    f = function(lambda ctx, x: x * 2, lambda ctx, g: g, jvp=lambda ctx, t: result(t))
    with ad.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match=text):
        f.apply(ad.autograd.forward_ad.make_dual(ad.ones(()), ad.ones(())))


def test_vmap_returns_two_things() -> None:
    f = function(lambda x: x * 2, lambda ctx, g: g, setup_context=lambda ctx, i, o: None, vmap=lambda info, dims, x: x * 2)
    with pytest.raises(RuntimeError, match="two returns"):
        ad.vmap(f.apply)(ad.ones(2))


def test_what_is_no_tensor_cannot_be_saved() -> None:
    f = function(lambda ctx, x: ctx.save_for_backward(x, 3) or x * 2, lambda ctx, g: g)
    with pytest.raises(TypeError, match="argument 1 is of type int"):
        f.apply(leaf(1.0))


# ---- views, versions, modes


@pytest.mark.parametrize("mode", [ad.no_grad, ad.inference_mode])
def test_writes_through_views_made_without_recording(mode: Callable[[], Any]) -> None:
    x = leaf(1.0, 2.0) * 1
    with mode():
        v = x[:1]
        v.add_(1)
    assert x.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="mode and is being modified inplace"):
        v.add_(1)
    with ad.no_grad():
        v.add_(1)
    assert x.tolist() == [3.0, 2.0]


def test_unfold_is_a_view() -> None:
    x = ad.arange(6.0, dtype=ad.float64, requires_grad=True)
    y = x * 1
    v = y.unfold(0, 2, 2)
    assert v._base is y and v.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    v.mul_(ad.tensor([[1.0], [2.0], [3.0]]))
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert ad.tensor(1.0).unfold(0, 1, 1).tolist() == [1.0] and ad.ones(3).unfold(0, 0, 1).shape == (4, 0)
    assert ad.autograd.gradcheck(lambda x: x.unfold(-1, 3, 1), ad.rand(2, 5, dtype=ad.float64, requires_grad=True))
    assert ad.autograd.gradgradcheck(lambda x: x.unfold(0, 2, 3) ** 2, ad.rand(6, 2, dtype=ad.float64, requires_grad=True))


def test_set_counts_as_a_write() -> None:
    x = leaf(1.0, 2.0) * 1
    y = x * x
    source = ad.ones(2, dtype=ad.float64)
    with ad.no_grad():
        x.set_(source)
    assert x._version == 1 and source._version == 0 and x.data_ptr() == source.data_ptr()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_as_strided_of_any_layout() -> None:
    def grad(x: Any, *geometry: Any) -> Any:
        y = x.as_strided(*geometry)
        weight = ad.arange(1.0, 1.0 + y.numel(), dtype=ad.float64).reshape(y.shape)
        return ad.autograd.grad((y * weight).sum(), x)[0].tolist()

    base = ad.arange(10.0, dtype=ad.float64)
    assert grad(base[2:8].detach().requires_grad_(), (3,), (2,), 3) == [0.0, 1.0, 0.0, 2.0, 0.0, 3.0]
    turned = base[:6].view(2, 3).t().detach().requires_grad_()
    assert grad(turned, (3,), (2,), 1) == [[0.0, 2.0], [1.0, 0.0], [0.0, 3.0]]
    repeated = ad.ones(1, dtype=ad.float64).expand(3).detach().requires_grad_()
    assert grad(repeated, (2,), (0,), 0) == [1.0, 1.0, 1.0], "elements of one place share"
    assert grad(base[:4].detach().requires_grad_(), (3, 2), (1, 1)) == [1.0, 5.0, 9.0, 6.0]
    x = leaf(*range(6))
    assert ad.autograd.grad(x[1:4].as_strided((2,), (1,), 3).sum(), x)[0].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    assert ad.autograd.gradgradcheck(
        lambda x: x.t().as_strided((2, 2), (1, 2), 1) ** 2, ad.rand(2, 3, dtype=ad.float64, requires_grad=True)
    )


def test_versions_may_be_preserved() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    with ad.autograd._unsafe_preserve_version_counter(y):
        y.add_(1)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]) + 1)


def test_pickles_of_results_require_grad() -> None:
    y = pickle.loads(pickle.dumps(leaf(1.0) * 2))
    assert y.requires_grad and y.is_leaf


def test_classes_may_be_decorated_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match="Decorating classes"):

        @ad.no_grad()
        class Made:
            def __init__(self) -> None:
                self.enabled = ad.is_grad_enabled()

    assert not Made().enabled


# ---- operations


def test_bools_do_not_subtract() -> None:
    mask = ad.tensor([True, False])
    for call in (lambda: mask - mask, lambda: mask - 1, lambda: 1 - mask, lambda: ad.ones(2) - mask, lambda: ad.ones(2) - True):
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with"):
            call()
    assert ad.pow(mask, True).tolist() == [True, False] and ad.pow(mask, False).tolist() == [True, True]


def test_shapes_without_dimensions() -> None:
    x = ad.tensor(1.0)
    assert x.movedim(0, -1).shape == () and x.roll(1).item() == 1
    with pytest.raises(IndexError, match="tensor has no dimensions"):
        x.roll(1, 0)
    with pytest.raises(RuntimeError, match="permute"):
        x.permute(0)


def test_contracted_dimensions_of_size_one_broadcast() -> None:
    assert ad.tensordot(ad.ones(2, 1), ad.ones(3, 4), dims=([1], [0])).tolist() == [[3.0] * 4] * 2
    assert ad.tensordot(ad.ones(2, 3), ad.ones(1, 4), dims=1).tolist() == [[3.0] * 4] * 2


def test_index_copy_names_itself() -> None:
    with pytest.raises(RuntimeError, match="^index_copy: Number of indices"):
        ad.ones(3).index_copy(0, ad.tensor([0, 1]), ad.ones(3))


def test_what_nodes_keep() -> None:
    x = ad.ones(2, 3, dtype=ad.float64, requires_grad=True)
    at = ad.tensor([0, 1])
    node = x[:, at].grad_fn
    assert node._saved_indices[0] is None and node._saved_indices[1].tolist() == [0, 1]
    assert node._saved_self_sym_sizes == (2, 3) and node._raw_saved_indices[1] is not None
    node = x.as_strided((2,), (1,), 1).grad_fn
    assert (node._saved_size, node._saved_stride, node._saved_storage_offset) == ((2,), (1,), 1)


def test_nodes_have_edges_for_tensors() -> None:
    x = leaf(3.0)
    assert len((x**2).grad_fn.next_functions) == 1 and len((x * 2).grad_fn.next_functions) == 2
    assert len(ad.pow(x, x).grad_fn.next_functions) == 2
    assert (x**2).grad_fn(ad.ones(1, dtype=ad.float64)).item() == 6
    assert (x * 2).grad_fn(ad.ones(1, dtype=ad.float64))[1] is None
    seen = []
    masked = ad.where(x > 0, x, x.exp())
    masked.grad_fn.register_hook(lambda grads, cotangents: seen.append(len(grads)))
    masked.backward()
    for y, edges in ((masked, 2), (ad.ones(3).masked_fill(ad.ones(3) > 0, x[0]), 2), (x.expand(3)[ad.tensor([0, 2])], 1)):
        assert len(y.grad_fn.next_functions) == edges and y.grad_fn.next_functions[-1][0] is not None
    assert seen == [2] and masked.grad_fn.next_functions[0][0].variable is x
    for arguments in ((), (1, 2), ("one",)):
        with pytest.raises(TypeError, match="expected 1 arguments|not a Variable"):
            x.exp().grad_fn(*arguments)


NAMES: dict[str, Callable[[Any], Any]] = {
    "Log1PBackward0": lambda x: x.log1p(),
    "Rad2DegBackward0": lambda x: x.rad2deg(),
    "Expm1Backward0": lambda x: x.expm1(),
    "Atan2Backward0": lambda x: ad.atan2(x, x),
    "PowBackward0": lambda x: x.square(),
    "ClampBackward1": lambda x: x.clamp(0, 1),
    "ClampMinBackward0": lambda x: x.clamp_min(0),
    "MaskedFillBackward0": lambda x: x.masked_fill(x > 1, 0.0),
    "RemainderBackward0": lambda x: x % 2,
    "RemainderBackward1": lambda x: x % x,
    "NativeLayerNormBackward0": lambda x: ad.nn.functional.layer_norm(x, (2,)),
    "LogSigmoidBackward0": lambda x: ad.nn.functional.logsigmoid(x),
    "UnfoldBackward0": lambda x: x.unfold(0, 1, 1),
    "MaxPool2DWithIndicesBackward0": lambda x: ad.nn.functional.max_pool2d(x.reshape(1, 1, 1, 2), 1),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_nodes(name: str) -> None:
    assert NAMES[name](leaf(1.0, 2.0)).grad_fn.name() == name


def test_gradients_for_more_outputs_than_there_are_go_unread() -> None:
    x = leaf(1.0, 2.0)
    ad.autograd.backward([(x * 2).sum()], [None, None])
    assert x.grad.tolist() == [2.0, 2.0]
    assert ad.autograd.grad((x * 2).sum(), x, (ad.tensor(3.0), None))[0].tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        ad.autograd.grad([x.sum(), x.sum()], x, [None])


@pytest.mark.parametrize(
    "sizes, key", [((0, 3), [0]), ((3, 0), (slice(5, None), [0, 0])), ((0, 0), ad.tensor([0])), ((0, 2, 0), ([0, 0],))]
)
def test_positions_along_a_dimension_of_no_element(sizes, key):
    x = ad.zeros(sizes)
    with pytest.raises(IndexError, match="out of bounds for dimension . with size 0"):
        x[key]
    with pytest.raises(IndexError, match="out of bounds for dimension . with size 0"):
        x[key] = 1.0


def test_no_element_is_assigned_under_false():
    x = ad.zeros(2)
    x[False] = ad.ones(3)
    assert x.tolist() == [0, 0]


def test_copies_that_asarray_makes_keep_their_history() -> None:
    x = leaf(1.0, 2.0)
    y = ad.asarray(x * 2, copy=True, dtype=ad.float64)
    assert y.dtype is ad.float64 and ad.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "name", ["eq_", "ne_", "lt_", "le_", "gt_", "ge_", "logical_and_", "logical_or_", "logical_xor_", "logical_not_"]
)
@pytest.mark.parametrize("of_view", [False, True])
def test_what_a_comparison_writes_has_no_slope(name, of_view):
    def written(x):
        y = x * 3
        getattr(y[:] if of_view else y, name)(*([] if name == "logical_not_" else [ad.ones(3)]))
        return y * ad.tensor([1.0, 2.0, 3.0])

    x = ad.tensor([0.5, 1.0, 2.0], requires_grad=True)
    expected = getattr(ad, name[:-1])(x * 3, *([] if name == "logical_not_" else [ad.ones(3)]))
    y = written(x)
    assert y.requires_grad and y.equal(expected * ad.tensor([1.0, 2.0, 3.0]))
    assert ad.autograd.grad(y.sum(), x)[0].tolist() == [0, 0, 0]
    assert ad.func.grad(lambda x: written(x).sum())(x.detach()).tolist() == [0, 0, 0]
    assert ad.func.jvp(written, (x.detach(),), (ad.ones(3),))[1].tolist() == [0, 0, 0]
    assert ad.func.vmap(ad.func.grad(lambda x: written(x).sum()))(ad.stack([x.detach()] * 2)).abs().sum() == 0
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(x, name)(*([] if name == "logical_not_" else [1]))


def test_real_coefficients_need_no_conjugates() -> None:
    x, y = (ad.randn(5, dtype=ad.complex64, requires_grad=True) for _ in range(2))
    v, real = ad.randn(5, dtype=ad.complex64), ad.randn(5)
    for at, g in enumerate(ad.autograd.grad(x + y, [x, y], v)):
        assert g.data_ptr() == v.data_ptr(), at
    with ad.profiler.profile() as seen:
        found = ad.autograd.grad(x * real - y * 2.0, [x, y], v)
    assert "conj" not in str(seen.key_averages())
    assert found[0].equal(v * real) and found[1].equal(-2 * v)
    assert ad.autograd.grad(x * 2j, x, v)[0].equal(v * -2j)
    assert ad.autograd.grad(ad.add(x, y, alpha=3j), y, v)[0].equal(v * -3j)
