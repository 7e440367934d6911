"""Saved tensors: versions, hooks that pack them, looking at them, writes that are allowed."""

import gc
import weakref

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import graph

PROGRAMS = {
    "input": lambda x: (x * x).sum(),
    "output": lambda x: x.exp().sum(),
    "both": lambda x: (x.tanh() ** 3 / (x + 2)).sum(),
    "matmul": lambda x: (x.reshape(2, 2) @ x.reshape(2, 2)).sum(),
    "inplace": lambda x: (x * 1).mul_(x).exp_().sum(),
}


def gradient(f):
    x = ad.tensor([0.1, 0.2, 0.3, 0.4], dtype=ad.float64, requires_grad=True)
    return autograd.grad(f(x), x)[0]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("order", [1, 2])
def test_packing_does_not_change_gradients(program, order):
    f = PROGRAMS[program]
    if order == 2:
        f = lambda x, f=f: autograd.grad(f(x), x, create_graph=True)[0].sin().sum()  # noqa: E731
    packed, unpacked = [], []
    expected = gradient(f)
    with graph.saved_tensors_hooks(
        lambda t: packed.append(1) or t.numpy().copy(), lambda a: unpacked.append(1) or ad.from_numpy(a)
    ):
        found = gradient(f)
    assert found.tolist() == expected.tolist()
    assert packed and unpacked
    with graph.save_on_cpu():
        assert gradient(f).tolist() == expected.tolist()


def test_the_innermost_hooks_win_and_do_not_see_themselves():
    seen = []
    x = ad.ones(1, requires_grad=True)
    with (
        graph.saved_tensors_hooks(lambda t: seen.append("outer") or t, lambda t: t),
        graph.saved_tensors_hooks(lambda t: seen.append("inner") or (t * 1), lambda t: t),
    ):
        _ = x.exp()
    assert seen == ["inner"]


@pytest.mark.parametrize(
    ("pack", "unpack", "error"),
    [
        (lambda t: t, lambda t: 3, TypeError),
        (lambda t: t.mul_(2), lambda t: t, RuntimeError),
        (lambda t: 1 / 0, id, ZeroDivisionError),
    ],
)
def test_wrong_hooks_are_told(pack, unpack, error):
    x = ad.ones(1, requires_grad=True)
    with pytest.raises(error), graph.saved_tensors_hooks(pack, unpack):
        x.exp().sum().backward()


def test_hooks_can_be_forbidden():
    x = ad.ones(1, requires_grad=True)
    with graph.disable_saved_tensors_hooks("no hooks here"):
        with pytest.raises(RuntimeError, match="no hooks here"), graph.saved_tensors_hooks(id, id):
            pass
        with graph.disable_saved_tensors_hooks("inner"):
            pass
        with pytest.raises(RuntimeError, match="no hooks here"), graph.save_on_cpu():
            pass
        (x * x).backward()
    with graph.save_on_cpu():
        (x * x).backward()


def test_raw_saved_tensors_take_hooks_once():
    x = ad.tensor([2.0], requires_grad=True)
    y = x.pow(2)
    saved = y.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: t * 1, lambda t: t * 10)
    with pytest.raises(RuntimeError, match="already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(TypeError):
        x.pow(3).grad_fn._raw_saved_self.register_hooks(1, 2)
    y.backward()
    assert x.grad.tolist() == [40.0]
    with pytest.raises(RuntimeError, match="freed|second time"):
        saved.register_hooks(lambda t: t, lambda t: t)


def test_saved_attributes():
    x = ad.ones(2, 3, requires_grad=True)
    assert (x**3).grad_fn._saved_exponent == 3
    assert x.exp().grad_fn._saved_result.tolist() == x.exp().tolist()
    assert (x * 2).grad_fn._saved_self is None
    assert x.sum(1, keepdim=True).grad_fn._saved_dim == (1,) and x.sum(1, keepdim=True).grad_fn._saved_keepdim
    assert (x.softmax(1).grad_fn._saved_dim, x.select(1, 2).grad_fn._saved_index, x[:, 1:].grad_fn._saved_start) == (1, 2, 1)
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = x.exp().grad_fn._saved_nothing


@pytest.mark.parametrize("name", ["relu_", "sqrt_", "exp_"])
@pytest.mark.parametrize("part", [lambda y: y, lambda y: y[0]])
def test_a_hook_that_raises_after_a_write(name, part):
    def pack(t):
        raise ValueError("no room")

    x = ad.ones(2, 3, requires_grad=True)
    y = x * 2
    with pytest.raises(ValueError, match="no room"), graph.saved_tensors_hooks(pack, lambda t: t):
        getattr(part(y), name)()
    with pytest.raises(RuntimeError, match="its result was not saved: an error"):
        y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("written", ["leaf use", "output", "view", "data"])
def test_versions(written):
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y.exp() if written == "output" else y * y
    {"leaf use": y, "output": z, "view": y[0], "data": y.data}[written].add_(1)
    if written == "data":
        z.sum().backward()  # PyTorch's back door
        return
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@pytest.mark.parametrize(
    "write", [lambda b: b.sin_(), lambda b: b[0].zero_(), lambda b: b.t().mul_(3), lambda b: b.exp_().exp_()]
)
def test_mutation_allowed(write):
    def run(between):
        a = ad.tensor([[0.5, 1.5], [2.5, 3.5]], dtype=ad.float64, requires_grad=True)
        b = a.clone()
        out = (b**2 * b.cos()).sum()
        between(b)
        out.backward()
        return a.grad.tolist()

    expected = run(lambda b: None)
    with graph.allow_mutation_on_saved_tensors():
        assert run(write) == expected
        c, w = ad.ones(2), ad.ones(2, requires_grad=True)
        y = (c * w).sum()
        c.add_(5)
        y.backward()
        assert w.grad.tolist() == [1, 1]


def test_mutation_is_over_with_the_block():
    with graph.allow_mutation_on_saved_tensors():
        a = ad.ones(2, requires_grad=True)
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
    with pytest.raises(AssertionError, match="Trying to backward outside of the"):
        out.backward()
    with graph.allow_mutation_on_saved_tensors() as kept:
        a = ad.ones(2, requires_grad=True)
        out, again = (a.clone() ** 2).sum(), (a.clone() ** 2).sum()
        with pytest.raises(RuntimeError, match="nested"), graph.allow_mutation_on_saved_tensors():
            pass
        kept.clear()
        with pytest.raises(AssertionError, match="outside"):
            out.backward()
    with pytest.raises(AssertionError, match="outside"):
        again.backward()


def test_saved_memory_goes_with_the_graph():
    x = ad.ones(3, requires_grad=True)
    held = []

    class Packed:
        def __init__(self, t):
            self.t = t
            held.append(weakref.ref(self))

    with graph.saved_tensors_hooks(Packed, lambda p: p.t):
        y = x.exp().exp()
    y.sum().backward()
    gc.collect()
    assert held and all(r() is None for r in held)


def test_hooks_that_were_not_entered_cannot_be_left():
    with pytest.raises(RuntimeError, match="saved_tensors_hooks: exited without"):
        autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__exit__(None, None, None)


def test_what_a_saved_tensor_keeps():
    x = ad.tensor(2.0, requires_grad=True)
    unpack = lambda packed: packed[0]  # noqa: E731
    with graph.saved_tensors_hooks(lambda t: [t], unpack):
        y = x**2
    z = y.exp()
    w = z**2
    hooked, output, given = y.grad_fn._raw_saved_self, z.grad_fn._raw_saved_result, w.grad_fn._raw_saved_self
    assert hooked.data[0] is x and hooked.unpack_hook is unpack and hooked.unpack() is not x
    assert output.data is not z and output.unpack_hook is None and output.data.grad_fn is None
    assert given.data is z and given.unpack() is z
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        autograd.SavedTensor()
    w.backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        given.register_hooks(id, id)


def test_hooks_on_none_and_wrong_hooks():
    class Pair(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    first, none = Pair.apply(ad.ones(2, requires_grad=True)).grad_fn._raw_saved_tensors
    assert none.unpack() is None
    with pytest.raises(RuntimeError, match="None is forbidden"):
        none.register_hooks(id, id)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        first.register_hooks(1, 1)


def test_hooks_do_not_see_numbers():
    def forbidden(t):
        raise AssertionError(t)

    x = ad.ones(3, requires_grad=True)
    with graph.saved_tensors_hooks(forbidden, forbidden):
        y = (x * 3).sum()
    assert autograd.grad(y, x)[0].tolist() == [3.0] * 3


def test_a_saved_input_that_was_detached_in_place():
    x = ad.tensor(1.0, requires_grad=True).clone()
    y, z = x.sin(), x.exp()
    x.detach_()
    z.backward()
    with pytest.raises(RuntimeError, match="Trying to use a saved tensor that has been detached"):
        y.backward()


def test_hooks_live_as_long_as_their_block_whatever_becomes_of_the_block():
    block = graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 1)
    block.__enter__()
    exits = block.__exit__
    del block
    gc.collect()
    x = ad.ones(3, requires_grad=True)
    x.exp().sum().backward()
    exits()
    assert x.grad.tolist() == pytest.approx([2.718281828] * 3)


@pytest.mark.parametrize("change", ["enter", "exit"])
def test_hooks_that_backward_enters_or_leaves_are_as_before_when_it_ends(change):
    packed = []

    def pack(t):
        packed.append(1)
        return t

    def unpack(t):
        block.__enter__() if change == "enter" else block.__exit__()
        return t

    block = graph.saved_tensors_hooks(pack, unpack)
    x = ad.ones(3, requires_grad=True)
    with block:
        x.sin().sum().backward()
        x.sin()
    assert len(packed) == 2
    x.sin()
    assert len(packed) == 2


def test_the_error_of_an_overwritten_tensor_says_which_output_it_is():
    x = ad.ones(2, requires_grad=True)
    for y, writes in ((x + 1, "AddBackward0"), (x.exp(), "AddBackward0")):
        z = y * y
        y.add_(1)
        with pytest.raises(
            RuntimeError, match=rf"\[float32 \[2\]\], which is output 0 of {writes}, saved by MulBackward0 .*is at version 1"
        ):
            z.sum().backward()
    y = x.exp()
    with ad.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="which is output 0 of ExpBackward0, saved by ExpBackward0"):
        y.sum().backward()


def test_other_memory_under_a_saved_tensor_is_told_and_may_come_back():
    def program(restore):
        w = ad.tensor([1.0, 2.0], requires_grad=True)
        w.detach().add_(0)
        y, before, version = (w * w).sum(), w.data, w._version
        w.data = ad.tensor([5.0, 6.0])
        assert w._version == version
        if restore:
            w.data = before
        y.backward()
        return w.grad.tolist()

    assert program(True) == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="has other memory now"):
        program(False)


def test_a_hook_that_raises_leaves_no_cycle():
    outputs = []

    class Saves(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            ctx.save_for_backward(y)
            outputs.append(weakref.ref(y))
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    def refuse(t):
        raise KeyError("no")

    gc.disable()
    try:
        with graph.saved_tensors_hooks(refuse, refuse), pytest.raises(KeyError):
            Saves.apply(ad.ones(2, requires_grad=True))
        assert outputs[0]() is None
    finally:
        gc.enable()


def test_saved_tensors_are_copied_once_whatever_saved_them() -> None:
    with ad.autograd.graph.allow_mutation_on_saved_tensors() as kept:
        a = ad.randn(3, requires_grad=True)
        b = a.clone()
        ys = [b**2, b**2]
        assert len(kept.tid_to_weakhandle) == 1 and len(kept.cloned) == 0
        b.sin_()
        assert len(kept.cloned) == 1
        ys.append(b**2)
        b.sin_()
        assert len(kept.cloned) == 2
        before = a.detach()
        (grad,) = ad.autograd.grad(ys[0].sum() + ys[1].sum() + ys[2].sum(), a)
        assert ad.allclose(grad, 4 * before + 2 * before.sin() * before.cos())
        ys.clear()
        assert len(kept.cloned) == 0


def test_shape_of_inference_tensors_is_theirs_outside_too() -> None:
    with ad.inference_mode():
        x = ad.ones(1, 2)
        x.t_()
    for change in (ad.Tensor.t_, lambda x: x.unsqueeze_(0), lambda x: x.add_(1)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            change(x)
    assert x.shape == (2, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ad.add(x, x, alpha=2),
        lambda x: ad.sub(ad.ones(2, 2), x, alpha=2),
        lambda x: x.lerp(ad.ones(2, 2), 0.3),
        lambda x: ad.ones(2, 2).mul_(3).add_(x, alpha=0.5),
        lambda x: ad.addr(x, ad.ones(2), ad.ones(2), beta=3),
    ],
)
def test_numbers_are_not_freed(call):
    x = ad.ones(2, 2, requires_grad=True)
    y = call(x).sum()
    y.backward()
    once = x.grad.clone()
    y.backward()
    assert ad.equal(x.grad, once * 2)
