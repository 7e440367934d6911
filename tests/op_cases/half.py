"""Functions whose derivatives, layouts and batches are those of what they are made of: tested for what they round."""

from op_cases._case import case
from op_cases._inputs import Input, between, data, fixed, idx, positive, prob, x

F = "nn.functional."


def far(*shape: int) -> Input:
    """Numbers of size 3: scores that a softmax tells apart."""
    return Input(shape, lambda rng, s: 3 * rng.standard_normal(s))


def signs(*shape: int) -> Input:
    """-1 and 1."""
    return Input(shape, lambda rng, s: rng.choice([-1.0, 1.0], s), differentiable=False)


def heads(ad, q, k, v, projections, biases, out, out_bias, **options):
    """Attention with two heads."""
    features = q.shape[-1]
    return ad.nn.functional.multi_head_attention_forward(
        q, k, v, features, 2, projections, biases, None, None, False, 0.0, out, out_bias, **options
    )


CASES = [
    # activations
    case(F + "celu", far(4, 5), 1.3),
    case(F + "selu", far(4, 5)),
    case(F + "prelu", x(4, 5), prob(5)),
    case(F + "rrelu", x(4, 5)),
    case(F + "softmin", far(4, 16), dim=1),
    case(F + "softshrink", x(4, 5)),
    case(F + "tanhshrink", x(4, 5)),
    case(F + "softplus", far(4, 16), beta=1.7, variant="beta"),
    case(F + "softmax", far(4, 64), dim=1, variant="long"),
    case(F + "log_softmax", far(4, 64), dim=1, variant="long"),
    # attention
    case(F + "scaled_dot_product_attention", far(2, 2, 16, 8), far(2, 2, 24, 8), x(2, 2, 24, 8), variant="far"),
    case(F + "scaled_dot_product_attention", far(2, 16, 8), far(2, 16, 8), x(2, 16, 8), is_causal=True, variant="causal"),
    case(F + "multi_head_attention_forward", x(6, 2, 8), x(7, 2, 8), x(7, 2, 8), x(24, 8), x(24), x(8, 8), x(8), call=heads),
    case("segment_reduce", x(6), "sum", lengths=fixed([2, 4]), axis=0),
    # layers
    case(F + "linear_cross_entropy", x(8, 16), x(5, 16), idx(8, hi=5)),
    case(F + "linear", x(8, 32), x(16, 32), x(16), variant="long"),
    case(F + "conv3d", x(1, 2, 3, 4, 4), x(3, 2, 2, 2, 2), x(3)),
    case(F + "conv_transpose1d", x(2, 3, 5), x(3, 4, 3), x(4), stride=2),
    case(F + "conv_transpose3d", x(1, 2, 2, 3, 2), x(2, 2, 2, 2, 2)),
    case(F + "avg_pool1d", x(2, 3, 8), 3),
    case(F + "avg_pool3d", x(1, 2, 4, 4, 4), 2),
    case(F + "adaptive_avg_pool1d", x(2, 3, 7), 3),
    case(F + "adaptive_avg_pool3d", x(1, 2, 5, 4, 3), 2),
    case(F + "adaptive_max_pool1d", x(2, 3, 7), 3),
    case(F + "adaptive_max_pool3d", x(1, 2, 5, 4, 3), 2),
    case(F + "max_pool3d", x(1, 2, 4, 4, 4), 2),
    case(F + "lp_pool1d", positive(2, 3, 8), 3, 2),
    case(F + "lp_pool2d", positive(2, 2, 4, 4), 3, 2),
    case(F + "lp_pool3d", positive(1, 2, 4, 4, 4), 3, 2),
    case(F + "max_unpool1d", x(1, 2, 3), fixed([[[0, 3, 5], [1, 2, 4]]]), 2),
    case(F + "max_unpool2d", x(1, 1, 2, 2), fixed([[[[0, 3], [9, 14]]]]), 2),
    case(F + "max_unpool3d", x(1, 1, 1, 1, 2), fixed([[[[[0, 5]]]]]), 2),
    case(F + "instance_norm", x(2, 3, 8), weight=x(3), bias=x(3)),
    case(F + "group_norm", x(2, 4, 8), 2, x(4), x(4), variant="long"),
    case(F + "batch_norm", x(4, 3, 2), data(3), positive(3), x(3), x(3), variant="evaluated"),
    case(F + "interpolate", x(1, 2, 3, 4, 2), size=(5, 6, 3), mode="trilinear", variant="trilinear"),
    case(F + "interpolate", x(1, 2, 5), size=8, mode="linear", variant="linear"),
    case(F + "upsample", x(1, 2, 3, 4), scale_factor=2),
    case(F + "upsample_nearest", x(1, 2, 3, 4), scale_factor=2),
    case(F + "upsample_bilinear", x(1, 2, 3, 4), scale_factor=2),
    case(F + "affine_grid", x(2, 2, 3), (2, 1, 3, 4), align_corners=False),
    # losses
    case(F + "ctc_loss", x(6, 2, 4), fixed([[1, 2, 1], [3, 1, 2]]), (6, 5), (3, 2)),
    case(F + "cosine_embedding_loss", x(3, 8), x(3, 8), fixed([1, -1, 1])),
    case(F + "gaussian_nll_loss", x(3, 8), data(3, 8), positive(3, 8), full=True),
    case(F + "hinge_embedding_loss", x(3, 8), fixed([[1, -1, 1, 1, -1, 1, -1, -1]])),
    case(F + "margin_ranking_loss", x(3, 8), x(3, 8), signs(3, 8), margin=0.3),
    case(F + "multilabel_margin_loss", x(2, 4), fixed([[1, 3, -1, 0], [0, -1, 1, 2]])),
    case(F + "poisson_nll_loss", x(3, 8), positive(3, 8), full=True),
    case(F + "soft_margin_loss", x(3, 8), signs(3, 8)),
    case(F + "triplet_margin_loss", x(3, 8), x(3, 8), x(3, 8), margin=2.0),
    case(F + "triplet_margin_with_distance_loss", x(3, 8), x(3, 8), x(3, 8), margin=2.0),
    case(F + "pairwise_distance", x(3, 8), x(3, 8)),
    case(F + "mse_loss", x(3, 8), x(3, 8), weight=positive(3, 8), variant="weighted"),
    case(F + "kl_div", between(-3.0, -0.1, 3, 8), prob(3, 8), reduction="batchmean", variant="batchmean"),
    case(F + "cross_entropy", far(4, 8), idx(4, hi=8), label_smoothing=0.1, variant="smoothed"),
    # products
    case("addbmm", x(3, 5), x(2, 3, 4), x(2, 4, 5), beta=0.7, alpha=1.3),
    case("addr", x(3, 4), x(3), x(4), beta=0.7, alpha=1.3),
    case("baddbmm", x(2, 3, 5), x(2, 3, 16), x(2, 16, 5), variant="long"),
    case("addmm", x(3, 5), x(3, 16), x(16, 5), beta=0.7, alpha=1.3, variant="long"),
    case("addmv", x(3), x(3, 16), x(16), variant="long"),
    case("linalg.multi_dot", (x(3, 4), x(4, 5), x(5, 2))),
    case("chain_matmul", x(3, 4), x(4, 5), x(5, 2)),
    case("linalg.vecdot", x(3, 16), x(3, 16)),
    # statistics and arrangements
    case("histc", x(40), 8, -2, 2),
    case("mode", fixed([[1.0, 2.0, 2.0], [3.0, 1.0, 3.0]]), 1),
    case("msort", x(5, 2)),
    case("std_mean", x(3, 16), 1),
    case("trapz", x(3, 9), dx=0.3),
    case("put", x(3, 4), fixed([1, 5]), x(2)),
    case("rsub", x(3, 4), x(3, 4), alpha=3),
    case("special.multigammaln", between(3.0, 5.0, 3, 4), 3),
    case("special.shifted_chebyshev_polynomial_u", prob(3, 4), 4),
    case("special.shifted_chebyshev_polynomial_v", prob(3, 4), 4),
    case("special.shifted_chebyshev_polynomial_w", prob(3, 4), 4),
    case("special.airy_ai", x(3, 4)),
    case("special.modified_bessel_i0", x(3, 4)),
    case("special.modified_bessel_i1", x(3, 4)),
]
"Calls like those of the other subjects, of functions that have no case there, and of some where errors grow with the size."
