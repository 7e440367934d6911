"""Samples: their distributions, and what they refuse."""

from typing import Any

import pytest

import adjoint as ad

N = 40_000


@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (lambda: ad.normal(ad.full((N,), 2.0), 3.0), 2.0, 9.0),
        (lambda: ad.normal(2.0, ad.full((N,), 3.0)), 2.0, 9.0),
        (lambda: ad.normal(2.0, 3.0, (N,)), 2.0, 9.0),
        (lambda: ad.bernoulli(ad.empty(N), 0.25), 0.25, 0.1875),
        (lambda: ad.empty(N).bernoulli_(ad.tensor(0.25)), 0.25, 0.1875),
        (lambda: ad.binomial(ad.full((N,), 30.0), ad.tensor(0.1)), 3.0, 2.7),
        (lambda: ad.binomial(ad.full((N,), 30.0), ad.tensor(0.9)), 27.0, 2.7),
        (lambda: ad.poisson(ad.full((N,), 4.0)), 4.0, 4.0),
    ],
)
def test_moments(draw, mean, variance):
    ad.manual_seed(3)
    x = draw().double()
    assert abs(x.mean().item() - mean) < 5 * (variance / N) ** 0.5
    assert abs(x.var().item() / variance - 1) < 0.1


def test_binomial_ends():
    count = ad.tensor([0.0, 5.0, 5.0, 7.9])
    assert ad.binomial(count, ad.tensor([0.5, 0.0, 1.0, 1.0])).tolist() == [0.0, 0.0, 5.0, 7.0]


@pytest.mark.parametrize(
    ("draw", "error", "says"),
    [
        (lambda: ad.normal(0.0, -1.0, (2,)), RuntimeError, "std -1.0"),
        (lambda: ad.normal(ad.ones(2), ad.tensor([1.0, -1.0])), RuntimeError, "std >= 0.0"),
        (lambda: ad.normal(0.0, 1.0), TypeError, "need a size"),
        (lambda: ad.normal(ad.ones(2), 1.0, (2,)), TypeError, "size"),
        (lambda: ad.normal(ad.ones(2, dtype=ad.int64)), NotImplementedError, "int64"),
        (lambda: ad.empty(2).normal_(0, -1), RuntimeError, "std -1"),
        (lambda: ad.empty(2).uniform_(1, 0), RuntimeError, "from=1 > to=0"),
        (lambda: ad.empty(2).bernoulli_(3.0), RuntimeError, "p=3"),
        (lambda: ad.bernoulli(ad.tensor([0.5, 2.0])), RuntimeError, "p_in"),
        (lambda: ad.bernoulli(ad.tensor([float("nan")])), RuntimeError, "p_in"),
        (lambda: ad.binomial(ad.tensor([-1.0]), ad.tensor([0.5])), RuntimeError, "negative"),
        (lambda: ad.binomial(ad.tensor([1]), ad.tensor([0.5])), ValueError, "int64"),
        (lambda: ad.vmap(ad.poisson, randomness="same")(ad.tensor([1.0, -1.0])), RuntimeError, "invalid Poisson rate"),
    ],
)
def test_refused(draw, error, says):
    with pytest.raises(error, match=says):
        draw()


@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63)])
def test_seeds_are_any_64_bits(seed: int) -> None:
    try:
        drawn = [ad.rand(2, generator=ad.Generator().manual_seed(n)) for n in (seed, seed % 2**64)]
        assert ad.manual_seed(seed).initial_seed() == seed % 2**64 == ad.initial_seed()
        assert ad.equal(*drawn) and ad.equal(drawn[0], ad.rand(2))
    finally:
        ad.manual_seed(0)


@pytest.mark.parametrize(
    ("seed", "error"), [(2**64, ValueError), (-(2**63) - 1, ValueError), ("a", (TypeError, ValueError)), (None, TypeError)]
)
def test_other_seeds(seed: object, error: Any) -> None:
    with pytest.raises(error):
        ad.manual_seed(seed)
    with pytest.raises(error):
        ad.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "draw", [ad.bernoulli, ad.poisson, lambda p: ad.normal(p, 1.0), lambda p: ad.normal(0.0, p), lambda p: ad.normal(p, p)]
)
def test_derivative_of_a_draw_is_zero(draw):
    p = ad.tensor([0.25, 0.5], requires_grad=True)
    ad.manual_seed(0)
    drawn = draw(p)
    ad.manual_seed(0)
    assert drawn.tolist() == draw(p.detach()).tolist() and not draw(p.detach()).requires_grad
    assert ad.autograd.grad(drawn.sum(), p)[0].tolist() == [0.0, 0.0]


def test_numbers_that_are_tensors():
    assert ad.equal(ad.normal(ad.tensor(1.0), ad.tensor(0.0), size=(2,)), ad.ones(2))
    with pytest.raises(TypeError, match="tensors, got size"):
        ad.normal(0.0, ad.ones(2), size=(2,))


def test_multinomial_of_integers():
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        ad.multinomial(ad.tensor([1, 2]), 1)
    with pytest.raises(RuntimeError, match="n_sample <= 0"):
        ad.multinomial(ad.ones(2), 0)


@pytest.mark.parametrize(
    ("dtype", "least", "most"), [(ad.uint8, 0, 255), (ad.int8, -128, 127), (ad.bool, 0, 1), (ad.float16, -65504, 65504)]
)
def test_integers_that_a_type_does_not_hold_are_not_drawn(dtype: ad.dtype, least: int, most: int) -> None:
    for draw in (
        lambda low, high: ad.randint(low, high, (3,), dtype=dtype),
        lambda low, high: ad.randint_like(ad.ones(3), low, high, dtype=dtype),
        lambda low, high: ad.ones(3).to(dtype).random_(low, high),
    ):
        drawn = draw(most, most + 1), draw(least, least + 1)
        assert all((x == bound).all() for x, bound in zip(drawn, (most, least)))
        for wrong in ((least - 1, least), (most, most + 2)):
            with pytest.raises(RuntimeError, match="out of bounds"):
                draw(*wrong)
    exact = 2048 if dtype is ad.float16 else most
    assert ad.randperm(exact + 1, dtype=dtype).sort().values.tolist() == list(range(exact + 1))
    with pytest.raises(RuntimeError, match="too large"):
        ad.randperm(most + 2, dtype=dtype)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "log_normal_", "exponential_", "cauchy_"])
def test_whole_numbers_have_no_continuous_distribution(name: str) -> None:
    for dtype in (ad.int64, ad.bool):
        with pytest.raises((RuntimeError, NotImplementedError)):
            getattr(ad.ones(3, dtype=dtype), name)()
    with pytest.raises(RuntimeError, match="uniform_"):
        ad.ones(2).uniform_(0, 1e39)


@pytest.mark.parametrize("dtype", [ad.float32, ad.int64, ad.int8, ad.uint8, ad.bool])
def test_integers_from_a_number_on(dtype: ad.dtype) -> None:
    low = 0 if dtype in (ad.uint8, ad.bool) else -5
    greatest = {ad.float32: 2**24, ad.bool: 1}.get(dtype) or ad.iinfo(dtype).max
    drawn = ad.zeros(N, dtype=dtype).random_(low, None).double()
    assert low <= drawn.min() and drawn.max() <= greatest and drawn.max() - low > 0.9 * (greatest - low)
    assert ad.zeros(100).random_(3).max() <= 2


@pytest.mark.parametrize("dtype", [ad.complex64, ad.complex128])
def test_both_parts_of_complex_numbers_lie_in_the_range_and_around_the_mean(dtype: ad.dtype) -> None:
    x = ad.empty(2000, dtype=dtype).uniform_(-3, -1)
    for part in (x.real, x.imag):
        assert part.min() >= -3 and part.max() < -1 and abs(part.mean() + 2) < 0.1
    for y in (ad.empty(2000, dtype=dtype).normal_(5, 2), ad.normal(5.0, 2.0, (2000,), dtype=dtype)):
        for part in (y.real, y.imag):
            assert abs(part.mean() - 5) < 0.2 and abs(part.std() - 2**0.5) < 0.1
    z = ad.normal(ad.zeros(2000, dtype=dtype), 2.0)
    assert z.dtype == dtype and abs(z.imag.std() - 2**0.5) < 0.1
    bound = 1 / 3**0.5
    weight = ad.nn.Linear(3, 500, dtype=dtype).weight.detach()
    assert weight.imag.abs().max() <= bound and weight.imag.min() < -bound / 2


def test_normal_has_the_type_of_its_mean() -> None:
    assert ad.normal(ad.zeros(2), ad.ones(2, dtype=ad.float64)).dtype == ad.float32
