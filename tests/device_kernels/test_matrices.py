"""Linear algebra in Triton beside LAPACK: sizes below, at and above a panel's, batches, failures."""

import pytest
from device_checks import agree

import adjoint as ad

TYPES = [ad.float32, ad.complex128]


def draw(*sizes, dtype):
    ad.manual_seed(sum(sizes))
    return ad.randn(*sizes, dtype=dtype)


def both(call, *tensors):
    """The same call on the device and on the host."""
    device, host = call(*(t.cuda() for t in tensors)), call(*tensors)
    agree(device, host, ad.float32 if tensors[0].dtype in (ad.float32, ad.complex64) else ad.float64)


def well(x):
    """A matrix far from singular ones."""
    n = min(x.shape[-2:])
    return x + 2 * n**0.5 * ad.eye(*x.shape[-2:], dtype=x.dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("sizes", [(1, 1), (3, 7, 7), (2, 9, 4), (4, 9), (2, 0, 0)], ids=str)
def test_lu(sizes, dtype):
    x = draw(*sizes, dtype=dtype)
    both(lambda x: tuple(ad.linalg.lu_factor_ex(x)), x)
    both(lambda x: ad.linalg.lu(x)[0], x)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize(("n", "sides"), [(1, 1), (5, 3)])
def test_solve(n, sides, dtype):
    a, b = well(draw(2, n, n, dtype=dtype)), draw(2, n, sides, dtype=dtype)
    both(lambda a, b: ad.linalg.solve(a, b), a, b)
    both(lambda a: tuple(ad.linalg.inv_ex(a)), a)
    both(lambda a: (ad.linalg.det(a), *ad.linalg.slogdet(a)), a)


ABOVE = [(ad.float32, 66), (ad.complex128, 34)]
"Types, and sizes of two panels."


@pytest.mark.parametrize(("dtype", "n"), ABOVE, ids=str)
@pytest.mark.parametrize("name", ["lu", "solve", "inverse", "cholesky", "qr"])
def test_above_a_panel(name, dtype, n):
    x = draw(n, n + 3, dtype=dtype)[:, 1 : n + 1]
    calls = {
        "lu": lambda x: (tuple(ad.linalg.lu_factor_ex(x)), tuple(ad.linalg.lu_factor_ex(x[:, :-5]))),
        "solve": lambda x: (ad.linalg.solve(x, x[:, :2]), *ad.linalg.slogdet(x)),
        "inverse": lambda x: ad.linalg.inv(well(x.cpu()).to(x.device)),
        "cholesky": lambda x: tuple(ad.linalg.cholesky_ex(positive(x.cpu()).to(x.device) / n)),
        "qr": lambda x: tuple(ad.linalg.qr(x)),
    }
    both(calls[name], well(x) if name == "solve" else x)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
def test_derivatives_of_solve(dtype):
    a, b = well(draw(4, 4, dtype=dtype)), draw(4, 2, dtype=dtype)

    def call(a, b):
        a, b = a.requires_grad_(), b.requires_grad_()
        loss = (ad.linalg.solve(a, b).abs() ** 2).sum() + (ad.linalg.inv(a).abs() ** 2).sum()
        return ad.autograd.grad(loss, (a, b))

    both(call, a, b)


def positive(x):
    return x @ x.mH + ad.eye(x.shape[-1], dtype=x.dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("sizes", [(1, 1), (2, 5, 5)], ids=str)
def test_cholesky(sizes, dtype):
    x = positive(draw(*sizes, dtype=dtype))
    both(lambda x: tuple(ad.linalg.cholesky_ex(x)), x)
    both(lambda x: ad.linalg.cholesky(x, upper=True), x)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("sizes", [(1, 1), (2, 4, 4), (5, 3)], ids=str)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(sizes, mode, dtype):
    both(lambda x: tuple(ad.linalg.qr(x, mode)), draw(*sizes, dtype=dtype))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular(upper, unit, dtype):
    a, b = well(draw(2, 5, 5, dtype=dtype)), draw(2, 5, 3, dtype=dtype)
    both(lambda a, b: ad.linalg.solve_triangular(a, b, upper=upper, unitriangular=unit), a, b)
    both(lambda a, b: ad.linalg.solve_triangular(a, b.mT, upper=upper, unitriangular=unit, left=False), a, b)


def test_qr_of_columns_of_zeros():
    x = ad.zeros(4, 3)
    x[:, 1] = 2.0
    x[0, 2] = -0.0
    both(lambda x: tuple(ad.linalg.qr(x)), x)


def test_failures_are_errors_where_they_are_asked_for():
    singular = ad.ones(2, 3, 3)
    singular[0] = ad.eye(3)
    for call in (ad.linalg.inv, ad.linalg.cholesky, ad.linalg.lu_factor, lambda x: ad.linalg.solve(x, x)):
        with pytest.raises(ad.linalg.LinAlgError) as host:
            call(singular)
        with pytest.raises(ad.linalg.LinAlgError) as device:
            call(singular.cuda())
        assert str(device.value) == str(host.value)
    for call in (ad.linalg.inv_ex, ad.linalg.cholesky_ex, ad.linalg.lu_factor_ex):
        assert call(singular.cuda()).info.tolist() == call(singular).info.tolist() != [0, 0]
