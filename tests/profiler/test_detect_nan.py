"""The hunt for nan and inf: planted ones are named, with operands and lines; others are left alone."""

import threading
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.autograd import NonFiniteError, detect_nan


def found(f, **options):
    with pytest.raises(NonFiniteError) as caught, detect_nan(**options):
        f()
    return caught.value


def leaf(*values):
    return ad.tensor(values, requires_grad=True)


def entropy(p):
    return -(p * p.log()).sum()


def test_forward():
    p = ad.tensor([[0.5, 0.25], [-0.125, 0.5], [-1.0, 1.0]])
    e = found(lambda: entropy(p))
    assert (e.kind, e.op, e.index, e.count, e.operands, e.made) == ("nan", "log", (1, 0), 2, (-0.125,), True)
    assert e.line[2] == "entropy" and e.node is None and e.forward_line is None
    assert "detect_nan: log made nan at index (1, 0), in 2 of 6 elements of float32[3, 2]" in str(e)
    assert "log(-0.125) = nan" in str(e) and "return -(p * p.log()).sum()" in str(e)


def root_sum(x):
    return x.sqrt().sum()


def test_backward_names_the_forward_call_and_the_operation_inside():
    x = leaf(4.0, 0.0)
    e = found(lambda: (root_sum(x) * 0).backward())
    assert (e.op, e.node, e.index, e.operands) == ("div", "SqrtBackward0", (1,), (0.0, 0.0))
    assert e.forward_line[2] == "root_sum" and "return x.sqrt().sum()" in str(e)
    assert x.grad is None


def test_double_backward():
    x = leaf(0.0)
    with detect_nan():
        (g,) = ad.autograd.grad((x**1.5).sum(), x, create_graph=True)
    e = found(lambda: ad.autograd.grad(g * 0, x))
    assert "Backward0" in e.node and e.kind == "nan"


def test_operands_broadcast_and_products_are_summed_up():
    x = ad.tensor([[1.0, 0.0], [2.0, 3.0]])
    e = found(lambda: x / ad.tensor([[1.0], [0.0]]) - x / ad.tensor([[1.0], [0.0]]))
    assert e.op == "sub" and e.operands == (float("inf"), float("inf")) and e.index == (1, 0)
    big = ad.tensor([[float("inf"), 1.0]])
    e = found(lambda: big @ ad.tensor([[0.0], [1.0]]))
    assert e.op == "matmul" and e.operands is None and e.made
    assert "operand 0: float32[1, 2], values from 1 to 1, 1 inf" in str(e)


def test_infinities_by_choice():
    x = leaf(1.0, 0.0)
    with detect_nan():
        1 / x
    e = found(lambda: 1 / x, inf=True)
    assert (e.kind, e.op, e.index, e.operands) == ("inf", "div", (1,), (1, 0.0))
    with detect_nan(inf=True):  # an infinity that is handed on is no news: masks are full of them
        y = ad.zeros(2, 2).masked_fill(ad.tensor([[False, True], [False, False]]), -float("inf")).softmax(1)
    assert y.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert found(lambda: ad.tensor([200.0]).exp() * 2, inf=True).operands == (200.0,)


def test_nan_that_comes_with_the_data():
    w = ad.tensor([[float("nan"), 1.0]], requires_grad=True)
    e = found(lambda: ad.ones(1, 2) + w)
    assert not e.made and "operand 1 had it already: a leaf" in str(e)
    h = w * 2
    assert "MulBackward0, called at" in str(found(lambda: h + 1))
    assert "a number" in str(found(lambda: ad.ones(2) * float("nan")))


def test_in_place():
    def run():
        h = leaf(1.0, -1.0) * 1
        h.log_()

    e = found(run)
    assert e.op == "log" and e.operands == (None,) and "(overwritten)" in str(e)


def test_in_place_on_itself():
    x = ad.tensor([float("inf"), 1.0])
    e = found(lambda: x.sub_(x))
    assert e.made and e.operands == (None, None)


class Numpy(ad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return ad.from_numpy(np.array([0.0, np.nan], dtype=np.float32))


class Python(ad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        zero = g - g
        return zero / zero


def test_functions_of_the_user():
    e = found(lambda: Numpy.apply(leaf(1.0, 2.0)).sum().backward())
    assert e.op == "NumpyBackward" and e.index == (1,)
    e = found(lambda: Python.apply(leaf(1.0, 2.0)).sum().backward())
    assert e.op == "div" and e.node == "PythonBackward" and e.line[2].endswith("Python.backward")


def test_sums_of_gradients_and_hooks():
    x = leaf(1.0)
    a, b = x * 1, x * 1
    a.register_hook(lambda g: g * float("inf"))
    b.register_hook(lambda g: g * -float("inf"))
    e = found(lambda: (a + b).sum().backward())
    assert e.op == "add" and sorted(e.operands) == [-float("inf"), float("inf")]


def test_transforms():
    x = ad.tensor([[1.0, 2.0], [-3.0, 4.0]])
    e = found(lambda: ad.vmap(lambda r: r.log())(x))
    assert e.op == "log" and e.operands == (-3.0,)
    e = found(lambda: ad.func.jvp(lambda x: x.sqrt(), (ad.zeros(2),), (ad.zeros(2),)))
    assert e.op == "div" and e.kind == "nan"
    e = found(lambda: ad.func.grad(lambda x: (x.sqrt() * 0).sum())(ad.zeros(2)))
    assert e.op == "div" and e.node == "SqrtBackward0"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (70_000,)])
def test_types_and_layouts(dtype, shape):
    x = ad.ones(*shape, dtype=getattr(ad, dtype))
    bad = x.clone().reshape(-1)
    bad[-1] = float("nan")
    bad = bad.reshape(shape)
    for view in (lambda t: t, lambda t: t.T if t.dim() == 2 else t, lambda t: t.expand(2, *t.shape)):
        with detect_nan():
            view(x) + 1
        e = found(lambda view=view: view(bad) + 1)
        assert e.count == (2 if view(bad).dim() > bad.dim() else 1)
    with detect_nan(inf=True):
        ad.ones(3, dtype=ad.int64) + 2


def test_large_sums_are_no_alarm():
    with detect_nan(inf=True):
        ad.full((1000,), 3e38) * 1
        ad.full((70_000,), 60_000.0, dtype=ad.float16) * 1


def test_nesting_threads_and_restoring():
    x = ad.tensor([-1.0])
    with detect_nan():
        with detect_nan(False):
            x.log()
            with pytest.raises(NonFiniteError), detect_nan():
                x.log()
            x.log()
        with pytest.raises(NonFiniteError):
            x.log()
        other = threading.Thread(target=x.log)
        other.start()
        other.join()
        with pytest.raises(TypeError):
            x.log(1, 2, 3)
        with pytest.raises(RuntimeError):
            ad.ones(2) + ad.ones(3)
        ad.ones(2) * 2
    x.log()


def test_gradients_are_the_same_while_watched():
    def step():
        w = leaf(0.1, 0.2, 0.3)
        y = (w.sin() * w).cumsum(0).norm() + w.prod()
        y.backward()
        return w.grad.tolist()

    plain = step()
    with detect_nan(inf=True):
        assert step() == plain


def test_anomaly_mode_keeps_its_text():
    x = leaf(0.0)
    with ad.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError) as caught:
            (x.sqrt() * 0).sum().backward()
    assert str(caught.value) == "Function 'SqrtBackward0' returned nan values in its 0th output."
    with ad.autograd.set_detect_anomaly(True), detect_nan(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(NonFiniteError):
            (x.sqrt() * 0).sum().backward()
    assert "test_anomaly_mode_keeps_its_text" in str(told[0].message)


@pytest.mark.parametrize("transform", [ad.autograd.functional.jvp, lambda f, x, t: ad.func.jvp(f, (x,), (t,))])
def test_forward_mode_names_the_operation_whose_tangent_it_was(transform):
    e = found(lambda: transform(lambda x: x.sqrt() * 2, ad.zeros(3), ad.zeros(3)))
    assert (e.op, e.made) == ("div", True) and "div in the tangent of sqrt made nan" in str(e)


def test_lines_are_the_users_where_the_library_calls_backward():
    e = found(lambda: ad.autograd.functional.jacobian(lambda x: x.sqrt().sum() * 0, ad.zeros(3)))
    assert e.line[0] == e.forward_line[0] == __file__
