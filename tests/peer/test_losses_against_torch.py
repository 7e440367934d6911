"""Losses of nn.functional, in PyTorch and here: operands and weights of several types, with and without elements, by each reduction."""

import math
from itertools import product

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")  # of sizes and reductions
FLOATS = ("float32", "float64", "bfloat16")
SHAPES = ((3,), (0,), (2, 3), (0, 3), (2, 0), (), (2, 3, 0))
REDUCTIONS = ("none", "mean", "sum")
OF_PAIRS = (
    "mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss soft_margin_loss hinge_embedding_loss "
    "binary_cross_entropy binary_cross_entropy_with_logits multilabel_soft_margin_loss"
).split()
WEIGHTED = {
    **dict.fromkeys(("binary_cross_entropy", "multilabel_soft_margin_loss", "mse_loss", "l1_loss", "huber_loss"), ("weight",)),
    "binary_cross_entropy_with_logits": ("weight", "pos_weight"),
}
ROWS = (((3,), ()), ((2, 3), (2,)), ((0, 3), (0,)), ((2, 0), (2,)), ((0, 3, 2), (0, 2)), ((2, 3, 0), (2, 0)))


def numbers(m, shape, dtype, start=0.1):
    """Of both halves of (0, 1), none of them where a loss bends."""
    values = [(start + 0.37 * i) % 0.9 + 0.05 for i in range(math.prod(shape))]
    return m.tensor(values, dtype=getattr(m, dtype)).reshape(shape)


def outcome(m, f):
    try:
        y = f(m)
    except (RuntimeError, ValueError, IndexError):
        return None
    return str(y.dtype).rpartition(".")[2], tuple(y.shape), y.double().reshape(-1).tolist()


def check(f, label):
    theirs, ours = outcome(torch, f), outcome(ad, f)
    if theirs is None or ours is None:
        assert theirs is ours, (label, theirs, ours)
        return
    assert ours[:2] == theirs[:2], (label, theirs, ours)
    near = 2e-2 if "bfloat16" in label else 1e-5
    for a, b in zip(ours[2], theirs[2], strict=True):
        assert (a != a and b != b) or math.isclose(a, b, rel_tol=near, abs_tol=near), (label, theirs, ours)


@pytest.mark.parametrize("name", OF_PAIRS)
def test_pairs(name):
    for shape, reduction, a, b in product(SHAPES, REDUCTIONS, FLOATS, FLOATS):

        def loss(m, shape=shape, reduction=reduction, a=a, b=b, **weights):
            return getattr(m.nn.functional, name)(
                numbers(m, shape, a), numbers(m, shape, b, 0.6), reduction=reduction, **weights
            )

        check(loss, (name, shape, reduction, a, b))
        for which, kind in product(WEIGHTED.get(name, ()), (*FLOATS, "complex64") if a == b else ()):
            for size in (shape, shape[-1:], (1,), *[(2, 1)] * name.startswith("binary")):
                check(lambda m: loss(m, **{which: numbers(m, size, kind)}), (name, which, shape, size, reduction, a, kind))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_classes(name):
    for (shape, rows), reduction, a, ignored in product(ROWS, REDUCTIONS, FLOATS, (-100, 1)):
        for kind, smoothing in product((None, a), (0.0, 0.1) if name == "cross_entropy" else (None,)):

            def loss(m, shape=shape, rows=rows, reduction=reduction, a=a, ignored=ignored, kind=kind, smoothing=smoothing):
                classes = m.arange(math.prod(rows)).reshape(rows) % 3
                weight = kind and numbers(m, (shape[0] if len(shape) == 1 else shape[1],), kind)
                more = {} if smoothing is None else {"label_smoothing": smoothing}
                f = getattr(m.nn.functional, name)
                return f(numbers(m, shape, a), classes, weight=weight, reduction=reduction, ignore_index=ignored, **more)

            check(loss, (name, shape, reduction, a, ignored, kind, smoothing))


def test_probabilities():
    for (shape, _), reduction, a, b, smoothing, weighted in product(
        ROWS, REDUCTIONS, FLOATS, FLOATS, (0.0, 0.1), (False, True)
    ):

        def loss(m, shape=shape, reduction=reduction, a=a, b=b, smoothing=smoothing, weighted=weighted):
            weight = numbers(m, (shape[0] if len(shape) == 1 else shape[1],), a) if weighted else None
            f = m.nn.functional.cross_entropy
            return f(numbers(m, shape, a), numbers(m, shape, b, 0.6), weight, reduction=reduction, label_smoothing=smoothing)

        check(loss, (shape, reduction, a, b, smoothing, weighted))
