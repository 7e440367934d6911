"""as_strided in forward mode: each element takes the tangent that lies where it lies, and writes go both ways."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

import adjoint as ad
from adjoint.autograd import forward_ad as fwad
from adjoint.func import grad, jacfwd, jacrev, jvp, vmap

SIZE = 24
ROOTS = {
    "from the middle": lambda m: m[3:15].view(3, 4),
    "with gaps": lambda m: m.view(4, 6)[:, 1:4],
    "transposed": lambda m: m.view(4, 6).t(),
    "steps": lambda m: m[1::2],
    "one": lambda m: m[5],
    "all": lambda m: m,
}
LAYOUTS = {
    "contiguous": lambda t: t.clone(),
    "from the middle": lambda t: ad.cat([t.reshape(-1), t.reshape(-1)])[t.numel() :].view(t.shape),
    "turned": lambda t: t.permute(*reversed(range(t.ndim))).contiguous().permute(*reversed(range(t.ndim))),
    "steps": lambda t: ad.stack([t, t], -1)[..., 0],
}
VIEWS = {
    "itself": lambda d: d,
    "turned": lambda d: d.permute(*reversed(range(d.ndim))),
    "a part": lambda d: d[1:] if d.ndim else d,
    "a row": lambda d: d[-1] if d.ndim else d,
}
pieces = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), max_size=2).flatmap(
    lambda p: st.tuples(st.just(p), st.integers(0, SIZE - 1 - sum((n - 1) * s for n, s in p)))
)


def piece_of(x, piece):
    return x.as_strided([n for n, _ in piece[0]], [s for _, s in piece[0]], piece[1])


@given(st.sampled_from(list(ROOTS)), st.sampled_from(list(LAYOUTS)), st.sampled_from(list(VIEWS)), pieces, pieces)
def test_elements_take_the_tangent_of_their_place(root, layout, view, piece, second):
    primal = ROOTS[root](ad.arange(float(SIZE)))
    tangent = LAYOUTS[layout](primal * 100 + 7)
    lifted = set(primal.reshape(-1).tolist())
    with fwad.dual_level():
        x = VIEWS[view](fwad.make_dual(primal, tangent))
        y, z = piece_of(x, piece), piece_of(x, second)
        for part in (y, z, y):  # the second must not take the memory of the first away
            found = fwad.unpack_dual(part)
            expected = [v * 100 + 7 if v in lifted else 0.0 for v in found.primal.reshape(-1).tolist()]
            assert found.tangent.reshape(-1).tolist() == expected


@given(st.sampled_from(list(ROOTS)), st.sampled_from(list(LAYOUTS)), pieces)
def test_writes_go_both_ways(root, layout, piece):
    memory = ad.arange(float(SIZE))
    primal = ROOTS[root](memory)
    with fwad.dual_level():
        d = fwad.make_dual(primal, LAYOUTS[layout](primal * 100 + 7))
        y = piece_of(d, piece)
        first = y[(0,) * y.ndim]  # elements of y may share a place
        first.mul_(3)
        d.add_(1)
        written, place = piece[1], memory.tolist()
        expected = [v * 100 + 7 for v in ROOTS[root](ad.arange(float(SIZE))).reshape(-1).tolist()]
        places = ROOTS[root](ad.arange(float(SIZE))).reshape(-1).tolist()
        expected = [t * 3 if p == written else t for t, p in zip(expected, places)]
        assert fwad.unpack_dual(d).tangent.reshape(-1).tolist() == expected
        found = fwad.unpack_dual(y)
        assert found.primal.reshape(-1).tolist() == piece_of(ad.tensor(place), piece).reshape(-1).tolist()
        at = piece_of(ad.arange(float(SIZE)), piece).reshape(-1).tolist()
        tangents = dict(zip(places, expected))
        assert all(t == tangents[p] for t, p in zip(found.tangent.reshape(-1).tolist(), at) if p in tangents)


@given(st.sampled_from(["all", "transposed"]), pieces)  # of elements that a view does not have reverse mode knows nothing
def test_forward_is_reverse(root, piece):
    """On an input of its own both modes see the same elements; to third order, as a cube."""

    def f(x):
        return piece_of(ROOTS[root](x), piece) ** 3

    x = ad.arange(float(SIZE), dtype=ad.float64) / 8
    assert jacfwd(f)(x).tolist() == jacrev(f)(x).tolist()
    assert jacfwd(jacrev(f))(x).tolist() == jacrev(jacfwd(f))(x).tolist() == jacfwd(jacfwd(f))(x).tolist()


IN_LANES = {
    "contiguous": lambda x: x.as_strided((2,), (1,), 2),
    "turned": lambda x: x.t().as_strided((2,), (1,), 2),
    "a part": lambda x: x[1:].as_strided((2, 3), (1, 2), 5),
    "steps": lambda x: x[:, ::2].as_strided((2, 2), (4, 2), 4),
    "from where it starts": lambda x: x[1:].as_strided((2,), (1,)),
}


@pytest.mark.parametrize("name", IN_LANES)
def test_lanes(name):
    """A lane is laid out as the whole is: reverse, forward and mixed, wherever the lanes lie, also in two batches."""

    def f(x):
        return (IN_LANES[name](x) ** 3).sum()

    xs = ad.arange(24.0, dtype=ad.float64).reshape(2, 3, 4) / 8
    for derivative in (grad, jacrev, jacfwd, lambda f: jacfwd(grad(f)), lambda f: jacrev(jacfwd(f))):
        expected = [derivative(f)(x.clone()).tolist() for x in xs]
        assert vmap(derivative(f))(xs).tolist() == expected
        assert vmap(derivative(f), in_dims=2)(xs.permute(1, 2, 0)).tolist() == expected
        assert vmap(vmap(derivative(f)))(xs[None]).tolist() == [expected]


@given(st.sampled_from(["contiguous", "turned", "a part", "steps"]), st.sampled_from(list(LAYOUTS)))
def test_tangents_in_lanes(name, layout):
    xs = ad.arange(24.0).reshape(2, 3, 4)
    ts = LAYOUTS[layout](xs * 100 + 7)
    found = vmap(lambda x, t: jvp(IN_LANES[name], (x,), (t,))[1])(xs, ts)
    assert found.tolist() == [(IN_LANES[name](x.clone()) * 100 + 7).tolist() for x in xs]
