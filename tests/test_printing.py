"""How tensors print. tests/peer compares many more with PyTorch's text."""

import pytest

import adjoint as ad

TEXTS = [
    (lambda: ad.tensor(2.5), "tensor(2.5000)"),
    (lambda: ad.tensor([1.0, 2.0]), "tensor([1., 2.])"),
    (lambda: ad.tensor([1e-8, 1.0]), "tensor([1.0000e-08, 1.0000e+00])"),
    (lambda: ad.tensor([float("nan"), -float("inf"), 3.0]), "tensor([nan, -inf, 3.])"),
    (lambda: ad.tensor([[True], [False]]), "tensor([[ True],\n        [False]])"),
    (lambda: ad.tensor([1, 20], dtype=ad.int32), "tensor([ 1, 20], dtype=adjoint.int32)"),
    (lambda: ad.tensor([1 + 2j, -0.5j]), "tensor([1.+2.0000j, -0.-0.5000j])"),
    (lambda: ad.zeros(2, 0), "tensor([], size=(2, 0))"),
    (lambda: ad.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (lambda: ad.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (lambda: ad.ones(2, requires_grad=True) * 2, "tensor([2., 2.], grad_fn=<MulBackward0>)"),
    (lambda: ad.nn.Parameter(ad.ones(1)), "Parameter containing:\ntensor([1.], requires_grad=True)"),
]


@pytest.mark.parametrize(("make", "text"), TEXTS, ids=[text.replace("\n", " ") for _, text in TEXTS])
def test_text(make, text):
    assert repr(make()) == text


def test_options_hold_until_the_next_call():
    try:
        ad.set_printoptions(precision=1, linewidth=24)
        assert repr(ad.tensor([0.25, 0.5, 0.75, 1.25])) == "tensor([0.2, 0.5, 0.8,\n        1.2])"
        ad.set_printoptions(sci_mode=True, linewidth=80)
        assert repr(ad.tensor([0.0, 2.0])) == "tensor([0.0e+00, 2.0e+00])"
    finally:
        ad.set_printoptions(profile="default")
    assert repr(ad.tensor(0.25)) == "tensor(0.2500)"


def test_parts_of_a_text() -> None:
    from adjoint_core._tensor.printing import PRINT_OPTS, _add_suffixes, _str_intern, _tensor_str

    class Index(ad.Tensor):
        pass

    x = ad.tensor([[1.0, 2.5], [3.0, 4.0]], requires_grad=True)
    assert PRINT_OPTS.threshold == 1000 and _tensor_str(ad.zeros(0, 2), 3) == "[]"
    assert _tensor_str(x, 4) == "[[1.0000, 2.5000],\n     [3.0000, 4.0000]]"
    assert _add_suffixes("Index([1, 2]", ["size=3", "a" * 80], 6) == "Index([1, 2], size=3,\n      " + "a" * 80 + ")"
    assert _str_intern(x.detach().as_subclass(Index), tensor_contents="[...]") == "Index([...])"
    assert x.__repr__(tensor_contents="[7]") == "tensor([7], requires_grad=True)"


@pytest.mark.parametrize(
    "wrong", [{"precision": "2"}, {"precision": -1}, {"threshold": ad.ones(2)}, {"profile": "long"}], ids=str
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="set_printoptions: " + next(iter(wrong))):
        ad.set_printoptions(**wrong)
    assert repr(ad.tensor(0.25)) == "tensor(0.2500)"


def test_dual_tensors() -> None:
    forward = ad.autograd.forward_ad
    with forward.dual_level():
        x = forward.make_dual(ad.tensor([1.0, 2.0]), ad.tensor([3.0, 4.0]))
        assert repr(x) == "tensor([1., 2.], tangent=tensor([3., 4.]))" and repr(x.sum()) == "tensor(3., tangent=7.0)"
        w = forward.make_dual(ad.ones(2, 2, dtype=ad.float64, requires_grad=True), ad.zeros(2, 2, dtype=ad.float64))
        assert repr(w * 2).splitlines() == [
            "tensor([[2., 2.],",
            "        [2., 2.]], dtype=adjoint.float64, grad_fn=<MulBackward0>,",
            "       tangent=tensor([[0., 0.],",
            "                       [0., 0.]], dtype=adjoint.float64))",
        ]
        with forward.dual_level():
            y = forward.make_dual(x, ad.tensor([5.0, 6.0]))
            assert repr(y) == "tensor([1., 2.], tangent=tensor([3., 4.]), tangent=tensor([5., 6.]))"
            assert repr((y * y).sum()) == "tensor(5., tangent=22.0, tangent=tensor(34., tangent=78.0))"
    assert repr(x) == "tensor([1., 2.])"


def test_numbers_inside_transforms_have_formats():
    shown = []
    ad.func.grad(lambda x: (shown.append(f"{x:.2f}"), x)[1])(ad.tensor(1.5))
    with ad.autograd.forward_ad.dual_level():
        shown.append(f"{ad.autograd.forward_ad.make_dual(ad.tensor(2.5), ad.ones(())):.1f}")
    assert shown == ["1.50", "2.5"]
