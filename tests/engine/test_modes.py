"""Modes: what is recorded, inference tensors, switches, and how modes nest and decorate."""

import threading

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint.autograd import forward_ad

GRAD_MODES = [
    ad.no_grad,
    ad.enable_grad,
    lambda: ad.set_grad_enabled(False),
    lambda: ad.set_grad_enabled(True),
    ad.inference_mode,
]


@pytest.mark.parametrize("outer", GRAD_MODES)
@pytest.mark.parametrize("inner", GRAD_MODES)
def test_leaving_a_mode_restores_the_one_before(outer, inner):
    states = []
    with outer():
        states.append((ad.is_grad_enabled(), ad.is_inference_mode_enabled()))
        with pytest.raises(KeyError), inner():
            raise KeyError
        states.append((ad.is_grad_enabled(), ad.is_inference_mode_enabled()))
    assert states[0] == states[1]
    assert ad.is_grad_enabled() and not ad.is_inference_mode_enabled()


@pytest.mark.parametrize("make", [ad.no_grad, ad.inference_mode, lambda: ad.set_grad_enabled(False)])
def test_modes_decorate_functions_and_generators(make):
    @make()
    def plain():
        return ad.is_grad_enabled()

    @make()
    def steps():
        yield ad.is_grad_enabled()
        yield ad.is_grad_enabled()

    assert ad.is_grad_enabled() and not plain()
    for enabled in steps():
        assert not enabled and ad.is_grad_enabled()


def test_modes_belong_to_the_thread():
    seen = []
    with ad.inference_mode(), autograd.set_multithreading_enabled(False):
        t = threading.Thread(
            target=lambda: seen.extend(
                [
                    ad.is_grad_enabled(),
                    ad.is_inference_mode_enabled(),
                    autograd.is_multithreading_enabled(),
                ]
            )
        )
        t.start()
        t.join()
    assert seen == [True, False, True]


def test_inference_mode_false_records_again():
    x = ad.ones(2, requires_grad=True)
    with ad.inference_mode(), ad.inference_mode(False):
        y = x * 2
        assert ad.is_grad_enabled()
    assert y.requires_grad and not y.is_inference()


def test_inference_tensors_stay_out_of_graphs():
    with ad.inference_mode():
        c = ad.ones(2) * 3
        c.mul_(2)
    x = ad.ones(2, requires_grad=True)
    assert c.is_inference() and not c.requires_grad and c.view(2).is_inference()
    for forbidden in (lambda: x * c, lambda: c.add_(1), lambda: c.requires_grad_(), lambda: c._version):
        with pytest.raises(RuntimeError, match="[Ii]nference"):
            forbidden()
    assert (x + c).requires_grad  # nothing is saved
    (x * c.clone()).sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_inference_tensors_keep_their_memory_outside():
    with ad.inference_mode():
        c = ad.ones(2, 2)
    for change in (lambda: c.resize_(1), lambda: c.resize_as_(ad.ones(3)), lambda: c.set_(), lambda: c.set_(ad.ones(2))):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            change()
    with pytest.warns(UserWarning, match="resized"), pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        ad.add(ad.ones(3), 1, out=c)
    assert c.resize_(2, 2).tolist() == [[1, 1], [1, 1]]
    with ad.inference_mode():
        assert c.resize_(1).shape == (1,) and c.set_(ad.ones(3)).shape == (3,)


def test_set_leaves_what_was_looked_at_before_with_one_write_more():
    x, other = ad.ones(2), ad.zeros(3)
    alias = x.detach()
    x.set_(other)
    assert (x._version, alias._version, other._version) == (1, 1, 0)
    x.add_(1)
    assert (x._version, alias._version, other._version, other.tolist()) == (2, 1, 0, [1, 1, 1])


def test_a_normal_tensor_in_inference_mode_counts_versions():
    x = ad.ones(2)
    with ad.inference_mode():
        v = x.view(2)
        x.add_(1)
        assert not x.is_inference() and not v.is_inference()
    assert x._version == 1


@pytest.mark.parametrize("enable", [True, False])
def test_grad_layout_policy(enable):
    x = ad.ones(3, 2).t().requires_grad_()
    with autograd.enforce_grad_layout_policy(enable):
        (x * ad.ones(2, 3)).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2
    assert x.grad.stride() == x.stride() or not enable


def test_the_gradient_of_a_leaf_with_gaps_has_none():
    for x in (ad.ones(2, 4)[:, ::2], ad.ones(4, 3, 8)[:, 1, :5], ad.ones(2, 3, 2).select(2, 1).t()):
        leaf = x.detach().requires_grad_()
        (leaf * ad.ones(x.shape)).sum().backward()
        assert leaf.grad.is_contiguous() and leaf.grad.tolist() == x.tolist()


@pytest.mark.parametrize(
    "switch", [autograd.set_multithreading_enabled, autograd.enforce_grad_layout_policy, ad.set_grad_enabled]
)
def test_switches_clone(switch):
    first = switch(False)
    with first, first.clone():
        pass
    assert ad.is_grad_enabled() is True
    assert autograd.is_multithreading_enabled() is True


def test_what_is_set_inside_a_level_holds_after_it():
    x = ad.ones(2, requires_grad=True)
    with ad.enable_grad():
        with forward_ad.dual_level():
            ad.set_grad_enabled(False)
        assert not ad.is_grad_enabled() and not (x * 2).requires_grad
    with ad.no_grad():
        with forward_ad.dual_level():
            ad.set_grad_enabled(True)
        assert (x * 2).requires_grad
    mode = ad.no_grad()
    level = forward_ad.enter_dual_level()
    mode.__enter__()
    forward_ad.exit_dual_level(level=level)
    assert not ad.is_grad_enabled()
    mode.__exit__(None, None, None)
    assert ad.is_grad_enabled() and (x * 2).requires_grad


def test_no_grad_that_ends_inside_a_level():
    x = ad.ones(2, requires_grad=True)
    mode = ad.no_grad()
    mode.__enter__()
    with forward_ad.dual_level():
        mode.__exit__(None, None, None)
        assert (x * 2).requires_grad
    assert ad.is_grad_enabled() and (x * 2).requires_grad


def test_enable_grad_inside_of_levels():
    w = ad.ones(3, requires_grad=True)

    def f(x):
        with ad.enable_grad():
            return (w * x).sum()

    with ad.no_grad():
        assert ad.vmap(f)(ad.ones(2, 3)).requires_grad
        assert not ad.func.grad(f)(ad.ones(3)).requires_grad  # the tape is its own; what lies under it is not recorded
        assert not ad.vmap(ad.func.grad(f))(ad.ones(2, 3)).requires_grad
    assert ad.func.grad(f)(ad.ones(3)).requires_grad
