"""Linear algebra beyond its generated tests: singular matrices, free phases, third derivatives, failures."""

import itertools

import numpy as np
import pytest

import adjoint as ad
from op_cases.linalg import CASES
from op_checks.cells import problem
from op_checks.derivative import difference, func_jvp, func_vjp, gradients, leaves
from op_checks.numeric import directions, inner, same_number

linalg = ad.linalg
DOUBLE = ad.float64
rng = np.random.default_rng(0)


def random(*shape):
    return ad.from_numpy(rng.standard_normal(shape))


def of_rank(n, rank):
    return random(n, rank) @ random(rank, n)


# ---- third derivatives: <u, D^3 f(v, w, .)> by three roads


def second(f, xs, us, vs, ws):
    return inner(func_jvp(lambda *xs: list(func_vjp(f, xs, us)), xs, ws), vs)


def third_by_tape(f, xs, us, vs, ws, zs):
    xs = leaves(xs)
    first = inner(gradients(f(*xs), xs, us, create_graph=True), vs)
    again = inner(gradients([first], xs, [ad.ones_like(first)], create_graph=True), ws)
    return inner(gradients([again], xs, [ad.ones_like(again)]), zs)


def third_forward(f, xs, us, vs, ws, zs):
    return inner(func_jvp(lambda *xs: list(func_jvp(lambda *xs: list(func_jvp(f, xs, vs)), xs, ws)), xs, zs), us)


def third_mixed(f, xs, us, vs, ws, zs):
    xs = leaves(xs)
    again = second(f, xs, us, vs, ws)
    return inner(gradients([again], xs, [ad.ones_like(again)]), zs)


THIRD = [c for c in CASES if not c.variant or c.name == "linalg.det"]


@pytest.mark.parametrize("imaginary", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("case", THIRD, ids=lambda c: c.id)
def test_third_derivative(case, imaginary):
    f, xs = problem(case, imaginary=imaginary)
    us, vs, ws, zs = directions(case.rng(1), f(*xs)), *(directions(case.rng(k), xs) for k in (2, 3, 4))
    expected = difference(lambda *xs: second(f, xs, us, vs, ws), xs, zs)
    for mode in (third_by_tape, third_forward, third_mixed):
        same_number(mode(f, xs, us, vs, ws, zs), expected, 2e-6)


# ---- determinants of singular matrices


def determinant(m):
    """By its definition."""
    n = len(m)
    total = 0
    for order in itertools.permutations(range(n)):
        sign = (-1) ** sum(order[i] > order[j] for i in range(n) for j in range(i))
        term = sign
        for i, j in enumerate(order):
            term = term * m[i, j]
        total = total + term
    return total


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4, 5])
def test_det_is_right_to_third_order_at_any_rank(rank):
    n = 5
    x = of_rank(n, rank)
    vs = [[random(n, n)] for _ in range(3)]
    one = [ad.ones((), dtype=DOUBLE)]
    f, g = (lambda x: [linalg.det(x)]), (lambda x: [determinant(x)])
    scale = max(1.0, float(linalg.matrix_norm(x, 2)) ** (n - 3))
    for mode in (third_by_tape, third_forward, third_mixed):
        same_number(mode(f, [x], one, *vs), mode(g, [x], one, *vs), 1e-10, scale)
    same_number(second(f, [x], one, *vs[:2]), second(g, [x], one, *vs[:2]), 1e-10, scale)
    same_number(inner(func_jvp(f, [x], vs[0]), one), inner(func_jvp(g, [x], vs[0]), one), 1e-10, scale)


@pytest.mark.parametrize("dtype", [ad.float32, DOUBLE])
def test_first_derivatives_of_det_keep_their_digits(dtype):
    """Near singular matrices, exactly singular ones and those with rows and columns of different sizes."""
    rng = np.random.default_rng(0)
    eps, sizes = ad.finfo(dtype).eps, 2.0 ** ad.from_numpy(rng.integers(-6, 6, (2, 5))).double()
    whole = ad.from_numpy(rng.integers(-4, 5, (5, 4)) @ rng.integers(-4, 5, (4, 5))).double()
    small, repeated = 1e-4 * ad.from_numpy(rng.standard_normal((5, 5))), ad.from_numpy(rng.standard_normal((5, 5)))
    repeated[3] = repeated[1]
    scaled = sizes[0].unsqueeze(1) * whole * sizes[1]
    for x in (whole, whole + small, scaled, repeated, ad.stack([whole, ad.zeros(5, 5)]).to(DOUBLE)):
        x = x.to(dtype).requires_grad_()
        wide = x.detach().double().reshape(-1, 5, 5).requires_grad_()
        (g,) = ad.autograd.grad(linalg.det(x).sum(), x)
        (expected,) = ad.autograd.grad(sum(determinant(m) for m in wide), wide)
        assert float((g - expected.reshape(x.shape)).abs().max()) < 1000 * eps * float(expected.abs().max())


def test_det_has_no_slope_where_two_ranks_are_missing() -> None:
    for rows in ([[0.0] * 4] * 4, [[0.0] * 5] * 2 + [[float(k * k % 7) for k in range(5 * i, 5 * i + 5)] for i in range(3)]):
        x = ad.tensor(rows, requires_grad=True)
        assert not ad.autograd.grad(linalg.det(x), x)[0].any()
    x = ad.tensor([[0.0, 1.0], [0.0, 0.0]], requires_grad=True)  # pivots that are 0 are two here, too
    assert ad.autograd.grad(linalg.det(x), x)[0].tolist() == [[0.0, 0.0], [-1.0, 0.0]]


def test_det_of_a_batch_of_all_ranks_under_vmap():
    x = ad.stack([of_rank(4, rank) for rank in range(5)])
    whole = ad.func.vmap(ad.func.hessian(linalg.det))(x)
    for i in range(5):
        assert ad.allclose(whole[i], ad.func.hessian(determinant)(x[i]), rtol=1e-9, atol=1e-9)


def test_single_precision_low_rank():
    x = of_rank(6, 3).float().requires_grad_()
    (g,) = ad.autograd.grad(linalg.det(x), x)
    assert float(g.abs().max()) < 1e-4


def test_repeated_values_have_finite_gradients():
    for f in (linalg.eigvalsh, linalg.svdvals):
        x = ad.eye(3, dtype=DOUBLE, requires_grad=True)
        (g,) = ad.autograd.grad(f(x).sum(), x)
        assert ad.allclose(g, ad.eye(3, dtype=DOUBLE))


# ---- free phases


@pytest.mark.parametrize("f", [lambda x: linalg.eigh(x + x.mH)[1], lambda x: linalg.eig(x)[1], lambda x: linalg.svd(x)[0]])
def test_a_loss_of_the_phase_is_refused(f):
    x = ad.complex(random(3, 3), random(3, 3)).requires_grad_()
    with pytest.raises(RuntimeError, match="specified up to multiplication by e"):
        f(x).sum().abs().backward()


def test_complete_qr_of_tall_matrices_has_no_derivative():
    x = random(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        linalg.qr(x, mode="complete").R.sum().backward()


def test_the_triangle_alone_can_be_differentiated():
    x = random(3, 2).requires_grad_()
    (g,) = ad.autograd.grad(linalg.qr(x, mode="r").R.square().sum(), x)
    assert ad.allclose(g, 2 * x)


# ---- failures


FAILURES = {
    "cholesky": (lambda a: linalg.cholesky(-a), "not positive-definite .the leading minor of order 1 is not positive-definite"),
    "inv": (lambda a: linalg.inv(0 * a), "The diagonal element 1 is zero, the inversion could not be completed"),
    "solve": (lambda a: linalg.solve(0 * a, a), "The solver failed because the input matrix is singular"),
    "lu_factor": (lambda a: linalg.lu_factor(0 * a), "is zero and using it on lu_solve would result in a division by zero"),
    "svd": (lambda a: linalg.svd(a / 0), "non-finite values"),
    "eig": (lambda a: linalg.eig(a * float("nan")), "should not contain infs or NaNs"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_have_a_type_of_their_own(name):
    run, text = FAILURES[name]
    with pytest.raises(linalg.LinAlgError, match=text):
        run(ad.eye(3))
    with pytest.raises(RuntimeError, match=text):
        ad.func.vmap(run)(ad.eye(3).expand(2, 3, 3))


def test_failures_name_the_matrix():
    with pytest.raises(linalg.LinAlgError, match=r"linalg.inv: \(Batch element 1\): The diagonal element 2 is zero"):
        linalg.inv(ad.stack([ad.eye(2), ad.tensor([[1.0, 0.0], [0.0, 0.0]])]))


@pytest.mark.parametrize("name", ["cholesky_ex", "inv_ex", "lu_factor_ex"])
def test_info(name):
    x = ad.stack([ad.eye(2), ad.zeros(2, 2)])
    assert getattr(linalg, name)(x).info.tolist() == [0, 1]
    with pytest.raises(linalg.LinAlgError):
        getattr(linalg, name)(x, check_errors=True)


def test_info_of_solve():
    x = ad.stack([ad.eye(2), ad.tensor([[1.0, 1.0], [1.0, 1.0]])])
    assert linalg.solve_ex(x, ad.ones(2, 2, 1)).info.tolist() == [0, 2]


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16])
def test_half_precision_is_refused(dtype):
    for f in (linalg.cholesky, linalg.inv, linalg.det, linalg.qr, linalg.svd, linalg.eigh):
        with pytest.raises(RuntimeError, match="not implemented for"):
            f(ad.eye(2, dtype=dtype))


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16])
def test_exponentials_in_half_precision_are_rounded_once(dtype):
    x = (ad.arange(9.0).reshape(3, 3) / 8).to(dtype).requires_grad_()
    wide = x.detach().float().requires_grad_()
    y, exact = linalg.matrix_exp(x), linalg.matrix_exp(wide)
    assert ad.equal(y, exact.to(dtype))
    assert ad.equal(ad.autograd.grad(y.sum(), x)[0], ad.autograd.grad(exact.sum(), wide)[0].to(dtype))


BAD = {
    "vector": lambda: linalg.inv(ad.ones(3)),
    "rectangle": lambda: linalg.det(ad.ones(2, 3)),
    "integers": lambda: linalg.cholesky(ad.eye(2, dtype=ad.int64)),
    "sizes": lambda: linalg.solve(ad.eye(3), ad.ones(2)),
    "types": lambda: linalg.solve(ad.eye(3), ad.ones(3, dtype=DOUBLE)),
    "batches": lambda: linalg.solve(ad.ones(2, 3, 3), ad.ones(5, 3, 1)),
    "triangle of a vector": lambda: linalg.solve_triangular(ad.eye(3), ad.ones(3), upper=True),
    "pivots out of range": lambda: linalg.lu_solve(ad.eye(2), ad.tensor([1, 7], dtype=ad.int32), ad.ones(2, 1)),
    "too many pivots": lambda: ad.lu_unpack(ad.eye(2), ad.tensor([1, 2, 1], dtype=ad.int32)),
    "mode": lambda: linalg.qr(ad.eye(2), mode="thin"),
    "UPLO": lambda: linalg.eigh(ad.eye(2), UPLO="X"),
    "pivot": lambda: linalg.lu(ad.eye(2), pivot=False),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    with pytest.raises((RuntimeError, IndexError)):
        BAD[what]()


def test_results_have_names():
    assert linalg.eigh(ad.eye(2))._fields == ("eigenvalues", "eigenvectors")
    assert linalg.svd(ad.eye(2))._fields == ("U", "S", "Vh")
    assert linalg.slogdet(ad.eye(2)).logabsdet.item() == 0
    assert ad.slogdet(ad.eye(2)).sign.item() == ad.eye(2).det().item() == ad.eye(2).inverse().det().item() == 1


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("transpose", [False, True])
def test_a_sparse_triangle_is_solved(layout, transpose):
    A = ad.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [0.0, 0.0, 4.0]])
    b = ad.arange(3.0).view(3, 1)
    sparse = (
        A.to_sparse_bsr((1, 1))
        if layout == "bsr"
        else A.to_sparse()
        if layout == "coo"
        else getattr(A, f"to_sparse_{layout}")()
    )
    solution, copy = ad.triangular_solve(b, sparse, transpose=transpose)
    assert ad.equal(solution, ad.triangular_solve(b, A, transpose=transpose).solution) and copy.shape == (0,)


def test_triangles_and_right_sides_of_two_types():
    A, B = ad.tensor([[2.0, 1.0], [0.0, 4.0]]), ad.tensor([[1.0], [2.0]])
    expected = ad.linalg.solve_triangular(A, B, upper=True)
    for kind, other, found in (
        (ad.complex64, ad.float32, ad.complex64),
        (ad.float32, ad.float64, ad.float32),
        (ad.float32, ad.complex64, ad.complex64),
    ):
        x = ad.linalg.solve_triangular(A.to(kind), B.to(other), upper=True)
        assert x.dtype == found and ad.allclose(x, expected.to(found))


@pytest.mark.parametrize("dtype", [ad.float64, ad.complex128])
@pytest.mark.parametrize("upper", [False, True])
def test_gradient_of_eigenvectors_is_hermitian(dtype: ad.dtype, upper: bool) -> None:
    """As that of the eigenvalues: of a Hermitian matrix, whichever triangle is read, and it gives each Hermitian change its derivative."""
    ad.manual_seed(3)
    x, change, weights = (ad.randn(2, 4, 4, dtype=kind) for kind in (dtype, dtype, ad.float64))
    x, change = x + x.mH, change + change.mH

    def loss(a: ad.Tensor) -> ad.Tensor:
        values, vectors = ad.linalg.eigh(a, UPLO="U" if upper else "L")
        first = vectors[..., :1]
        return ((first @ first.mH).abs() * weights).sum() + (values * weights[:, 0]).sum()

    leaf = x.clone().requires_grad_()
    loss(leaf).backward()
    ad.testing.assert_close(leaf.grad, leaf.grad.mH)
    along = (leaf.grad.conj() * change).sum().real
    ad.testing.assert_close(along, (loss(x + 1e-6 * change) - loss(x - 1e-6 * change)) / 2e-6, rtol=1e-6, atol=1e-6)


# ---- results below the least normal number


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.complex64])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e-36, 1e-40])
def test_singular_values_of_low_rank_at_any_scale(dtype, scale):
    """What vanishes beside the matrix is 0; what is small because the matrix is stays."""
    a = (of_rank(40, 3) * scale).to(dtype)
    exact = np.linalg.svd(a.to(ad.complex128).numpy(), compute_uv=False)
    real = a.real.dtype
    atol = exact[0] * 20 * ad.finfo(real).eps + 50 * ad.finfo(real).smallest_normal * ad.finfo(real).eps
    np.testing.assert_allclose(linalg.svdvals(a).to(DOUBLE).numpy(), exact, rtol=0, atol=atol)
    tiny = ad.tensor([ad.finfo(real).smallest_normal], dtype=real)
    assert (tiny * 0.5).item() > 0  # of other operations they are what they were


def test_products_that_leave_the_numbers():
    x = ad.full((100_000,), 0.7)
    assert ad.prod(x).item() == 0
    assert ad.prod(ad.tensor([1e-20, 1e-20, 1e30])).item() == pytest.approx(1e-10, rel=1e-6)
    assert ad.prod(ad.tensor([1e-20, 1e-20])).item() == pytest.approx(1e-40, rel=1e-4)
    assert ad.prod(ad.tensor([1e-160, 1e-160], dtype=DOUBLE)).item() == pytest.approx(1e-320, rel=1e-3)
