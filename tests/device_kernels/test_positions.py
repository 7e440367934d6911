"""Positions on the device: those outside of the tensor are seen in the result, as a kernel cannot raise; writes along dimensions apart."""

import pytest
from device_checks import agree, real_parts

import adjoint as ad

F = ad.nn.functional
AT = [1, 3, -1, -4]  # of 3 rows: the second and the last are outside


def rows(dtype):
    return ad.arange(1, 7).view(3, 2).to(dtype)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.float16, ad.bfloat16, ad.complex64])
def test_what_is_read_outside_is_nan(dtype):
    x, at = rows(dtype).cuda(), ad.tensor(AT).cuda()
    wide = at.unsqueeze(1).expand(4, 2)
    for y in (x[at], x.gather(0, wide), x.index_select(0, at), F.embedding(at, x)):
        assert y.isnan().tolist() == [[False] * 2, [True] * 2] * 2
        assert y[::2].tolist() == [x[1].tolist(), x[2].tolist()]


def test_integers_outside_are_zero():
    assert rows(ad.int64).cuda()[ad.tensor(AT).cuda()].tolist() == [[3, 4], [0, 0], [5, 6], [0, 0]]


def test_a_class_that_there_is_not_makes_the_loss_nan():
    scores, target = rows(ad.float64).cuda(), ad.tensor([0, 2, -100]).cuda()
    assert F.cross_entropy(scores, target, reduction="none").isnan().tolist() == [False, True, False]
    assert F.cross_entropy(scores, target).isnan().item()
    assert F.nll_loss(scores, target, ad.ones(2, dtype=ad.float64).cuda()).isnan().item()
    assert not F.cross_entropy(scores, target.clamp(max=1)).isnan().item()


def test_positions_that_lie_on_the_cpu_are_checked():
    x = rows(ad.float64).cuda()
    there = ad.tensor([0, 1]).cuda()
    for at in ([0, 3], [-4], ad.tensor([3]), ([0, 1], [0, 2]), (there, ad.tensor([0, 2]))):
        with pytest.raises(IndexError, match="out of bounds"):
            x[at]
        with pytest.raises(IndexError, match="out of bounds"):
            x[at] = 1.0
    assert x[[-1, 0]].tolist() == [[5, 6], [1, 2]]


def test_what_is_written_outside_is_left_out():
    x, at = rows(ad.float64).cuda(), ad.tensor(AT).cuda()
    one = ad.ones(4, 2, dtype=ad.float64).cuda()
    expected = [[1, 2], [4, 5], [6, 7]]
    assert x.index_add(0, at, one).tolist() == expected
    assert x.scatter_add(0, at.unsqueeze(1).expand(4, 2), one).tolist() == expected
    assert x.index_put((at,), one, accumulate=True).tolist() == expected


@pytest.mark.parametrize("dtype", [ad.float64, ad.complex128])
def test_writes_along_dimensions_that_are_apart(dtype):
    def run(to):
        x = to(ad.arange(48).view(2, 3, 4, 2).to(dtype)).requires_grad_()
        values = to(ad.arange(36).view(3, 2, 3, 2).to(dtype)).requires_grad_()
        i, j = to(ad.tensor([[1], [0], [1]])), to(ad.tensor([3, -3]))
        y = x * 1
        y[i, :, j] = to(ad.zeros((), dtype=dtype))  # places that are named twice hold one value
        y[i[:2], :, j] = values[:2]
        sums = ad.autograd.grad((y[i, :, j] * values).sum(), x, to(ad.ones((), dtype=dtype)), create_graph=True)[0]
        squares = (sums * sums.conj()).sum()
        return (y, sums, ad.autograd.grad(squares, values, ad.ones_like(squares))[0])

    agree(real_parts(run(lambda t: t.cuda())), real_parts(run(lambda t: t)), ad.float64)
