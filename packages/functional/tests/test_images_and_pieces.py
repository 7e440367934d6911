"""Images of bytes, pieces that are written to, and indices of another rank."""

import math

import pytest

import adjoint as ad

X = ad.arange(36, dtype=ad.uint8).view(1, 1, 6, 6) * 7


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(
    "options", [{"size": (3, 4)}, {"scale_factor": 1.7, "align_corners": True}, {"size": (2, 2), "antialias": True}]
)
def test_an_image_of_bytes_is_resized_as_its_numbers(mode, options):
    y = ad.nn.functional.interpolate(X, mode=mode, **options)
    exact = ad.nn.functional.interpolate(X.double(), mode=mode, **options).clamp(0, 255)
    assert y.dtype is ad.uint8 and (y.double() - exact).abs().max() <= 0.501


def test_other_integers_are_refused():
    with pytest.raises(NotImplementedError, match="interpolate: mode bilinear is not implemented for .*int64"):
        ad.nn.functional.interpolate(X.long(), 3, mode="bilinear")


@pytest.mark.parametrize(
    "cut", [lambda x: x.unsafe_split(2), lambda x: x.unsafe_chunk(2), lambda x: x.unsafe_split_with_sizes([2, 2])]
)
def test_a_write_to_one_piece_leaves_the_others(cut):
    x = ad.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    a, b = cut(x)
    kept = b.exp()
    a.mul_(2)
    (a.sum() + kept.sum()).backward()
    assert x.grad.tolist() == [2, 2, *b.exp().tolist()]


@pytest.mark.parametrize(
    "cut", [lambda x: x.unsafe_split(2), lambda x: x.unsafe_chunk(2), lambda x: x.unsafe_split_with_sizes([2, 2])]
)
def test_pieces_of_what_records_no_gradient_are_views(cut):
    x = ad.tensor([1.0, 2.0, 3.0, 4.0])
    a, b = cut(x)
    a.mul_(2)
    b.mul_(ad.ones(2, requires_grad=True))
    assert x.tolist() == [2, 4, 3, 4] and x.requires_grad
    with ad.no_grad():
        assert cut(x)[0].data_ptr() == x.data_ptr()


def test_an_empty_index_of_another_rank():
    x = ad.ones(5, requires_grad=True)
    y = x.gather(0, ad.zeros(2, 0, dtype=ad.int64))
    assert y.shape == (2, 0)
    y.sum().backward()
    assert x.grad.tolist() == [0] * 5


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="rtol must be greater"):
        ad.isclose(ad.ones(1), ad.ones(1), rtol=-1.0)
    with pytest.raises(RuntimeError, match="fliplr: input must be >= 2-d"):
        ad.fliplr(ad.ones(1))


def test_repetitions_that_differ_between_lanes():
    x, times = ad.arange(12.0).view(2, 3, 2), ad.tensor([[1, 2, 0], [0, 0, 3]])
    y = ad.vmap(lambda a, b: a.repeat_interleave(b, 0))(x, times)
    ad.testing.assert_close(y, ad.stack([a.repeat_interleave(b, 0) for a, b in zip(x, times)]))
    with pytest.raises(RuntimeError, match="one sum in all lanes, got 3 and 6"):
        ad.vmap(lambda a, b: a.repeat_interleave(b, 0))(x, times + ad.tensor([[1], [0]]))


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize(("padding", "expected"), [("zeros", 0.0), ("border", 4.0), ("reflection", 4.0)])
def test_grid_sample_of_volumes_at_no_place(padding: str, expected: float, mode: str) -> None:
    """Where a position is NaN, it is the last element if positions are brought in, and outside if not: as in PyTorch, of volumes alone."""
    x = ad.arange(5.0).view(1, 1, 1, 1, 5)
    grid = ad.zeros(1, 1, 1, 2, 3)
    grid[..., 0, 0] = math.nan
    assert ad.nn.functional.grid_sample(x, grid, mode, padding, False).flatten().tolist() == [expected, 2.0]


@pytest.mark.parametrize(("padding", "expected"), [("zeros", math.nan), ("border", 1.5), ("reflection", 1.5)])
def test_grid_sample_at_no_place(padding: str, expected: float) -> None:
    """Where a position is NaN, it is the first element if positions are brought in."""
    x = ad.tensor([[[[1.0, 5.0], [2.0, 7.0]]]])
    grid = ad.tensor([[[[math.nan, 0.0], [0.0, 0.0]]]])
    bilinear = ad.nn.functional.grid_sample(x, grid, "bilinear", padding, False)
    assert bilinear.flatten().tolist() == pytest.approx([expected, 3.75], nan_ok=True)
    nearest = ad.nn.functional.grid_sample(x, grid, "nearest", padding, False)
    assert nearest.flatten().tolist() == [0.0 if padding == "zeros" else 1.0, 1.0]
