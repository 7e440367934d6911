"""Operands that PyTorch refuses for their types: what would have gone on in a wider type, or given a number without a meaning."""

from collections.abc import Callable

import pytest

import adjoint as ad

F = ad.nn.functional
x, wide = ad.rand(2, 4, 3), ad.ones(4, dtype=ad.float64)
classes = ad.tensor([0, 3])

APART: dict[str, Callable[[], object]] = {
    "linear": lambda: F.linear(ad.ones(2, 3), ad.ones(4, 3), wide),
    "conv": lambda: F.conv1d(x, ad.ones(4, 4, 2), wide),
    "conv_transpose": lambda: F.conv_transpose1d(x, ad.ones(4, 4, 2), wide),
    "bilinear": lambda: F.bilinear(ad.ones(2, 3), ad.ones(2, 3), ad.ones(4, 3, 3), wide),
    "batch_norm": lambda: F.batch_norm(x, wide, wide, training=True),
    "batch_norm's weight": lambda: F.batch_norm(x, None, None, wide, training=True),
    "layer_norm": lambda: F.layer_norm(x.mT, (4,), wide),
    "group_norm": lambda: F.group_norm(x, 2, bias=wide),
    "instance_norm": lambda: F.instance_norm(x, wide, wide),
    "instance_norm's weight": lambda: F.instance_norm(x, weight=wide),
    "prelu": lambda: F.prelu(x, wide),
    "binary_cross_entropy": lambda: F.binary_cross_entropy(x, x.double()),
    "nll_loss": lambda: F.nll_loss(x[..., 0], classes, wide),
    "cross_entropy": lambda: F.cross_entropy(x[..., 0], classes, wide),
    "multi_margin_loss": lambda: F.multi_margin_loss(x[..., 0], classes, weight=wide),
    "multi_margin_loss of squares": lambda: F.multi_margin_loss(x[..., 0], classes, p=2, weight=wide),
    "grid_sample": lambda: F.grid_sample(ad.ones(1, 1, 3, 3), ad.zeros(1, 2, 2, 2, dtype=ad.float64), align_corners=False),
    "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(x, x, x, ad.zeros(4, 4, dtype=ad.float64)),
    "addmm": lambda: ad.addmm(wide, ad.ones(4, 4), ad.ones(4, 4)),
    "addmv": lambda: ad.addmv(wide, ad.ones(4, 4), ad.ones(4)),
    "baddbmm": lambda: ad.baddbmm(wide, ad.ones(2, 4, 4), ad.ones(2, 4, 4)),
    "addbmm": lambda: ad.addbmm(wide, ad.ones(2, 4, 4), ad.ones(2, 4, 4)),
    "histogramdd": lambda: ad.histogram(ad.ones(4), 3, weight=wide),
    "histogramdd's edges": lambda: ad.histogram(ad.ones(4), ad.tensor([0.0, 2.0], dtype=ad.float64)),
}


@pytest.mark.parametrize("name", APART)
def test_another_type_beside_it(name: str) -> None:
    op = name.split("'")[0].split(" ")[0]
    with pytest.raises(
        RuntimeError, match=rf"^{op}: expected .* to have the same dtype as .*, but got float(64|32) and float(64|32)"
    ):
        APART[name]()


def test_halves_beside_parameters_in_single_precision() -> None:
    half, one = x.half(), ad.ones(4)
    for y in (
        F.batch_norm(half, ad.zeros(4), one, one, one, training=True),
        F.layer_norm(half.mT, (4,), one, one),
        F.group_norm(half, 2, one, one),
        F.instance_norm(half, weight=one, bias=one),
        F.scaled_dot_product_attention(half, half, half, ad.zeros(4, 4)),
    ):
        assert y.dtype is ad.float16


@pytest.mark.parametrize("name", APART)
def test_autocast_leaves_double_precision_alone(name: str) -> None:
    with ad.autocast("cpu"), pytest.raises(RuntimeError, match="type|unsafe to autocast"):
        APART[name]()


def test_statistics_of_halves_by_instance() -> None:
    layer = ad.nn.InstanceNorm2d(3, affine=True, track_running_stats=True)
    assert layer(ad.rand(2, 3, 4, 4).half()).dtype is ad.float16
    assert layer.running_mean is not None and layer.running_mean.dtype is ad.float32


def test_autocast_makes_them_alike() -> None:
    low, one = x.bfloat16(), ad.ones(4)
    with ad.autocast("cpu"):
        F.linear(low.mT, ad.ones(5, 4), ad.ones(5).bfloat16())
        F.conv1d(low, ad.ones(4, 4, 2), one)
        F.binary_cross_entropy(low, x)
        F.prelu(low, one)
        F.cross_entropy(low[..., 0], classes, one)
        F.scaled_dot_product_attention(low, low, low, x @ x.mT)
        ad.addmm(low[0], x[0], ad.ones(3, 3))
    with pytest.raises(RuntimeError, match="prelu"):
        F.prelu(low, one)
    ad.set_autocast_enabled("cuda", True)
    try:
        with pytest.raises(RuntimeError, match="prelu"):
            F.prelu(low, one)  # another device's autocast makes nothing alike here
    finally:
        ad.set_autocast_enabled("cuda", False)


@pytest.mark.parametrize("recorded", [False, True])
def test_the_type_that_is_named_is_the_one_that_was_given(recorded: bool) -> None:
    half, odd = ad.ones(2, 3, 3, dtype=ad.float16, requires_grad=recorded), ad.ones(3, dtype=ad.int64)
    for f in (
        lambda: F.conv1d(half, half.new_ones(3, 3, 1), odd),
        lambda: F.conv_transpose1d(half, half.new_ones(3, 3, 1), odd),
        lambda: F.multi_margin_loss(half[..., 0], classes[:1].expand(2), weight=odd),
        lambda: F.bilinear(half, half, half.new_ones(3, 3, 3), odd),
    ):
        with pytest.raises(RuntimeError, match="to have the same dtype as .*, but got int64 and float16"):
            f()


def test_class_probabilities_are_weighted_by_factors() -> None:
    target = x[..., 0].softmax(1)
    ad.testing.assert_close(F.cross_entropy(x[..., 0], target, wide), F.cross_entropy(x[..., 0], target), check_dtype=False)


whole, complex_ = ad.ones(2, 4, dtype=ad.int64), ad.ones(2, 4, dtype=ad.complex64)
WITHOUT_MEANING: dict[str, Callable[[], object]] = {
    "batch_norm": lambda: F.batch_norm(whole, ad.zeros(4).long(), ad.ones(4).long()),
    "mse_loss": lambda: F.mse_loss(complex_, complex_),
    "kl_div": lambda: F.kl_div(whole, whole, reduction="sum"),
    "kl_div of complex numbers": lambda: F.kl_div(complex_, complex_, reduction="sum"),
    "gumbel_softmax": lambda: F.gumbel_softmax(whole),
    "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(whole, whole, whole),
    "cosine_similarity": lambda: F.cosine_similarity(complex_, complex_),
    "poisson": lambda: ad.poisson(whole),
    "isposinf": lambda: ad.isposinf(complex_),
    "isneginf": lambda: complex_.isneginf(),
    "segment_reduce": lambda: ad.segment_reduce(ad.ones(2).bool(), "sum", lengths=ad.tensor([2])),
    "ctc_loss": lambda: F.ctc_loss(ad.zeros(2, 1, 2), ad.tensor([[1]]), ad.ones(1), ad.tensor([1])),
}


@pytest.mark.parametrize("name", WITHOUT_MEANING)
def test_numbers_that_would_mean_nothing(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{name.split(' ')[0]}"):
        WITHOUT_MEANING[name]()


def test_positions_of_an_affine_grid_are_no_whole_numbers() -> None:
    with pytest.raises(ValueError, match="floating point type, but got adjoint.int64"):
        F.affine_grid(ad.ones(1, 2, 3, dtype=ad.int64), (1, 1, 2, 2), align_corners=False)


def test_differences_of_small_whole_numbers_do_not_wrap() -> None:
    y, at = [9, 4, 1, 0], ad.tensor([0.0, 1.0, 2.0, 4.0])
    assert ad.equal(
        ad.gradient(ad.tensor(y, dtype=ad.uint8), spacing=(at,))[0], ad.gradient(ad.tensor(y).float(), spacing=(at,))[0]
    )
