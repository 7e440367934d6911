"""The few names of PyTorch's private modules that tools reach for."""

import pytest

import adjoint as ad
from adjoint import _C
from adjoint.autograd import forward_ad


def leaf(*values):
    return ad.tensor(values or (1.0, 2.0), requires_grad=True)


def test_the_order_of_a_backward_can_be_asked_for():
    x, predicted, ran = leaf(), [], []
    a, b = x.sin(), x.cos()
    y = (a * b).sum()
    y.register_hook(lambda g: predicted.append([n.name() for n in _C._current_graph_task_execution_order()]))
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0], a.grad_fn, b.grad_fn):
        node.register_hook(lambda gi, go, node=node: ran.append(node.name()))
    with ad.autograd.set_multithreading_enabled(False):
        y.backward(retain_graph=True)
        assert predicted == [
            ["SumBackward0", "MulBackward0", "CosBackward0", "SinBackward0", "torch::autograd::AccumulateGrad"]
        ]
        assert ran == predicted[0][:-1]
        a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
        y.backward(retain_graph=True)
        assert predicted[1] == [
            "SumBackward0",
            "MulBackward0",
            "SinBackward0",
            "CosBackward0",
            "torch::autograd::AccumulateGrad",
        ]
        ad.autograd.grad(y, b)
        assert predicted[2] == ["SumBackward0", "MulBackward0", "CosBackward0"]
    with pytest.raises(RuntimeError, match="with multithreading disabled"):
        y.backward(retain_graph=True)
    for ask in (_C._current_graph_task_execution_order, lambda: _C._will_engine_execute_node(y.grad_fn)):
        with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
            ask()


def test_forward_mode_can_be_switched_off():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(ad.ones(2), ad.ones(2))
        with forward_ad._set_fwd_grad_enabled(False):
            y = x * 2
            assert not _C._is_fwd_grad_enabled() and not forward_ad._is_fwd_grad_enabled()
            assert forward_ad.unpack_dual(x).tangent is None and forward_ad.unpack_dual(y).tangent is None
        assert forward_ad.unpack_dual(y).tangent is None
        assert forward_ad.unpack_dual(x * 2).tangent.tolist() == [2.0, 2.0]
    _C._set_fwd_grad_enabled(True)


def test_view_replay_is_a_flag():
    assert not ad.autograd.is_view_replay_enabled()
    with ad.autograd._force_original_view_tracking(True):
        assert ad.autograd.is_view_replay_enabled()
    assert not ad.autograd.is_view_replay_enabled()


def test_hooks_of_a_tensor_as_a_dict():
    x = leaf()
    assert x._backward_hooks is None
    handle = x.register_hook(lambda g: g * 2)
    assert len(x._backward_hooks) == 1
    handle.remove()
    assert x._backward_hooks is None
    x.register_hook(lambda g: g * 3)
    x._backward_hooks = {0: lambda g: g * 5}  # instead of it
    x.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_handles_of_dicts():
    first, second = {}, {}
    handle = ad.utils.hooks.RemovableHandle(first, extra_dict=second)
    other = ad.utils.hooks.RemovableHandle(first)
    first[handle.id] = second[handle.id] = first[other.id] = print
    handle.remove()
    handle.remove()
    assert not second and list(first) == [other.id]
    with other:
        assert first
    assert not first
    assert isinstance(leaf().register_hook(print), ad.utils.hooks.RemovableHandle)


def test_types_and_references():
    x = leaf()
    node = ad.autograd.graph.get_gradient_edge(x).node
    assert type(node) is _C._functions.AccumulateGrad
    assert isinstance((x * x).grad_fn._raw_saved_self, ad.autograd.SavedTensor)
    assert _C._autograd.SavedTensor is ad.autograd.SavedTensor
    reference = _C._WeakTensorRef(x)
    assert reference() is x and not reference.expired()
    del x, node
    assert reference.expired()


def test_the_accelerator_is_the_gpu():
    found = ad.accelerator.current_accelerator()
    assert (found is not None) == ad.cuda.is_available() == ad.accelerator.is_available()


def test_the_engine_by_its_old_name():
    engine = ad.autograd.Variable._execution_engine
    x, unused = leaf(), leaf()
    y = (x * x).sum()
    edges = [ad.autograd.graph.get_gradient_edge(t) for t in (y, x)]
    (found,) = engine.run_backward(edges[:1], (ad.tensor(1.0),), True, False, edges[1:])
    assert found.tolist() == [2.0, 4.0]
    assert engine.run_backward((y,), (None,), True, False, (unused,), allow_unreachable=True) == (None,)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 0 appears to not have been used"):
        engine.run_backward((y,), (None,), True, False, (unused,))
    assert engine.run_backward((y,), (None,), True, False, accumulate_grad=True) is None and x.grad.tolist() == [2.0, 4.0]


def test_versions_can_be_set():
    x, y = ad.ones(2), ad.ones(2)
    _C._autograd._unsafe_set_version_counter((x, y), (3, 5))
    assert (x._version, y._version) == (3, 5)
    with pytest.raises(RuntimeError, match="Cannot set a version_counter to a value below 0: -1"):
        _C._autograd._unsafe_set_version_counter((x,), (-1,))


def test_what_may_be_asked_of_a_backward_is_a_node():
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got Tensor"):
        _C._will_engine_execute_node(leaf())


def test_what_stands_before_an_error_or_an_absent_gradient():
    x, y = leaf(), leaf()
    safe = _C._functions.DelayedError("boom", 1)(y)
    out = x.clone()
    out[:] += safe  # through a view: the node of the write runs only what is asked for
    assert ad.autograd.grad(out.sum(), (x, safe), retain_graph=True)[1].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="boom"):
        ad.autograd.grad(out.sum(), y)
    first, second = _C._functions.DelayedError("boom", 2)(x, y)
    assert first.tolist() == x.tolist() and second.grad_fn is first.grad_fn
    with pytest.raises(RuntimeError, match="expected 2 tensors, got 1"):
        _C._functions.DelayedError("boom", 2)(x)
    a, b = _C._functions.UndefinedGrad()(x, y)
    (a + b).sum().backward()
    assert x.grad is None and y.grad is None
