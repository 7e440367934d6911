"""Convolution and pooling on the device in shapes that the cases of operations do not have."""

import itertools

import pytest
from device_checks import agree

import adjoint as ad

F = ad.nn.functional
CONVOLUTIONS = [(F.conv1d, F.conv_transpose1d), (F.conv2d, F.conv_transpose2d), (F.conv3d, F.conv_transpose3d)]


def numbers(*sizes, dtype=ad.float64):
    """Small whole numbers, whose sums are exact in every type."""
    x = ad.arange(ad.Size(sizes).numel()).view(sizes)
    return ((x * 7 + 3) % 11 - 5).to(dtype)


def with_gradients(call, *operands):
    leaves = [x.detach().requires_grad_() for x in operands]
    y = call(*leaves)
    return [y, *ad.autograd.grad(y, leaves, numbers(*y.shape).to(y))]


def compare(call, *operands):
    host = with_gradients(call, *operands)
    device = with_gradients(call, *[x.cuda() for x in operands])
    agree(device, host, operands[0].dtype)


GEOMETRY = list(itertools.product((1, 2, 3), (1, 2, 3), (0, 2), (1, 2), (1, 2, 4)))[::11]  # each value in several


@pytest.mark.parametrize(("dims", "stride", "padding", "dilation", "groups"), GEOMETRY)
def test_geometry(dims, stride, padding, dilation, groups):
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    conv, transposed = CONVOLUTIONS[dims - 1]
    sizes, taps = (7, 5, 5)[:dims], (2, 3, 1)[:dims]
    compare(lambda x, w: conv(x, w, **how), numbers(2, 4, *sizes), numbers(8, 4 // groups, *taps))
    compare(lambda x, w: transposed(x, w, **how), numbers(2, 4, *sizes), numbers(4, 2, *taps))


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16, ad.float32, ad.complex64], ids=lambda t: t.name)
@pytest.mark.parametrize("groups", [1, 6])
def test_types(dtype, groups):
    compare(
        lambda x, w: F.conv2d(x, w, padding=1, groups=groups),
        numbers(1, 6, 4, 3, dtype=dtype),
        numbers(6, 6 // groups, 3, 2, dtype=dtype),
    )


@pytest.mark.parametrize("channels", [3, 33])
def test_channels_last_and_views(channels):
    x, w = numbers(2, 4, 5, channels).movedim(3, 1), numbers(4, 3, 2, channels).permute(0, 3, 2, 1)
    compare(F.conv2d, x, w)
    compare(lambda x, w: F.conv2d(x[..., ::2], w.flip(2), groups=channels), x, w[:1].expand(channels, -1, -1, -1)[:, :1])


@pytest.mark.parametrize("sizes", [(0, 2, 4, 4), (2, 0, 4, 4)])
def test_nothing(sizes):
    compare(F.conv2d, numbers(*sizes), numbers(3, sizes[1], 3, 3))


def test_a_gradient_of_filters_in_chunks_has_the_same_bits_every_time():
    x, w = ad.randn(3, 2, 24, 24, device="cuda"), ad.randn(3, 2, 3, 3, device="cuda")
    first, again = (with_gradients(lambda x, w: F.conv2d(x, w, padding=1), x, w)[2] for _ in range(2))
    assert first.tolist() == again.tolist()
    host = with_gradients(lambda x, w: F.conv2d(x, w, padding=1), x.cpu(), w.cpu())[2]
    assert (first.cpu() - host).abs().max() < 2e-3


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pools(dims):
    average = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[dims - 1]
    largest = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[dims - 1]
    x = numbers(2, 1, *(7, 6, 5)[:dims])
    for stride, padding, ceil in ((1, 0, False), (2, 1, True)):
        how = {"kernel_size": 3, "stride": stride, "padding": padding, "ceil_mode": ceil}
        compare(lambda x, how=how: average(x, **how, count_include_pad=not how["ceil_mode"]), x)
        compare(lambda x, how=how: largest(x, **how), x)
    values, places = largest(ad.where(x == 3, ad.nan, x).cuda(), 2, dilation=2, return_indices=True)
    host = largest(ad.where(x == 3, ad.nan, x), 2, dilation=2, return_indices=True)
    agree([values, places], host, ad.float64)
