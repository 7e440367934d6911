"""`out=`: results that go into a tensor that is given."""

import pytest

import adjoint as ad


def test_the_result_is_written():
    a, b, out = ad.randn(2, 3), ad.randn(2, 3), ad.empty(2, 3)
    assert ad.mul(a, b, out=out) is out and ad.equal(out, a * b)
    assert ad.add(a, b, alpha=2, out=out) is out and ad.equal(out, a + 2 * b)
    assert ad.equal(ad.sum(a, 1, out=ad.empty(2, dtype=ad.float64)), a.double().sum(1))
    assert ad.equal(ad.exp(a, out=None), a.exp())
    view = ad.zeros(3, 2).t()
    ad.sub(a, b, out=view)
    assert ad.equal(view, a - b) and view.stride() == (1, 2)


def test_an_operand_may_be_the_result():
    a = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    expected = a @ a
    assert ad.equal(ad.mm(a, a, out=a), expected)


def test_several_results():
    values, indices = ad.empty(0), ad.empty(0, dtype=ad.int64)
    found = ad.max(ad.tensor([[1.0, 3.0], [5.0, 2.0]]), 1, out=(values, indices))
    assert found.values is values and values.tolist() == [3.0, 5.0] and indices.tolist() == [1, 0]
    with pytest.raises(TypeError, match="'out' must be 2 tensors"):
        ad.max(ad.ones(2, 2), 1, out=values)


def test_sizes_and_types():
    out = ad.empty(0)
    assert ad.cat([ad.ones(2), ad.zeros(1)], out=out).tolist() == [1.0, 1.0, 0.0]
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        assert ad.cat([ad.ones(2), ad.ones(2)], out=out).shape == (4,)
    assert ad.ones(2, 3, out=ad.empty(4)).shape == (2, 3)  # made of numbers alone
    with pytest.raises(RuntimeError, match="result type float32 can't be cast to the desired output type int64"):
        ad.exp(ad.ones(2), out=ad.empty(2, dtype=ad.int64))
    with pytest.raises(TypeError, match=r"exp\(\): argument 'out' must be Tensor, not list"):
        ad.exp(ad.ones(2), out=[1, 2])
    with pytest.raises(TypeError, match=r"is_tensor\(\): incompatible function arguments(.|\n)*out: adjoint.Tensor"):
        ad.is_tensor(1, out=out)


def test_functions_written_in_python_take_it_too():
    x = ad.tensor([[4.0, 1.0], [1.0, 3.0]])
    assert ad.linalg.det(x, out=(out := ad.empty(()))) is out and out.item() == pytest.approx(11)
    found = ad.linalg.eigh(x, out=(ad.empty(2), ad.empty(2, 2)))
    assert ad.allclose(found.eigenvalues, ad.linalg.eigvalsh(x)) and ad.allclose(x @ found[1], found[1] * found[0])
    assert ad.equal(ad.fft.fft(x, out=ad.empty(0, dtype=ad.complex64)), ad.fft.fft(x))
    assert ad.special.entr(x, out=x) is x and x[0, 1] == 0
    with pytest.raises(
        RuntimeError, match=r"heaviside\(\): functions with out=\.\.\. arguments don't support automatic differentiation"
    ):
        ad.heaviside(x, x.clone().requires_grad_(), out=ad.empty(2, 2))
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        ad.nn.functional.prelu(x, x[0], out=x)


def test_nothing_is_recorded():
    text = r"mul\(\): functions with out=\.\.\. arguments don't support automatic differentiation, but one of the arguments requires grad\."
    a, b = ad.ones(2, requires_grad=True), ad.ones(2)
    with pytest.raises(RuntimeError, match=text):
        ad.mul(a, b, out=ad.empty(2))
    with pytest.raises(RuntimeError, match=text):
        ad.mul(b, b, out=ad.empty(2, requires_grad=True))
    with ad.no_grad():
        assert ad.mul(a, b + 1, out=ad.empty(2, requires_grad=True)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("dtype", [ad.int32, ad.float16, ad.float64, ad.complex128])
def test_what_is_made_of_numbers_has_the_type_of_out(dtype: ad.dtype) -> None:
    out = ad.empty(3, dtype=dtype)
    assert ad.zeros(3, out=out) is out and out.tolist() == [0, 0, 0]
    assert ad.full((3,), 2.5, out=out).tolist() == ad.full((3,), 2.5, dtype=dtype).tolist()
    assert ad.arange(3, out=out).tolist() == [0, 1, 2]
    if dtype.is_floating_point:
        assert ad.linspace(0, 1, 3, out=out).tolist() == ad.linspace(0, 1, 3, dtype=dtype).tolist()
    assert ad.eye(2, out=ad.empty(2, 2, dtype=dtype)).tolist() == [[1, 0], [0, 1]]


def test_ranges_fill_as_many_elements() -> None:
    for f in (lambda out: ad.arange(4, out=out), lambda out: ad.linspace(0, 3, 4, out=out)):
        assert f(ad.ones(2, 2)).tolist() == [[0, 1], [2, 3]]
    with pytest.warns(
        UserWarning, match=r"out tensor of shape \[2\] is 2 which does not match the computed number of elements 3"
    ):
        assert ad.arange(3, out=ad.ones(2)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["sum", "nansum", "mean", "prod", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [ad.float64, ad.int32])
def test_reductions_compute_in_the_type_of_out(name: str, dtype: ad.dtype) -> None:
    if name == "mean" and dtype is ad.int32:
        pytest.skip("no mean is whole")
    x = ad.full((3, 1), 1 / 3, dtype=ad.float32) + 1
    f, sizes = getattr(ad, name), (3, 1) if name.startswith("cum") else (1,)
    out = f(x, 0, out=ad.empty(sizes, dtype=dtype))
    assert out.dtype == dtype and ad.equal(out, f(x, 0, dtype=dtype))
    assert ad.equal(f(x, 0, dtype=ad.float32, out=ad.empty(sizes, dtype=ad.float64)), f(x, 0).double())


def test_truths_of_bytes_fit_into_truths() -> None:
    x = ad.tensor([[0, 2]], dtype=ad.uint8)
    assert ad.any(x, 0, out=ad.empty(2, dtype=ad.bool)).tolist() == [False, True]
