"""Histograms and reductions of segments: one pass over plain memory does what is composed elsewhere."""

import numpy as np
import pytest

import adjoint as ad


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dtype", [ad.float32, ad.float64])
def test_histograms_are_those_of_numpy(seed, dtype):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(1, 4)), int(rng.choice([0, 1, 7, 300]))
    points = np.round(rng.standard_normal((n, k)), 1).astype("f4")  # many on edges
    points[rng.random((n, k)) < 0.05] = np.nan
    edges = [np.sort(rng.choice(np.arange(-20, 21), rng.integers(2, 9), replace=False)).astype("f4") / 10 for _ in range(k)]
    weight = rng.integers(0, 5, n).astype("f4") if seed % 2 else None
    found = ad.histogramdd(
        ad.tensor(points, dtype=dtype),
        [ad.tensor(e, dtype=dtype) for e in edges],
        weight=None if weight is None else ad.tensor(weight, dtype=dtype),
    )
    inside = ~np.isnan(points).any(1)
    wanted = np.histogramdd(points[inside], edges, weights=None if weight is None else weight[inside])[0]
    assert found.hist.dtype == dtype
    np.testing.assert_array_equal(found.hist.numpy(), wanted)


@pytest.mark.parametrize("how", [{"bins": 7}, {"bins": 5, "min": -1, "max": 1}, {"bins": 1}, {"bins": 3, "min": 1, "max": 1}])
def test_equal_parts(how):
    x = ad.arange(2000.0).mul(0.37).sin()
    low, high = (how["min"], how["max"]) if how.get("min") != how.get("max") else (x.min().item(), x.max().item())
    wanted = np.histogram(x.numpy(), how["bins"], (low, high))[0]
    assert ad.histc(x, **how).tolist() == wanted.tolist() == ad.vmap(lambda v: ad.histc(v, **how))(x[None])[0].tolist()
    assert ad.histc(ad.full((3,), 2.0), 4).tolist() == [0, 0, 3, 0]


def test_a_view_is_counted_as_its_base_is_now():
    base = ad.zeros(4)
    part = base[:2]
    base.add_(1)
    base.data = ad.tensor([5.0, 6.0, 7.0, 8.0])
    assert ad.histc(part, 2, 0, 10).tolist() == ad.histc(part.clone(), 2, 0, 10).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_segments_are_those_of_the_composition(seed):
    """Where a derivative is recorded, other operations make it."""
    rng = np.random.default_rng(seed)
    axis, reduce = int(rng.integers(0, 3)), str(rng.choice(["sum", "mean", "prod", "max", "min"]))
    shape = [int(rng.integers(1, 4)) for _ in range(3)]
    lengths = rng.integers(0, 4, (*shape[:axis], 5))
    lengths[..., -1] += lengths.sum(-1).max() - lengths.sum(-1)
    shape[axis] = int(lengths.sum(-1).flat[0])
    x = ad.tensor(rng.standard_normal(shape))
    if shape[axis]:
        x.view(-1)[0] = np.nan if seed % 3 == 0 else 1
    initial = None if seed % 2 else float(rng.standard_normal())
    ends = np.concatenate([np.zeros_like(lengths[..., :1]), lengths.cumsum(-1)], -1)
    for name, given in (("lengths", lengths), ("offsets", ends)):
        kwargs = {name: ad.tensor(given), "axis": axis, "initial": initial}
        found = ad.segment_reduce(x, reduce, **kwargs)
        wanted = ad.segment_reduce(x.clone().requires_grad_(), reduce, **kwargs)
        assert ad.allclose(found, wanted.detach(), rtol=1e-12, atol=1e-12, equal_nan=True)
    strided = x.movedim(axis, -1).contiguous().movedim(-1, axis)
    assert ad.equal(*(ad.segment_reduce(v, "max", lengths=ad.tensor(lengths), axis=axis).nan_to_num() for v in (strided, x)))


def test_bounds_that_nobody_checks_read_nothing_outside():
    x = ad.ones(4)
    y = ad.segment_reduce(x, "sum", offsets=ad.tensor([-9, 2, 1, 99]), unsafe=True)
    assert y.tolist() == [2.0, 0.0, 3.0]


def test_edges_and_ranges():
    """What stands on an edge begins the next part; ranges are taken in double."""
    for bins in (2, 3, 5, 6, 7, 10, 49):
        for last in (1, 6, 30, 98, 119):
            x = ad.arange(last + 1.0)
            place = np.minimum(np.arange(last + 1.0) * bins / last, bins - 1).astype(int)
            for dtype in (ad.float32, ad.float64):
                assert ad.histc(x.to(dtype), bins, 0, last).tolist() == np.bincount(place, minlength=bins).tolist()
    assert ad.histc(ad.full((3,), 1e9), 4).tolist() == [0, 0, 3, 0]
    assert ad.histc(ad.tensor([-3e38, 0.0, 3e38]), 4).tolist() == [1, 0, 1, 1]


def test_what_is_wrong_is_said():
    with pytest.raises(RuntimeError, match="lengths must sum to 3"):
        ad.segment_reduce(ad.ones(3), "sum", lengths=ad.tensor([2**62] * 4 + [3]))
    with pytest.raises(RuntimeError, match="at least 2"):
        ad.histogram(ad.ones(3), ad.tensor([0.0]))
    with pytest.raises(RuntimeError, match="weight must have the shape"):
        ad.histogram(ad.ones(3), 2, weight=ad.ones(2))
    with pytest.raises(NotImplementedError, match="hash_tensor"):
        ad.hash_tensor(ad.tensor([1j]))
    assert ad.hash_tensor(ad.ones(0, 3), dim=1).shape == (0,)


def test_long_sums_keep_their_digits():
    x = ad.full((2**22,), 0.1)
    found = ad.segment_reduce(x, "sum", lengths=ad.tensor([2**22])).item()
    assert found == pytest.approx(x.double().sum().item(), rel=1e-7)
    unchecked = ad.segment_reduce(ad.ones(4), "mean", offsets=ad.tensor([-9, 2, 1, 99]), unsafe=True)
    assert unchecked.nan_to_num(-1).tolist() == [1.0, -1.0, 1.0]


@pytest.mark.parametrize("dtype", [ad.float16, ad.float32, ad.float64])
def test_a_range_between_numbers_of_the_type(dtype):
    x, most = ad.tensor([0.0, 1.0], dtype=dtype), ad.finfo(dtype).max
    if dtype is not ad.float64:
        assert ad.histogram(x, 2, range=(-most, most)).hist.tolist() == [0, 2]
        with pytest.raises(RuntimeError, match="overflows adjoint.float"):
            ad.histogram(x, 2, range=(0.0, 2 * most))
    else:
        with pytest.raises(RuntimeError, match="overflows adjoint.float64"):
            ad.histogram(x, 2, range=(-most, most))
    with pytest.raises(RuntimeError, match=r"should not exceed its maximum, got \[1, 0\]"):
        ad.histogram(x, 2, range=(1.0, 0.0))


@pytest.mark.parametrize("bins", [[2**31, 2**32], [2**22] * 3, [2] * 70])
def test_more_cells_than_there_are_numbers(bins):
    with pytest.raises(RuntimeError, match=f"^histogramdd: a grid of {bins[0]} x {bins[1]} .*bins has too many cells$"):
        ad.histogramdd(ad.zeros(1, len(bins)), bins)


def test_a_number_has_a_weight() -> None:
    edges = ad.tensor([0.0, 1.0, 2.0])
    assert ad.histogram(ad.tensor(1.0), edges, weight=ad.tensor(2.0)).hist.tolist() == [0, 2]
