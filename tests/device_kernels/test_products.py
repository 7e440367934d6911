"""Products of matrices on the device against the CPU: long sums of few results, and large operands that are turned first."""

import pytest
from device_checks import agree

import adjoint as ad

LONG = [
    ((1, 9000), (9000, 1)),
    ((3, 1100), (1100, 5)),
    ((1, 700), (700, 40)),
    ((9, 9000), (9000, 1)),
    ((2, 3, 1100), (2, 1100, 1)),
]
TYPES = [ad.float32, ad.float64, ad.bfloat16, ad.complex64]


def numbers(shape, dtype):
    x = ad.linspace(-1, 1, ad.Size(shape).numel(), dtype=ad.float64).mul(37).sin().view(shape)
    if dtype.is_complex:
        return ad.complex(x, 1 - x * x).to(dtype)
    return (x if dtype.is_floating_point else x * 9).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sizes", LONG, ids=str)
def test_long_sums(sizes, turned, dtype):
    x, y = (numbers(s, dtype) for s in sizes)
    if turned:
        x, y = (t.mT.contiguous().mT for t in (x, y))
    size = y.shape[-2] if dtype in (ad.float32, ad.complex64) else 1
    agree((x.cuda() @ y.cuda()) / size, (x @ y) / size, dtype)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_large_operands_lie_either_way(left, right, rounded, monkeypatch):
    x, y = numbers((400, 410), ad.float32), numbers((410, 420), ad.float32)
    x, y = x.t().contiguous().t() if left else x, y.t().contiguous().t() if right else y
    monkeypatch.setattr(ad.backends.cuda.matmul, "allow_tf32", rounded)
    error = (x.cuda() @ y.cuda()).cpu() - x @ y
    assert error.abs().max() < (0.1 if rounded else 2e-4)


@pytest.mark.parametrize("side", [0, 1])
def test_nothing_beyond_an_operand_is_read(side):
    """Of 17 lines a tile has 32: 15 more would leave the allocator's segment."""
    x, y = ad.ones(17, 170000).cuda()[:, ::500], ad.ones(340, 2).cuda()
    z = x @ y if side == 0 else y.t() @ x.t()
    assert (z.cpu() == 340).all()


def grids_of(call, stand_in, monkeypatch):
    """Of launches that are not run, where the interpreter would take minutes."""
    grids = []
    if stand_in:
        from adjoint_kernels_triton import _interpreter

        monkeypatch.setattr(_interpreter, "run", lambda function, arguments, grid: grids.append(grid))
    return grids, call()


@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2, 2)], ids=str)
@pytest.mark.parametrize("dtype", [ad.float32, ad.int32, ad.complex64], ids=lambda t: t.name)
def test_batches_beyond_the_limit_of_a_grid(sizes, dtype, stand_in, monkeypatch):
    m, k, n = sizes
    x, y = (ad.ones(70000, *s, dtype=dtype, device="cuda") for s in ((m, k), (k, n)))
    grids, z = grids_of(lambda: x @ y, stand_in, monkeypatch)
    assert grids == [(70000, 1, 1)] if stand_in else (z.cpu() == 2).all()


@pytest.mark.parametrize("rounded", [False, True])
def test_operands_of_any_length_are_turned(rounded, stand_in, monkeypatch):
    """More than 65535 blocks of 64."""
    monkeypatch.setattr(ad.backends.cuda.matmul, "allow_tf32", rounded)
    x = ad.ones(4200000, 4, device="cuda")
    grids, z = grids_of(lambda: x.t() @ x, stand_in, monkeypatch)
    assert (grids[:2] == [(65625, 1, 1)] * 2 if rounded else len(grids) == 2) if stand_in else (z.cpu() == 4200000).all()
