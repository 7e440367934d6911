"""Functions made of others: arguments that gradients and layouts do not reach, and what they refuse."""

from __future__ import annotations

import math

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


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
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
    with pytest.warns(UserWarning, match=f"reduction='{reduction}'"):
        found = loss(x, y, **older)
    assert found.tolist() == loss(x, y, reduction=reduction).tolist()


def test_unique_consecutive_of_nothing() -> None:
    values, inverse, counts = ad.unique_consecutive(ad.tensor([]), return_inverse=True, return_counts=True)
    assert values.shape == inverse.shape == counts.shape == (0,)


def test_unique_slices_of_nothing() -> None:
    values, inverse = ad.unique(ad.zeros(2, 0), dim=1, return_inverse=True)
    assert values.shape == (2, 0) and inverse.shape == (0,)


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


# ---- corners of arguments


def test_circular_padding_with_cuts_repeats_what_is_left() -> None:
    x = ad.arange(5.0).reshape(1, 1, 5)
    assert F.pad(x, (-1, 2), "circular").tolist() == [[[1, 2, 3, 4, 1, 2]]]
    assert F.pad(x, (2, -1), "circular").tolist() == [[[2, 3, 0, 1, 2, 3]]]


def test_constant_padding_by_a_complex_number() -> None:
    assert ad.constant_pad_nd(ad.ones(1, dtype=ad.complex64), (1, 0), 2j).tolist() == [2j, 1]


def test_quantiles_have_a_derivative_in_q() -> None:
    q = ad.tensor([0.25, 0.7], dtype=ad.float64, requires_grad=True)
    x = ad.tensor([0.0, 1.0, 3.0, 7.0, 8.0], dtype=ad.float64, requires_grad=True)
    assert ad.autograd.gradcheck(lambda x, q: ad.quantile(x, q[1:]), (x, q), check_forward_ad=True)
    assert ad.autograd.grad(ad.quantile(x, q[1], interpolation="lower"), q, allow_unused=True) == (None,)


def test_logcumsumexp_keeps_the_turns_of_an_imaginary_part() -> None:
    x = ad.tensor([1 + 20j, 3 - 9j, -5 + 1j], dtype=ad.complex128)
    y = ad.logcumsumexp(x, 0)
    assert ad.allclose(y.exp(), x.exp().cumsum(0)) and y[0] == x[0] and abs((y[1] - x[1]).imag.item()) < 3.2


def test_an_infinite_real_part_is_all_that_logcumsumexp_sees() -> None:
    x = ad.tensor([1 + 1j, complex(math.inf, 2), 5 - 1j])
    assert ad.logcumsumexp(x, 0).tolist() == [1 + 1j, complex(math.inf, 2), complex(math.inf, 2)]


def test_samples_without_a_batch() -> None:
    assert F.multi_margin_loss(ad.tensor(0.5), ad.tensor(0)).item() == 0
    assert F.multilabel_margin_loss(ad.tensor(0.5), ad.tensor(0)).item() == 0
    assert F.prelu(ad.tensor(-2.0), ad.tensor([0.5])).shape == ()
    assert ad.linalg.vander(ad.tensor(3.0), N=2).tolist() == [[1.0, 3.0]]
    assert ad.tensor(2.0).index_reduce(0, ad.tensor([0]), ad.tensor(3.0), "prod").item() == 6


def test_the_zeroth_power_of_a_matrix_has_a_gradient_of_zeros() -> None:
    a = ad.full((2, 2), float("inf"), requires_grad=True)
    ad.linalg.matrix_power(a, 0).sum().backward()
    assert a.grad is not None and a.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "copies",
    [lambda x: ad.ravel(x[..., ::2]), lambda x: F.pixel_shuffle(x, 1), lambda x: F.adaptive_avg_pool2d(x, (None, None))],
)
def test_results_that_share_no_memory_with_the_input(copies) -> None:
    x = ad.ones(1, 2, 3, 4)
    copies(x).zero_()
    assert x.sum() == 24


def test_common_divisors_inside_vmap_and_in_place() -> None:
    a, b = ad.tensor([[12, 7], [0, -18]]), ad.tensor([[18, 0], [5, 27]])
    assert ad.equal(ad.vmap(ad.gcd)(a, b), ad.gcd(a, b)) and ad.gcd(a, b).tolist() == [[6, 7], [5, 9]]
    assert ad.equal(a.clone().lcm_(b), ad.lcm(a, b))


def test_unpooling_inside_vmap() -> None:
    x = ad.randn(3, 1, 8)
    values, at = F.max_pool1d(x, 2, return_indices=True)
    assert ad.equal(ad.vmap(lambda v, i: F.max_unpool1d(v, i, 2))(values, at), F.max_unpool1d(values, at, 2))
    with pytest.raises(RuntimeError, match="Found an invalid max index: 99"):
        ad.vmap(lambda v, i: F.max_unpool1d(v, i, 2))(values, at + 99 - at)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ad.gradient(ad.ones(3, 3), dim=[1, 1]), "dim 1 appears multiple times in the list of dims"),
        (lambda: ad.cov(ad.ones(5), fweights=ad.ones(5)), "expected fweights to have integral dtype but got fweights with"),
        (lambda: ad.cov(ad.ones(5), aweights=ad.ones(4)), "expected aweights to have the same numel as there are observations"),
        (lambda: ad.cov(ad.ones(2), fweights=ad.tensor([1, -1])), "fweights cannot be negative"),
        (lambda: F.prelu(ad.ones(2, 8, 3), ad.ones(2, 4)), "Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2"),
        (lambda: F.prelu(ad.ones(2, 8, 3), ad.ones(2)), "Found parameter numbers = 2 and channel size = 8"),
        (lambda: ad.ones(2).renorm(2, 0, 1), "renorm: input needs at least 2 dimensions, got 1 dimensions"),
        (lambda: F.adaptive_avg_pool2d(ad.ones(1, 2, 2), []), "output_size must be 2"),
        (lambda: F.softshrink(ad.ones(1), -0.5), "lambda must be in range"),
        (lambda: F.rrelu(ad.ones(1), 0.3, 0.1), "Lower bound should be less than or equal to the upper bound"),
        (lambda: F.conv2d(ad.ones(1, 1, 4, 3), ad.ones(1, 2, 2)), "conv2d: Expected 4-dimensional weight"),
    ],
)
def test_what_arguments_are_refused(call, message) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize("loss", [F.triplet_margin_loss, F.triplet_margin_with_distance_loss])
def test_margins_are_positive(loss) -> None:
    with pytest.raises(ValueError, match="margin must be greater than 0, got -1.0"):
        loss(ad.ones(2, 3), ad.ones(2, 3), ad.ones(2, 3), margin=-1.0)
    with pytest.raises(ValueError, match="min_val cannot be greater than max_val"):
        F.hardtanh(ad.ones(1), 0.5, -0.5)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "hfft", "ihfft", "fftn", "irfft2"])
def test_transforms_of_a_number(name: str) -> None:
    options = {"dim": [0]} if name[-1] in "n2" else {}
    with pytest.raises(IndexError, match="but tensor has no dimensions"):
        getattr(ad.fft, name)(ad.tensor(1.0), **options)


def test_positions_of_a_small_type() -> None:
    rows, columns = ad.unravel_index(ad.tensor([5, 3], dtype=ad.uint8), (2, 1 << 30))
    assert rows.tolist() == [0, 0] and columns.tolist() == [5, 3] and rows.dtype is ad.int64


def test_covariance_of_integers() -> None:
    x = ad.tensor([[1, 2, 4], [0, 3, 1]])
    assert ad.equal(ad.cov(x), ad.cov(x.float())) and ad.equal(ad.corrcoef(x), ad.corrcoef(x.float()))


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.float16])
@pytest.mark.parametrize("n", [3, 7, 1000, 5000])
def test_constants_do_not_vary(dtype: ad.dtype, n: int) -> None:
    x = ad.full((n, 6), 0.1, dtype=dtype)
    for spread in (x.std(0), x.var(), x.t().contiguous().var(1), x.std((0, 1)), ad.std_mean(x, 0)[0]):
        assert not spread.any()
    x[0, 0] += (1 if dtype is ad.float16 else 2) * ad.finfo(dtype).eps  # which is no more than the rounding of the mean
    assert x.double().var(0).ne(0).tolist() == [True, *[False] * 5]
    assert dtype is ad.float16 or x.var(0).ne(0).tolist() == [True, *[False] * 5]  # half: less than it can hold


def test_sums_of_einsum_are_those_of_sum() -> None:
    x = ad.full((3,), 200, dtype=ad.uint8)
    assert ad.einsum("i->", x).item() == 600
    assert ad.einsum("i,i->i", x, x).dtype is ad.uint8
    assert ad.einsum("i,j->i", x, x.float()).tolist() == [200.0 * 600] * 3  # the sum of one operand alone, then the product
    assert ad.einsum("i,j->i", x, x).tolist() == ad.einsum("i,ij->i", x, x.expand(3, 3)).tolist() == [200 * 600] * 3
    assert ad.einsum("ij,ik,il->", *[x.expand(3, 3)] * 3).item() == 3 * 600**3
    truth = ad.ones(2, 3, dtype=ad.bool)
    assert ad.einsum("ij,kl->il", truth.float(), truth).tolist() == [[6.0] * 3] * 2
    one = ad.ones(1, 1, dtype=ad.float16)
    assert ad.einsum("ij,jk->ik", one, one.float()).dtype is ad.float32  # nothing to sum
    with pytest.raises(RuntimeError, match="same dtype"):
        ad.einsum("ij,jk->ik", one.expand(2, 2), one.float().expand(2, 2))
    assert ad.addbmm(ad.ones(2, 2, dtype=ad.int32), *[ad.ones(3, 2, 2, dtype=ad.int32)] * 2).dtype is ad.int32


def test_the_largest_of_no_singular_values_is_0() -> None:
    assert [ad.linalg.norm(ad.zeros(0, n), 2).item() for n in (0, 3)] == [0.0, 0.0]
    assert ad.special.shifted_chebyshev_polynomial_t(ad.tensor([0, 1], dtype=ad.uint8), 3).tolist() == [-1.0, 1.0]


def test_copies_of_views_are_dense() -> None:
    x = ad.rand(3, 4, 5)
    made = (ad.transpose_copy(x, 0, 2), ad.permute_copy(x, (2, 0, 1)), ad.as_strided_copy(x, (2, 2), (1, 2)), x.kthvalue(2)[0])
    assert all(y.is_contiguous() for y in made)


@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16])
def test_gradients_of_distances_between_close_rows(dtype) -> None:
    """They are no differences of long sums."""
    near = (ad.arange(12.0).reshape(4, 3) * 2**-7 + 1).to(dtype)
    found, exact = [], []
    for x, to in ((near, found), (near.double(), exact)):
        x = x.clone().requires_grad_()
        for y in (ad.nn.functional.pdist(x), ad.cdist(x, x[:2].detach(), compute_mode="donot_use_mm_for_euclid_dist")):
            to.append(ad.autograd.grad(y, x, ad.ones_like(y))[0].double())
    ad.testing.assert_close(
        found, exact, rtol=1e-6 if dtype == ad.float32 else 2e-2, atol=1e-6 if dtype == ad.float32 else 2e-2
    )


def test_distances_of_points_in_space_are_exact() -> None:
    """So few coordinates need no product of matrices, in which distances of close points would be lost."""
    ad.manual_seed(0)
    points = ad.rand(3, 40, 3)
    near = points + 1e-4 * ad.rand(3, 40, 3)
    ad.testing.assert_close(ad.cdist(points, near).double(), ad.cdist(points.double(), near.double()), rtol=1e-6, atol=0)


@pytest.mark.parametrize("number", [1.0, ad.nan])
def test_distances_of_order_zero_have_the_common_type(number: float) -> None:
    x, y = ad.zeros(2, 70_000, dtype=ad.float16), ad.full((3, 70_000), number)
    for a, b in ((x, y), (y, x), (y, y.double())):
        found, wanted = ad.cdist(a, b, p=0.0), ad.cdist(a, b, p=1.0)
        assert found.dtype is wanted.dtype
        assert ad.equal(found.isnan(), wanted.isnan())
    assert number != number or ad.cdist(x, y, p=0.0).tolist() == [[70_000.0] * 3] * 2


def test_sum_with_a_product_of_nothing() -> None:
    c = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    for beta, alpha in ((1, 1), (0.5, 3.0), (0, 1)):
        assert ad.addmm(c, ad.ones(2, 0), ad.ones(0, 2), beta=beta, alpha=alpha).tolist() == (c * beta).tolist()
    leaf = ad.ones(2, 0, requires_grad=True)
    assert ad.autograd.grad(ad.addmm(c, leaf, ad.ones(0, 2)).sum(), leaf)[0].shape == (2, 0)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        ad.addmm(c, ad.ones(2, 0), ad.ones(1, 2))


def test_distances_of_order_zero_have_no_gradient() -> None:
    x = ad.tensor([[0.0, 1.0, ad.nan], [1e-30, -2.0, 0.0], [0.0, 0.0, 0.0]]).requires_grad_()
    for y in (ad.cdist(x, x, p=0.0), ad.nn.functional.pdist(x, 0.0)):
        assert y.isnan().any() and y.requires_grad
        assert ad.autograd.grad(y.sum(), x)[0].tolist() == [[0.0] * 3] * 3


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, ad.inf])
def test_points_without_coordinates_are_at_one_place(p: float) -> None:
    x = ad.zeros(3, 0)
    assert ad.cdist(x, x, p).tolist() == [[0.0] * 3] * 3
    assert ad.nn.functional.pdist(x, p).tolist() == [0.0] * 3


def test_filled_tensors_keep_the_sign_of_zero() -> None:
    x = ad.ones(3).requires_grad_()
    y = ad.fill(x, -0.0)
    assert y.signbit().all() and ad.autograd.grad(y.sum(), x)[0].tolist() == [0.0] * 3


@pytest.mark.parametrize("name", ["mvlgamma_", "ldexp_", "i0_"])
def test_compositions_in_place_keep_the_type(name):
    x = ad.tensor([3, 4])
    with pytest.raises(RuntimeError, match=f"{name}: result type .*float32 can't be cast to the desired output type .*int64"):
        getattr(x, name)(*{"mvlgamma_": [2], "ldexp_": [ad.tensor([1, 2])], "i0_": []}[name])
    assert x.tolist() == [3, 4]


def test_filled_tensors_are_functions_of_what_they_were():
    x = ad.ones(2, dtype=ad.complex128, requires_grad=True)
    ad.fill(x, True).sum().real.backward()
    assert x.grad.tolist() == [0, 0]


def test_huber_loss_without_a_bound_is_half_a_square() -> None:
    x, y = ad.tensor([1.0, -30.0], requires_grad=True), ad.tensor([0.0, 1.0])
    loss = F.huber_loss(x, y, "sum", math.inf)
    assert loss.item() == 481 and ad.autograd.grad(loss, x)[0].tolist() == [1.0, -31.0]


def test_nothing_is_joined_along_any_dimension() -> None:
    nothing = ad.tensor([])
    assert ad.cat([nothing, nothing], 1).shape == (0,) and ad.cat([nothing, ad.ones(2, 3), nothing], 1).shape == (2, 3)
    with pytest.raises(IndexError):
        ad.cat([nothing, ad.ones(2)], 1)
