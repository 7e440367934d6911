"""Functions made of others: arguments that gradients and layouts do not reach, and what they refuse."""

from __future__ import annotations

import pytest

import adjoint as ad

F = ad.nn.functional


def test_cosine_similarity_broadcasts_before_it_sums() -> None:
    a = ad.tensor([[3.0, 4.0], [1.0, 0.0]])
    assert ad.allclose(F.cosine_similarity(a, a[:, :1], dim=-1), ad.tensor([1.4, 1.0]) / 2**0.5)
    assert ad.allclose(F.cosine_similarity(a, a[1]), ad.tensor([0.6, 1.0]))


def test_divisor_of_windows_that_are_cut_off() -> None:
    x = ad.ones(1, 1, 3, 2)
    assert F.avg_pool2d(x, 2, ceil_mode=True, divisor_override=1).reshape(-1).tolist() == [4.0, 2.0]


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits", "kl_div"])
@pytest.mark.parametrize(
    ("older", "reduction"),
    [
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"size_average": True}, "mean"),
        ({"reduce": True, "size_average": False}, "sum"),
    ],
)
def test_older_reduction_arguments_of_losses(name: str, older: dict[str, bool], reduction: str) -> None:
    loss, x, y = getattr(F, name), ad.tensor([0.5, -1.0, 2.0]), ad.tensor([0.25, 1.0, 0.5])
    assert loss(x, y, **older).tolist() == loss(x, y, reduction=reduction).tolist()


def test_unique_consecutive_of_nothing() -> None:
    values, inverse, counts = ad.unique_consecutive(ad.tensor([]), return_inverse=True, return_counts=True)
    assert values.shape == inverse.shape == counts.shape == (0,)


def test_combinations() -> None:
    assert ad.combinations(ad.tensor([4, 5, 6])).tolist() == [[4, 5], [4, 6], [5, 6]]
    assert ad.combinations(ad.arange(2), with_replacement=True).tolist() == [[0, 0], [0, 1], [1, 1]]


def test_distributions_have_their_means() -> None:
    ad.manual_seed(0)
    for rate in (3.0, 50.0):
        numbers = ad.poisson(ad.full((20000,), rate))
        assert abs(numbers.mean().item() / rate - 1) < 0.03 and abs(numbers.var().item() / rate - 1) < 0.06
    assert ad.poisson(ad.tensor([3e38, 0.0])).tolist() == [pytest.approx(3e38), 0]
    assert abs(ad.empty(20000).exponential_(2.0).mean().item() - 0.5) < 0.02
    assert abs(ad.empty(20000).geometric_(0.25).mean().item() - 4) < 0.15
    drawn = ad.multinomial(ad.tensor([1.0, 0.0, 3.0]), 20000, replacement=True)
    assert ad.allclose(ad.bincount(drawn) / 20000, ad.tensor([0.25, 0.0, 0.75]), atol=0.02)


def test_multinomial_without_replacement_draws_each_once() -> None:
    ad.manual_seed(0)
    assert all(sorted(row) == [0, 1, 2] for row in ad.multinomial(ad.ones(50, 3), 3).tolist())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ad.poisson(ad.tensor([-1.0])), "invalid Poisson rate"),
        (lambda: ad.poisson(ad.tensor([float("inf")])), "invalid Poisson rate"),
        (lambda: ad.zeros(2).exponential_(-1.0), "lambda > 0.0"),
        (lambda: ad.zeros(2).geometric_(1.0), "p to be in"),
        (lambda: ad.multinomial(ad.zeros(3), 1), "sum of probabilities <= 0"),
        (lambda: ad.multinomial(ad.ones(3), 4), "n_sample > prob_dist.size"),
    ],
)
def test_distributions_refuse(call: object, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("bag", [F.embedding, F.embedding_bag])
def test_padding_row_is_one_of_the_table(bag) -> None:
    with pytest.raises(IndexError, match="padding_idx must be within the 3 rows"):
        bag(ad.tensor([[0, 1]]), ad.ones(3, 2), padding_idx=3)


def test_bags_in_the_order_of_old() -> None:
    weight, rows, offsets = ad.rand(10, 3), ad.tensor([1, 2, 4, 5]), ad.tensor([0, 2])
    bags = ad.nn.functional.embedding_bag
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag was changed"):
        found = bags(weight, rows, offsets)
    assert ad.equal(found, bags(rows, weight, offsets))
