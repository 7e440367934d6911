"""What an operation gives is a view of nothing that only the operation had: it may be detached in place, and written to."""

import weakref

import pytest

import adjoint as ad
from op_checks.cells import every, results
from op_checks.numeric import tensors

MADE_OF_SEVERAL = {
    "dot": lambda x: x[0].dot(x[1]),
    "matmul": lambda x: x @ x[0],
    "matmul of 3-d": lambda x: x.expand(2, 3, 3) @ x,
    "kron": lambda x: ad.kron(x, x),
    "pad": lambda x: ad.nn.functional.pad(x[None, None], (1, 1, 1, 1), mode="reflect"),
    "tensordot": lambda x: ad.tensordot(x, x, 1),
    "tile": lambda x: x.tile(2),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "masked_scatter": lambda x: x.masked_scatter(x > 1, x * 2),
    "linear": lambda x: ad.nn.functional.linear(x[None], x),
    "group_norm": lambda x: ad.nn.functional.group_norm(x[None], 3),
    "roll": lambda x: ad.roll(x, 1),
    "lu_unpack": lambda x: ad.lu_unpack(*ad.linalg.lu_factor(x))[1],
}


BASES_OF_THEIR_OWN = ("imag-square", "view_as_real")  # the line of the case makes what the result is a view of


@every("leaves_inputs", lambda case: case.id not in BASES_OF_THEIR_OWN)
def test_a_lone_result_is_a_view_of_what_was_given_or_of_nothing(case):
    given = tensors(case.sample())
    places = {t.untyped_storage().data_ptr() for t in given}
    views = [y for y in results(case, given) if y._is_view() and y.numel()]
    assert len(views) != 1 or views[0].untyped_storage().data_ptr() in places


@pytest.mark.parametrize("f", MADE_OF_SEVERAL.values(), ids=MADE_OF_SEVERAL)
def test_results_are_detached_in_place_and_written_to(f):
    x = (ad.arange(9.0).reshape(3, 3) + 10 * ad.eye(3)).requires_grad_()
    y = f(x)
    assert y._base is None
    assert f(x).detach_().requires_grad is False
    expected = ad.autograd.grad((y * y * 2).sum(), x, retain_graph=True)[0]
    y.mul_(y.clone())
    ad.testing.assert_close(ad.autograd.grad((y * 2).sum(), x)[0], expected)


def test_views_of_what_others_know_stay_views():
    x = ad.ones(3, 2)
    assert x.t()._base is x and ad.ones(3, 2).t()._is_view()
    assert all(piece._is_view() for piece in x.split(1))

    def both():
        z = x * 1
        return z, z.t()

    z, turned = both()
    assert turned._base is z


def test_an_argument_that_is_given_back_keeps_its_base():
    base = ad.ones(4)
    view, known = base[:2], weakref.ref(base)
    del base
    again = ad.nn.functional.alpha_dropout(view, 0.5, False)
    assert again is view
    assert view._base is known() is not None
