"""In-place writes at positions: what the op gives out of place, in the same memory, with its gradients."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

import adjoint as ad
from adjoint.func import jvp, vmap

ROWS, COLUMNS, COUNT = 5, 4, 6

LAYOUTS = {
    "contiguous": lambda t: t.clone(),
    "transposed": lambda t: t.t().contiguous().t(),
    "strided": lambda t: ad.stack([t, t], -1)[..., 0],
    "narrowed": lambda t: ad.cat([t, t], 0)[ROWS:],
}
# (x, rows, source (COUNT, COLUMNS), in_place)
UPDATES = {
    "index_add": lambda x, at, s, w: (x.index_add_ if w else x.index_add)(0, at, s, alpha=2),
    "index_copy": lambda x, at, s, w: (x.index_copy_ if w else x.index_copy)(0, at, s),
    "scatter": lambda x, at, s, w: (x.scatter_ if w else x.scatter)(0, spread(at), s),
    "scatter of a number": lambda x, at, s, w: (x.scatter_ if w else x.scatter)(0, spread(at), 3),
    "scatter_add": lambda x, at, s, w: (x.scatter_add_ if w else x.scatter_add)(0, spread(at), s),
    "index_put": lambda x, at, s, w: (x.index_put_ if w else x.index_put)((at,), s),
    "index_put, adding": lambda x, at, s, w: (x.index_put_ if w else x.index_put)((at,), s, accumulate=True),
    "index_fill": lambda x, at, s, w: (x.index_fill_ if w else x.index_fill)(0, at, 3),
    "index_fill of a tensor": lambda x, at, s, w: (x.index_fill_ if w else x.index_fill)(0, at, s[0, 0]),
    "put": lambda x, at, s, w: (x.put_ if w else x.put)(at * COLUMNS, s[:, 0]),
    "put, adding": lambda x, at, s, w: (x.put_ if w else x.put)(at * COLUMNS, s[:, 0], accumulate=True),
    "scatter_reduce, sum": lambda x, at, s, w: (x.scatter_reduce_ if w else x.scatter_reduce)(0, spread(at), s, "sum"),
    "scatter_reduce, prod": lambda x, at, s, w: (x.scatter_reduce_ if w else x.scatter_reduce)(0, spread(at), s, "prod"),
    "scatter_reduce, new": lambda x, at, s, w: (x.scatter_reduce_ if w else x.scatter_reduce)(
        0, spread(at), s, "prod", include_self=False
    ),
    "scatter, multiplying": lambda x, at, s, w: (x.scatter_ if w else x.scatter)(0, spread(at), s, reduce="multiply"),
    "index_put in columns": lambda x, at, s, w: (x.index_put_ if w else x.index_put)((at, at % COLUMNS), s[:, 0]),
}


def spread(at):
    return at[:, None].expand(COUNT, COLUMNS)


def numbers(*shape, dtype=ad.float64):
    return (ad.arange(float(ad.Size(shape).numel())).reshape(shape) * 1.5 - 7).to(dtype)


cases = given(
    name=st.sampled_from(list(UPDATES)),
    layout=st.sampled_from(list(LAYOUTS)),
    rows=st.lists(st.integers(0, ROWS - 1), min_size=COUNT, max_size=COUNT),
    dtype=st.sampled_from([ad.float64, ad.float32, ad.float16, ad.int64, ad.int8, ad.bool, ad.complex128]),
)


@cases
def test_as_out_of_place(name, layout, rows, dtype):
    x, source, at = numbers(ROWS, COLUMNS, dtype=dtype), numbers(COUNT, COLUMNS, dtype=dtype), ad.tensor(rows)
    update = UPDATES[name]
    if dtype == ad.bool and name == "index_add":
        return  # alpha=2
    given_x = LAYOUTS[layout](x)
    memory, version = given_x.data_ptr(), given_x._version
    found = update(given_x, at, source, True)
    assert found is given_x and found.data_ptr() == memory and found._version == version + 1
    assert found.tolist() == update(x, at, source, False).tolist()


@cases
def test_gradients(name, layout, rows, dtype):
    if not dtype.is_floating_point:
        return
    at, weights = ad.tensor(rows), numbers(ROWS, COLUMNS, dtype=dtype).cos()
    grads = []
    for in_place in (False, True):
        x = numbers(ROWS, COLUMNS, dtype=dtype).requires_grad_()
        source = numbers(COUNT, COLUMNS, dtype=dtype).requires_grad_()
        y = UPDATES[name](LAYOUTS[layout](x), at, source, in_place)
        grads.append(
            [None if g is None else g.tolist() for g in ad.autograd.grad((y * weights).sum(), (x, source), allow_unused=True)]
        )
    assert grads[0] == grads[1]


@pytest.mark.parametrize("name", UPDATES)
def test_inside_transforms(name):
    at, source = ad.tensor([0, 3, 3, 1, 0, 4]), numbers(COUNT, COLUMNS)
    x = numbers(3, ROWS, COLUMNS)

    def f(w):
        return lambda x: UPDATES[name](x.clone(), at, source, w)

    assert vmap(f(True))(x).tolist() == vmap(f(False))(x).tolist()
    assert [t.tolist() for t in jvp(f(True), (x[0],), (x[1],))] == [t.tolist() for t in jvp(f(False), (x[0],), (x[1],))]


def test_operands_in_the_same_memory():
    x = numbers(ROWS, ROWS)
    y = x.clone()
    at = ad.tensor([4, 3, 2, 1, 0])
    assert y.index_copy_(0, at, y).tolist() == x.flip(0).tolist()
    y = x.clone()
    assert y.index_add_(0, at, y.t()).tolist() == (x + x.t().flip(0)).tolist()
    places = ad.tensor([1, 2, 0])
    assert places.index_copy_(0, places, ad.tensor([5, 6, 7])).tolist() == [7, 5, 6]
    y[at] = y[at.flip(0)]
    assert y[0].tolist() == (x + x.t().flip(0))[4].tolist()


@pytest.mark.parametrize("name", UPDATES)
def test_a_wrong_position_leaves_the_tensor_as_it_was(name):
    x = numbers(ROWS, COLUMNS)
    with pytest.raises((IndexError, RuntimeError), match="index|range"):
        UPDATES[name](x, ad.tensor([0, 1, 2, 3, 4, ROWS]), numbers(COUNT, COLUMNS), True)
    assert x.tolist() == numbers(ROWS, COLUMNS).tolist()


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16, ad.float32])
def test_few_writes_into_many_elements(dtype):
    """Half types add in float and round once, however few elements are written to."""
    x, at = (ad.arange(1000) % 7).to(dtype), ad.tensor([999, 3, 999, 3, 999])
    source = ad.tensor([1000.0, 0.25, 0.25, 0.25, 0.25], dtype=dtype)
    expected = x.double()
    expected[3], expected[999] = expected[3] + 0.5, expected[999] + 1000.5
    for y in (
        x.index_add(0, at, source),
        x.clone().index_add_(0, at, source),
        ad.stack([x, x], 1)[:, 1].index_add_(0, at, source),
    ):
        assert y.tolist() == expected.to(dtype).tolist()


def test_leaves_and_their_rules():
    x, at = ad.ones(3, requires_grad=True), ad.tensor([1])
    with pytest.raises(RuntimeError, match="leaf"):
        x.index_add_(0, at, ad.ones(1))
    with ad.no_grad():
        x.index_add_(0, at, ad.ones(1))
    assert x.tolist() == [1.0, 2.0, 1.0] and x.is_leaf and x._version == 1
    saved = ad.ones(3, requires_grad=True)
    y = saved * 2
    z = y * y
    y.index_add_(0, at, ad.ones(1))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="single memory location"):
        ad.ones(1).expand(3).index_add_(0, at, ad.ones(1))


def test_older_words_of_reductions():
    x, at = numbers(3), ad.tensor([0, 2, 2])
    for old, new in (("max", "amax"), ("min", "amin")):
        assert x.scatter_reduce(0, at, x.flip(0), old).equal(x.scatter_reduce(0, at, x.flip(0), new))


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")
def test_what_is_written_last_stays_in_expanded_memory():
    base = ad.zeros(2, 1)
    x = base.expand(2, 3)
    x.masked_fill_(ad.tensor([[False, True, False], [False, False, False]]), 5)
    assert base.tolist() == [[5], [0]]
    x[1, ad.tensor([0, 2])] = ad.tensor([7.0, 8.0])
    assert base.tolist() == [[5], [8]]
    x.index_fill_(1, ad.tensor([-1]), 1)
    assert base.tolist() == [[1], [1]]
    for wrong in (lambda: x.masked_fill_(ad.ones(2, 3), 1), lambda: x.index_fill_(1, ad.tensor([3]), 1), lambda: x.add_(1)):
        with pytest.raises((RuntimeError, IndexError)):
            wrong()
    leaf = ad.zeros(2, 1, requires_grad=True)
    with pytest.raises(RuntimeError, match="single memory location"):
        (leaf * 1).expand(2, 3).index_put_((ad.tensor([0]),), ad.ones(3))
    assert base.tolist() == [[1], [1]]
