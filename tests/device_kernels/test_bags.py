"""Bags of rows on the device: one launch each way, over blocks of the list, of rows and of columns."""

import itertools

import pytest
from device_checks import agree

import adjoint as ad

bags = ad.nn.functional.embedding_bag


def list_of(items, rows):
    """Positions in a table, with repetitions, and where four bags begin, of which one is empty."""
    return (ad.arange(items) * 7919 % 104729) % rows, ad.tensor([0, items // 3, items // 3, items - items // 4])


def run(device, dtype, items, rows, width, weighed, **options):
    index, offsets = (t.to(device) for t in list_of(items, rows))
    table = (ad.arange(rows * width, dtype=ad.float64) * 0.7).sin().view(rows, width).to(device, dtype).requires_grad_()
    weights = (ad.arange(items, dtype=ad.float64) * 1.3).cos().to(device, dtype).requires_grad_() if weighed else None
    y = bags(index, table, offsets, per_sample_weights=weights, **options)
    given = [table, weights] if weighed else [table]
    first = ad.autograd.grad((y * y).sum(), given, create_graph=True)
    return [y.detach(), *first, *ad.autograd.grad(sum((g * g).sum() for g in first), given)]


MODES = [("sum", True), ("sum", False), ("mean", False), ("max", False)]


@pytest.mark.parametrize(("mode", "weighed"), MODES)
@pytest.mark.parametrize("sizes", [(9, 5, 3), (300, 70, 5), (40, 3, 300), (20, 1, 1)], ids=str)
def test_over_blocks(mode, weighed, sizes):
    for padding, closed in itertools.product((None, 0), (False, True)):
        options = {"mode": mode, "padding_idx": padding, "include_last_offset": closed}
        agree(*(run(device, ad.float64, *sizes, weighed, **options) for device in ("cuda", "cpu")), ad.float64)


@pytest.mark.parametrize(("mode", "weighed"), MODES)
@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.bfloat16], ids=lambda t: t.name)
def test_element_types(mode, weighed, dtype):
    agree(*(run(device, dtype, 12, 5, 3, weighed, mode=mode)[:2] for device in ("cuda", "cpu")), dtype)


def test_nan_is_the_largest():
    table = ad.tensor([[1.0], [float("nan")], [2.0]])
    for device in ("cpu", "cuda"):
        y = bags(ad.tensor([[0, 1, 2], [2, 0, 2]]).to(device), table.to(device), mode="max")
        assert y.isnan().tolist() == [[True], [False]] and y[1].item() == 2


def test_rows_outside_are_nan():
    y = bags(ad.tensor([[0, 3], [0, 1], [-1, 0]]).cuda(), ad.ones(3, 2).cuda(), mode="sum")
    assert y.isnan().tolist() == [[True] * 2, [False] * 2, [True] * 2]


@pytest.mark.parametrize(("mode", "weighed"), MODES[:2])
def test_one_launch_each_way(mode, weighed, stand_in):
    if stand_in is None:
        pytest.skip("launches are counted on the stand-in")
    index, offsets = (t.cuda() for t in list_of(9, 5))
    table = ad.ones(5, 3, device="cuda", requires_grad=True)
    weights = ad.ones(9, device="cuda") if weighed else None
    v = ad.ones(4, 3, device="cuda")
    before = len(stand_in.launched)
    bags(index, table, offsets, mode=mode, per_sample_weights=weights).backward(v)
    assert stand_in.launched[before:] == ["embedding_bag", "embedding_bag_vjp"]
