"""Gradients, saved tensors and views never share memory that somebody may write to."""

import threading

import pytest

import adjoint as ad
from adjoint.autograd import Function, graph


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
def test_leaves_do_not_share_a_gradient(create_graph):
    a, b, v = ad.ones(2, requires_grad=True), ad.ones(2, requires_grad=True), ad.tensor([3.0, 4.0])
    (a + b).backward(v, create_graph=create_graph)
    with ad.no_grad():
        a.grad.zero_()
    assert b.grad.tolist() == v.tolist() == [3, 4]
    c = ad.ones(3, requires_grad=True)
    c.sum().backward(create_graph=create_graph)
    with ad.no_grad():
        c.grad[0] = 7
    assert c.grad.tolist() == [7, 1, 1]


def test_retained_gradients_are_copies():
    x, v = ad.ones(3, requires_grad=True), ad.ones(3)
    y = x * 1
    y.retain_grad()
    (y * 1).backward(v, inputs=[x, y])
    y.grad.zero_()
    assert x.grad.tolist() == v.tolist() == [1, 1, 1]
    z = x * 1
    z.retain_grad()
    z.sum().backward()
    z.grad[0] = 7
    assert z.grad.tolist() == [7, 1, 1]


@pytest.mark.parametrize("pack", [lambda t: t, lambda t: t.detach().numpy()], ids=["tensor", "array"])
def test_hooks_get_what_stood_there_before_the_write(pack):
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    with graph.saved_tensors_hooks(pack, lambda p: p if isinstance(p, ad.Tensor) else ad.from_numpy(p)):
        y.sin_()
    y.sum().backward()
    assert ad.allclose(x.grad, x.detach().cos())


def test_data_of_data_is_no_chain():
    p = ad.ones(3, requires_grad=True)
    for _ in range(200_000):
        p.data = p.data.clamp_(0, 1)
    del p


def test_needs_input_grad_that_was_assigned_is_only_told():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.needs_input_grad = (True,) * 5
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert ctx.needs_input_grad == (True,) * 5
            return g * 2

    x = ad.ones(3, requires_grad=True)
    F.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_each_thread_sees_the_gradients_that_its_own_backward_wants():
    both_in, seen = threading.Barrier(2), {}

    class F(Function):
        @staticmethod
        def forward(ctx, x, w):
            return x * w

        @staticmethod
        def backward(ctx, g):
            both_in.wait(10)
            seen[threading.current_thread().name] = ctx.needs_input_grad
            both_in.wait(10)
            return g, g

    x, w = ad.ones(2, requires_grad=True), ad.ones(2, requires_grad=True)
    y = F.apply(x, w).sum()
    threads = [
        threading.Thread(target=lambda leaf=leaf: y.backward(inputs=[leaf], retain_graph=True), name=name)
        for name, leaf in (("x", x), ("w", w))
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == {"x": (True, False), "w": (False, True)}
    assert y.grad_fn.next_functions[0][0].needs_input_grad == (True, True)


def test_create_graph_records_under_no_grad():
    x = ad.tensor(3.0, requires_grad=True)
    y = x**3
    with ad.no_grad():
        (g,) = ad.autograd.grad(y, x, create_graph=True)
    assert g.requires_grad and ad.autograd.grad(g, x)[0].item() == 18


def test_mutation_through_data_is_seen():
    with ad.autograd.graph.allow_mutation_on_saved_tensors():
        a = ad.ones(2, requires_grad=True)
        y = a * 3
        z = y * y
        y.data.mul_(2)
        z.sum().backward()
    assert a.grad.tolist() == [18.0, 18.0]


def test_a_view_of_inference_mode_is_outdated_by_a_recorded_write_to_its_base():
    a = ad.ones(3, requires_grad=True) * 1
    with ad.inference_mode():
        v = a[:2]
    a.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="A view was created in inference mode and its base .* in normal mode.* inside the inference_mode block",
    ):
        v * 2
