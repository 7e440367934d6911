"""Random numbers inside of vmap: an error, one draw for each lane, or one draw for all."""

import pytest

import adjoint as ad
from adjoint import vmap
from adjoint.autograd import Function, grad

DRAWS = {
    "rand": lambda x: ad.rand(3),
    "randn": lambda x: ad.randn(3, dtype=ad.complex64).abs(),
    "randint": lambda x: ad.randint(1000000, (3,)).to(ad.float32),
    "randperm": lambda x: ad.randperm(50).to(ad.float32),
    "rand_like": ad.rand_like,
    "bernoulli": lambda x: ad.bernoulli(ad.full((64,), 0.5)),
    "dropout": lambda x: ad.nn.functional.dropout(ad.ones(64)),
    "dropout of lanes": lambda x: ad.nn.functional.dropout(x.expand(64, 3)) / x,
    "uniform_": lambda x: ad.empty(3).uniform_(),
    "normal_": lambda x: ad.empty_like(x).normal_(),
    "normal": lambda x: ad.normal(ad.zeros(3), ad.ones(3)),
    "normal of lanes": lambda x: ad.normal(x, x),
    "bernoulli_": lambda x: ad.empty(64).bernoulli_(ad.full((64,), 0.5)),
    "bernoulli of a number": lambda x: ad.bernoulli(ad.empty(64), 0.5),
    "poisson": lambda x: ad.poisson(ad.full((32,), 30.0)),
    "binomial of lanes": lambda x: ad.binomial(x.repeat(20) * 40, x.repeat(20) / 2),
    "multinomial": lambda x: ad.multinomial(x.repeat(20), 20).to(ad.float32),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_lanes_draw_apart_together_or_not_at_all(draw):
    x = ad.ones(2, 3)
    with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness error mode"):
        vmap(DRAWS[draw])(x)
    a, b = vmap(DRAWS[draw], randomness="different")(x)
    assert a.tolist() != b.tolist()
    ad.manual_seed(1)
    alone = DRAWS[draw](x[0])
    ad.manual_seed(1)
    for lane in vmap(DRAWS[draw], randomness="same")(x):
        assert lane.tolist() == alone.tolist()


@pytest.mark.parametrize(
    ("outer", "inner", "numbers"),
    [("different", "same", 2), ("same", "different", 3), ("different", "different", 6), ("same", "same", 1)],
)
def test_nested_batches_draw_for_the_levels_that_differ(outer, inner, numbers):
    f = vmap(vmap(lambda x: x * 0 + ad.rand(()), randomness=inner), randomness=outer)
    drawn = f(ad.ones(2, 3))
    assert drawn.shape == (2, 3) and len({v for row in drawn.tolist() for v in row}) == numbers
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(vmap(lambda x: x + ad.rand(()), randomness=inner))(ad.ones(2, 3))


def test_pieces_of_a_batch_share_what_all_lanes_share():
    def f(x):
        return x + ad.rand(())

    same = vmap(f, randomness="same", chunk_size=2)(ad.zeros(5))
    assert len(set(same.tolist())) == 1
    assert len(set(vmap(f, randomness="different", chunk_size=2)(ad.zeros(5)).tolist())) == 5


def test_gradients_go_through_masks_of_lanes():
    x = ad.ones(4, 100, requires_grad=True)
    y = vmap(ad.nn.functional.dropout, randomness="different")(x)
    (g,) = grad(y.sum(), x)
    assert g.tolist() == y.tolist()
    inside = vmap(ad.func.grad(lambda x: ad.nn.functional.dropout(x).sum()), randomness="different")(ad.ones(4, 100))
    assert len({tuple(row) for row in inside.tolist()}) == 4


def test_the_rule_of_a_function_draws_for_itself():
    class Noise(Function):
        @staticmethod
        def forward(x):
            return x + ad.rand(())

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return x + ad.rand(x.shape[in_dims[0]]), 0

    for asked in ("error", "different", "same"):
        found = vmap(Noise.apply, randomness=asked)(ad.zeros(5))
        assert len(set(found.tolist())) == 5


def test_a_generated_rule_draws_as_the_batch_around_it():
    class Noise(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x + ad.rand(())

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    for asked, numbers in (("different", 5), ("same", 1)):
        assert len(set(vmap(Noise.apply, randomness=asked)(ad.zeros(5)).tolist())) == numbers
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(Noise.apply)(ad.zeros(5))
