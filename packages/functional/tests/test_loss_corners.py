"""Losses: types, weights, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
from adjoint.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.filterwarnings("ignore:Using a target size")


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss])
def test_a_target_without_dimensions_counts_for_the_type(loss: Any) -> None:
    assert loss(ad.ones(3), ad.tensor(2.0, dtype=ad.float64)).dtype is ad.float64
    assert loss(ad.ones(3), ad.tensor(2.0)).item() == loss(ad.ones(3), ad.full((3,), 2.0)).item()


def test_weights_of_huber_loss() -> None:
    x, target, weight = ad.ones(2, 3), ad.zeros(2, 3), ad.arange(6.0).reshape(2, 3)
    assert F.huber_loss(x, target, weight=weight).item() == 1.25
    assert F.huber_loss(x, target, reduction="none", weight=weight).equal(weight / 2)
    for loss in (F.huber_loss, F.mse_loss, F.l1_loss):
        with pytest.raises(ValueError, match=r"Weights and input must have the same size, got \[3\] and \[2, 3\]"):
            loss(x, target, weight=ad.ones(3))


def test_variances_are_not_negative() -> None:
    for var in (ad.tensor([1.0, -1.0]), -1.0):
        with pytest.raises(ValueError, match="var has negative entry"):
            F.gaussian_nll_loss(ad.ones(2), ad.ones(2), var)
    assert ad.vmap(F.gaussian_nll_loss)(ad.ones(2, 2), ad.ones(2, 2), ad.ones(2, 2)).tolist() == [0, 0]


def test_soft_margins_have_the_type_of_the_input() -> None:
    x = ad.tensor([0.5, -1.0])
    assert F.soft_margin_loss(x, ad.tensor([True, False])).item() == F.soft_margin_loss(x, ad.tensor([1.0, 0.0])).item()
    assert F.soft_margin_loss(x, ad.ones(2, dtype=ad.float64)).dtype is ad.float32


def test_margins_take_rows() -> None:
    with pytest.raises(RuntimeError, match=r"multi_margin_loss: Expected non-empty vector or matrix .* \[1, 1, 5\]"):
        F.multi_margin_loss(ad.ones(1, 1, 5), ad.tensor([1]))
    with pytest.raises(RuntimeError, match="multilabel_margin_loss: Expected non-empty vector or matrix"):
        F.multilabel_margin_loss(ad.ones(1, 1, 5), ad.zeros(1, 1, 5, dtype=ad.int64))


def test_what_is_said_of_targets_of_other_shapes() -> None:
    x, whole = ad.ones(2, 3), ad.ones(2, dtype=ad.int64)
    wrong = (
        lambda: F.binary_cross_entropy(x, whole),
        lambda: F.cross_entropy(x, ad.ones(3)),
        lambda: F.nll_loss(ad.ones(3), whole),
        lambda: F.nll_loss(ad.ones(()), whole),
    )
    for call in wrong:
        with pytest.raises(ValueError):
            call()
    with pytest.raises(RuntimeError, match="does not fit"):
        F.soft_margin_loss(x[0], x)
    with pytest.raises(RuntimeError, match="inconsistent weight size"):
        F.multi_margin_loss(x, whole, weight=ad.ones(2))
    assert F.multilabel_soft_margin_loss(x[0], ad.cat([x, x]), reduction="none").shape == (3,)


def test_a_batch_is_not_divided_by_nothing() -> None:
    x = ad.tensor([[1.0, 2.0], [3.0, 2.0]])
    with pytest.raises(ValueError, match="positive during training"):
        ad.nn.BatchNorm1d(2, eps=0.0)(x)
    with pytest.raises(ValueError, match="positive output size"):
        F.affine_grid(ad.ones(1, 2, 3), (1, 1, 0, 2), align_corners=False)
    assert ad.nn.BatchNorm1d(2, eps=0.0).eval()(x).equal(x)


def test_names_that_pytorch_takes_besides() -> None:
    x = ad.ones(2, 2)
    assert len(ad.hsplit(x, sections=2)) == len(ad.vsplit(x, indices=[1])) == 2
    assert ad.isin(element=1, test_elements=x).item()
    assert ad.linalg.matrix_rank(input=x, tol=1e-3).item() == 1


def test_a_weight_changes_neither_type_nor_shape() -> None:
    x, y, wide = ad.tensor([0.25, 0.5]), ad.tensor([0.0, 1.0]), ad.tensor([2.0, 3.0], dtype=ad.float64)
    for f in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        assert f(x, y, wide).dtype == f(x, y, wide, reduction="none").dtype == ad.float32
        ad.testing.assert_close(f(x, y, wide), f(x, y, wide.float()))
        assert f(x.half(), y.half(), wide).dtype == ad.float16
        for weight, words in ((wide * 1j, "can't be cast"), (wide.unsqueeze(1), "doesn't match the broadcast shape")):
            with pytest.raises(RuntimeError, match=words):
                f(x, y, weight)
    logits = F.binary_cross_entropy_with_logits(x.double(), y, pos_weight=wide)
    assert logits.dtype == ad.float32  # the target's
    assert F.huber_loss(x, y.double()).dtype == ad.float32  # the input's


@pytest.mark.parametrize("shape", [(0, 3), (2, 3, 0), (2, 0)])
def test_the_mean_over_no_rows_of_probabilities_is_nan(shape: tuple[int, ...]) -> None:
    x = ad.ones(*shape)
    assert F.cross_entropy(x, x).isnan() and F.cross_entropy(x, x, reduction="sum") == 0


def test_weighted_squares_of_complex_numbers() -> None:
    x, y, w = ad.tensor([1 + 1j, 2j]), ad.tensor([1.0 + 0j, 0j]), ad.tensor([1.0, 3.0])
    assert F.mse_loss(x, y, weight=w).item() == (-1 - 12) / 4
