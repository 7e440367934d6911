"""Complex numbers on the device: elementwise operations, conversions, sums and reads, with their derivatives."""

import pytest
from device_checks import agree

import adjoint as ad

COMPLEX = [ad.complex64, ad.complex128]
REAL = {ad.complex64: ad.float32, ad.complex128: ad.float64}
UNARY = [
    "neg",
    "conj",
    "abs",
    "angle",
    "sgn",
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "sinh",
    "cosh",
    "tanh",
    "reciprocal",
    "square",
    "tan",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "exp2",
    "expm1",
    "log1p",
    "log2",
    "log10",
    "rsqrt",
    "sigmoid",
    "sinc",
]


def numbers(dtype, *shape):
    n = 1
    for s in shape:
        n *= s
    i = ad.arange(n, dtype=ad.float64)
    return ad.complex((i * 0.37).sin() * 2, (i * 0.71 + 0.2).cos() * 1.5).view(shape).to(dtype)


def parts(results):
    """As real tensors."""
    leaves = [x for r in results for x in (r if isinstance(r, (tuple, list)) else [r]) if x is not None]
    return [ad.view_as_real(x.resolve_conj()) if x.is_complex() else x for x in leaves]


def same(f, *x):
    dtype = REAL.get(x[0].dtype, ad.float32 if x[0].dtype == ad.float32 else ad.float64)
    agree(parts([f(*(t.cuda() for t in x))]), parts([f(*x)]), dtype)


def with_gradients(f):
    def run(*x):
        leaves = [t.detach().requires_grad_() for t in x]
        y = f(*leaves)
        weight = ad.ones_like(y.detach()) * 0.5
        return y, ad.autograd.grad(y, leaves, weight)

    return lambda *x: [y for r in run(*x) for y in (r if isinstance(r, tuple) else [r])]


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name, dtype):
    same(with_gradients(getattr(ad, name)), numbers(dtype, 5, 7))
    same(getattr(ad, name), numbers(dtype, 6, 8)[::2, 1:6:2])
    same(getattr(ad, name), numbers(dtype, 4, 3).t())


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
@pytest.mark.parametrize("op", [ad.add, ad.sub, ad.mul, ad.div], ids=lambda f: f.__name__)
def test_two_operands(op, dtype):
    x, y = numbers(dtype, 4, 5), numbers(dtype, 4, 5) * (0.3 + 1j) + 0.1
    same(with_gradients(op), x, y)
    same(with_gradients(op), x, y[:, :1])
    same(with_gradients(op), x, y.real.contiguous())
    same(with_gradients(op), x.real.contiguous(), y)
    for number in (2.5, 3, 1.5 - 2j):
        same(lambda x, number=number: op(x, number), x)
        same(lambda x, number=number: op(number, x), x.t())
    same(lambda x: op(x, 1 - 2j), x.real.contiguous())
    same(lambda x, y: op(x, y), x.to(ad.complex64), y.to(ad.complex128))


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
def test_zero_and_infinity(dtype):
    inf = float("inf")
    ends = [
        0j,
        1 + 1j,
        2 - 3j,
        *(complex(a, b) for a in (inf, -inf) for b in (0, 1, -2, inf, -inf)),
        complex(0, inf),
        complex(1, -inf),
    ]
    z = ad.tensor(ends, dtype=dtype)
    same(lambda x: [ad.reciprocal(x), 1 / x, x / 2, x / 0, x / (1 + 1j)], z)
    same(lambda x, y: x / y, z[:, None], z)
    same(ad.tanh, z[z.imag.isfinite()])


def test_comparisons_and_choices():
    x = numbers(ad.complex64, 4, 5)
    y = ad.where(x.abs() > 1, x, x + 1)
    same(lambda x, y: [ad.eq(x, y), ad.ne(x, y), ad.where(x == y, x, -y), x.isnan(), x.isfinite()], x, y)
    same(lambda x, y: x == y, x / 0, y)


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
def test_conversions_and_copies(dtype):
    x = numbers(dtype, 4, 6)
    for to in (ad.complex64, ad.complex128):
        same(lambda x, to=to: [x.to(to), x.t().contiguous(), x[:, ::2].clone(), x.real.to(to), x.real.to(ad.int32).to(to)], x)
    same(lambda x: ad.complex(x.real.contiguous(), x.imag.contiguous()), x)
    same(lambda x: x.clone().fill_(2 - 1j), x)
    same(lambda x: x.clone().copy_(x.real), x)
    same(lambda x: [ad.cat([x, x]), x.flip(0), ad.view_as_real(x) * 2], x)


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
def test_sums_and_positions(dtype):
    x, index = numbers(dtype, 6, 5, 3), ad.tensor([4, 0, 4, 2])
    for dim in (0, 1, 2, (0, 2), None):
        same(with_gradients(lambda x, dim=dim: x.sum(dim) if dim is not None else x.sum()), x)
        same(lambda x, dim=dim: x.mean(dim) if dim is not None else x.mean(), x.transpose(0, 2))
    same(with_gradients(lambda x: x.cumsum(1)), x)
    same(lambda x: x.reshape(-1).repeat(400).sum(), x)

    def read_and_write(x):
        i = index.to(x.device)
        return [x.index_select(1, i), x[:, i], x[i], x.index_add(1, i, x[:, :4]), x.index_put((i,), x[:4] * 2, accumulate=True)]

    same(read_and_write, x)
    same(with_gradients(lambda x: x[:, index.to(x.device)] * 2j), x)


def test_dropout_and_random():
    ad.manual_seed(3)
    host = ad.nn.functional.dropout(numbers(ad.complex64, 40), 0.5)
    ad.manual_seed(3)
    agree(parts([ad.nn.functional.dropout(numbers(ad.complex64, 40).cuda(), 0.5)]), parts([host]), ad.float32)


def matrices(dtype):
    return numbers(dtype, 3, 4, 5), numbers(dtype, 3, 5, 6).flip(0)


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
def test_products(dtype):
    x, y = matrices(dtype)
    same(with_gradients(lambda x, y: x @ y), x, y)
    same(with_gradients(lambda x, y: x.mH @ y.mT.mH), x.mT, y)
    same(with_gradients(lambda x, y: x[0] @ y[0, :, 0]), x, y)
    same(with_gradients(lambda x: x @ ad.zeros(5, 0, dtype=dtype, device=x.device)), x)
    same(lambda x: x[0, :, :1] @ x[0, :1, :], numbers(dtype, 1, 70, 70))


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_rows(dim, dtype):
    x = numbers(dtype, 3, 4, 5)
    for name in ("prod", "cumprod", "logsumexp", "logcumsumexp", "var", "std"):
        same(with_gradients(lambda x, name=name: getattr(ad, name)(x, dim)), x)
    for p in (0, 1, 2, 3, -1, float("inf")):
        same(lambda x, p=p: ad.linalg.vector_norm(x, p, dim), x)
    same(with_gradients(lambda x: ad.linalg.vector_norm(x, 2, dim)), x)


@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
@pytest.mark.parametrize("n", [0, 1, 33, 1030])
def test_long_rows(n):
    x = numbers(ad.complex128, n) * (0.9 if n < 1000 else 0.55)
    for f in (ad.prod, ad.var, lambda x: x.cumprod(0), lambda x: x.logcumsumexp(0), lambda x: ad.linalg.vector_norm(x)):
        same(f, x)
    if n:
        same(lambda x: x.logsumexp(0), x)
        same(lambda x: x[:, None].cumprod(0), x)


@pytest.mark.parametrize("dtype", COMPLEX, ids=lambda t: t.name)
def test_positions(dtype):
    x, index = numbers(dtype, 4, 5), ad.tensor([[0, 3, 3, 1, 2], [1, 1, 3, 0, 0]])
    source = numbers(dtype, 3, 6) * (1 + 0.5j)

    def at(f):
        return with_gradients(lambda x, source: f(x, index.to(x.device), source))

    same(at(lambda x, i, s: x.gather(0, i) * s[:2, :5]), x, source)
    same(at(lambda x, i, s: x.scatter_add(0, i, s)), x, source)
    same(at(lambda x, i, s: x.scatter_reduce(0, i, s, "prod")), x, source)
    same(at(lambda x, i, s: x.scatter(1, i.t()[:4] % 2, s.flatten()[:8].view(4, 2))), x, source)
    same(with_gradients(lambda x: ad.nn.functional.embedding(index.to(x.device) % 4, x)), x)
    same(with_gradients(lambda x: [x.tril(1), x.triu(-1)][0] + x.triu(-1)), x)
    same(with_gradients(lambda x: x.masked_fill(index.new_ones(4, 5).bool().triu().to(x.device), 1 - 2j)), x)


def test_complex_numbers_as_attributes():
    x, y, z = numbers(ad.complex128, 5), numbers(ad.complex128, 5) + 1, numbers(ad.complex128, 5) * 1j
    for value in (2, 0.5, 1 - 2j):
        same(with_gradients(lambda x, y, z, v=value: ad.addcmul(x, y, z, value=v)), x, y, z)
        same(with_gradients(lambda x, y, z, v=value: ad.addcdiv(x, y, z, value=v)), x, y, z)
        same(lambda x, y, z, v=value: x.clone().addcmul_(y, z, value=v), x, y, z)
    same(lambda x: ad.lerp(x, 2 * x, 0.25), x)
    same(lambda x: x**2.5 + x**-2 + 2**x, y)
    big = ad.tensor([1, 2], dtype=ad.int64)
    assert (
        ad.addcmul(big.cuda(), big.cuda(), big.cuda(), value=2**40 + 1).tolist()
        == ad.addcmul(big, big, big, value=2**40 + 1).tolist()
    )


def test_ends_of_elementary_functions():
    inf = float("inf")
    z = ad.tensor([complex(a, b) for a in (0.0, -0.0, 1.0, -2.0, inf, -inf) for b in (0.0, 1.0, -3.0, inf, -inf)])
    for name in ("exp", "sqrt", "sinh", "cosh", "tanh", "tan", "asinh", "acosh", "log", "sigmoid"):
        same(getattr(ad, name), z.to(ad.complex128))
