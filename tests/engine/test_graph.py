"""The graph from outside: nodes, edges, options of backward, and who keeps whom alive."""

import gc
import subprocess
import sys
import weakref

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import graph


def leaf(*values):
    return ad.tensor(values or (1.0, 2.0), requires_grad=True)


def walk(node):
    seen, queue = [], [node]
    while queue:
        n = queue.pop()
        if n is not None and n not in seen:
            seen.append(n)
            queue += [m for m, _ in n.next_functions]
    return seen


def test_the_graph_can_be_walked():
    x = leaf()
    names = [n.name() for n in walk(((x * 2).exp() + x).sum().grad_fn)]
    assert sorted(names) == ["AddBackward0", "ExpBackward0", "MulBackward0", "SumBackward0", "torch::autograd::AccumulateGrad"]
    accumulate = graph.get_gradient_edge(x).node
    assert accumulate.variable is x and accumulate.next_functions == () and accumulate.requires_grad


def test_nodes_can_be_called():
    x = leaf(3.0)
    y = x * x * 2
    by_hand = [ad.ones(1)]
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        by_hand.append(node(by_hand[-1])[0])
    assert by_hand[1].tolist() == [2.0] and by_hand[2].tolist() == [6.0]
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn.next_functions[0][0](ad.ones(1))
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        x.exp().grad_fn(ad.ones(1), ad.ones(1))


def test_edges_stand_for_tensors():
    x = leaf()
    y = x.exp()
    edge = graph.get_gradient_edge(y)
    assert edge._fields == ("node", "output_nr", "ownership_token") and edge.node is y.grad_fn
    z = (y * 3).sum()
    del y
    (g,) = autograd.grad(z, edge, retain_graph=True)
    assert g.tolist() == [3.0, 3.0]
    assert autograd.grad(edge, x, grad_outputs=g)[0].tolist() == pytest.approx((3 * x.exp()).tolist())
    with pytest.raises(RuntimeError, match="does not require grad"):
        graph.get_gradient_edge(ad.ones(1))


def test_metadata_belongs_to_the_node():
    y = leaf() * 2
    y.grad_fn.metadata["name"] = "mine"
    gc.collect()
    assert y.grad_fn.metadata == {"name": "mine"}


@pytest.mark.parametrize("call", [lambda y, x: y.sum().backward(), lambda y, x: autograd.grad(y.sum(), x)])
def test_a_graph_is_freed_once_used(call):
    x = leaf()
    y = x.exp()
    call(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        call(y, x)
    z = x + 2  # saves nothing that could be freed
    call(z, x)
    call(z, x)


def test_old_arguments():
    x = leaf()
    with pytest.warns(FutureWarning, match="grad_variables"):
        autograd.backward(x * 2, grad_variables=ad.ones(2))
    with pytest.warns(FutureWarning, match="only_inputs"):
        assert autograd.grad((x * 2).sum(), x, only_inputs=False)[0].tolist() == [2.0, 2.0]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        autograd.backward(x * 2, ad.ones(2), grad_variables=ad.ones(2))
    ad.set_warn_always(True)
    for _ in range(2):
        with pytest.warns(UserWarning, match="reference cycle"):
            (x * x).sum().backward(create_graph=True)
        assert x.grad.requires_grad
        x.grad = None
    ad.set_warn_always(False)
    (x * x).sum().backward(create_graph=True)  # it has been given
    x.grad = None
    assert not ad.is_warn_always_enabled()
    with pytest.raises(TypeError, match="expects a bool, but got int"):
        ad.set_warn_always(1)


def test_gradients_of_non_leaves():
    y = leaf() * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert y.grad is None
    y.retain_grad()
    y.sum().backward()
    assert y.retains_grad and y.grad.tolist() == [1.0, 1.0]
    assert leaf().grad is None and ad.ones(1).grad is None


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, None])
def test_grad_dtype(dtype):
    p = ad.ones(2, dtype=ad.float32).requires_grad_()
    assert p.grad_dtype == ad.float32
    p.grad_dtype = dtype
    (p * 2).sum().backward()
    assert p.grad_dtype == dtype and p.grad.dtype == (dtype or ad.float32)
    p.grad = None
    if dtype is None:
        p.grad = ad.ones(2, dtype=ad.float16)
    else:
        with pytest.raises(RuntimeError, match="different type"):
            p.grad = ad.ones(2, dtype=ad.float16)
    with pytest.raises(RuntimeError, match="leaf"):
        _ = (p * 2).grad_dtype


def test_variables_of_old():
    x = leaf()
    v = autograd.Variable(x * 2, requires_grad=True)
    assert type(v) is ad.Tensor and v.is_leaf and v.requires_grad and isinstance(x, autograd.Variable)
    assert not autograd.Variable(x).requires_grad
    with pytest.raises(TypeError, match="Variable"):
        autograd.Variable(3)


@pytest.mark.parametrize("make", [lambda x: x.exp(), lambda x: x.unbind()[0], lambda x: (x * 1)[:1].mul_(2)])
def test_graphs_die_with_their_tensors(make):
    x = leaf()
    y = make(x)
    ref = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert ref() is None


def test_cycles_through_python_are_collected():
    x = leaf()
    y = x * 2
    y.register_hook(lambda g, y=y: None)
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize(
    "name", ["anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "gradcheck", "graph", "profiler", "variable"]
)
def test_modules_can_be_imported_by_path(name):
    run = subprocess.run(
        [sys.executable, "-c", f"from importlib import import_module as i; print(i('adjoint.autograd.{name}'))"],
        capture_output=True,
        text=True,
    )
    assert run.stderr == "" and run.stdout.startswith("<module")


def test_deep_graphs_do_not_recurse():
    x = leaf(1.0)
    y = x
    for _ in range(50_000):
        y = y * 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]


def test_gradient_edges_take_the_place_of_tensors_on_both_sides():
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = x.sin().sum()
    edge = autograd.graph.get_gradient_edge(y)
    expected = autograd.grad(x.sin().sum(), x)[0].tolist()
    assert autograd.grad(edge, x, retain_graph=True)[0].tolist() == expected
    autograd.backward((edge,), retain_graph=True)
    assert x.grad.tolist() == expected
    for given, message in (
        (ad.ones(3), r"Mismatch in shape: grad_output\[0\] has a shape of adjoint.Size\(\[3\]\) and output\[0\]"),
        (ad.ones((), dtype=ad.complex64), "required to have the same dtype. Mismatch in dtype"),
    ):
        with pytest.raises(RuntimeError, match=message):
            autograd.grad(edge, x, given, retain_graph=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        autograd.grad(autograd.graph.get_gradient_edge(x.sin()), x)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        autograd.grad(y, autograd.graph.get_gradient_edge(x * 2), materialize_grads=True)


@pytest.mark.parametrize("create_graph", [False, True])
def test_zeros_in_place_of_none_can_be_differentiated_like_other_gradients(create_graph):
    x, unused = ad.ones(2, requires_grad=True), ad.ones(2, requires_grad=True)
    found = autograd.grad((x**2).sum(), (x, unused), materialize_grads=True, create_graph=create_graph)
    assert [g.requires_grad for g in found] == [create_graph] * 2
    assert found[1].tolist() == [0, 0]


def test_lanes_of_batched_gradients_have_the_shape_of_their_output():
    x = ad.ones(2, 3, requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"If `is_grads_batched=True`, .* grad_output\[0\] has a shape of adjoint.Size\(\[2, 3\]\)"
    ):
        autograd.grad(x * 2, x, ad.ones(2, 3), is_grads_batched=True)


def test_gradients_are_tensors():
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None but got grad of type int"):
        ad.ones(2).grad = 0


@pytest.mark.parametrize("freeze", [lambda p: p.requires_grad_(False), lambda p: p.detach_()])
def test_leaves_that_were_frozen_since_get_no_gradient(freeze):
    p, q, seen = leaf(), leaf(), []
    p.register_post_accumulate_grad_hook(seen.append)
    y = (p * q).sum()
    freeze(p)
    y.backward(retain_graph=True)
    assert p.grad is None and q.grad is not None
    p.requires_grad_()
    y.backward()
    assert p.grad.tolist() == q.tolist() and len(seen) == 2  # its hooks run all the same


def test_batched_cotangents_meet_callbacks_and_edges():
    x = ad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y, ran = x * x, []
    y.register_hook(lambda g: autograd.Variable._execution_engine.queue_callback(lambda: ran.append(tuple(g.shape))))
    edges = autograd.graph.get_gradient_edge(x), autograd.graph.get_gradient_edge(y)
    for inputs, outputs in [(x, y), (edges[0], y), (x, edges[1]), edges]:
        (found,) = autograd.grad(outputs, inputs, ad.eye(3), is_grads_batched=True, retain_graph=True)
        assert found.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert ran == [(3,)] * 4
    with pytest.raises(RuntimeError, match="a mismatch was detected"):
        autograd.grad(edges[1], x, ad.ones(3, 2), is_grads_batched=True)


@pytest.mark.parametrize("form", ["pow", "square"])
def test_high_derivatives_of_a_square_are_zero_not_absent(form):
    x, t = ad.tensor([2.0, 3.0], requires_grad=True), ad.ones(2, requires_grad=True)
    y = (x**2 if form == "pow" else x.square()) * t
    for expected in ([4.0, 6.0], [2.0, 2.0], [0.0, 0.0]):
        (y,) = ad.autograd.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == expected
    assert not y.requires_grad
    (once,) = ad.autograd.grad((x**1).sum(), x, create_graph=True)
    assert ad.autograd.grad(once.sum(), x)[0].tolist() == [0.0, 0.0]
