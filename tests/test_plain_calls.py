"""Calls that go past Python: they have the parameters of the functions in Python, and do the same."""

import collections
import inspect

import numpy as np
import pytest

import adjoint as ad
import adjoint.nn.functional as F
from adjoint_core import _core

PLAIN = {name.rpartition(".")[2]: parameters for name, parameters in _core._plain_calls("nn.functional.").items()}
X, Y = ad.linspace(-2, 3, 12).reshape(3, 4), ad.linspace(0, 1, 12).reshape(3, 4) * 0.8 + 0.1
CLASSES = ad.tensor([1, 0, 3])
IMAGES = {n: ad.arange(8.0 * 5**n).sin().reshape(2, 4, *[5] * n) for n in (1, 2, 3)}
ARGUMENTS = {
    "linear": (X, ad.ones(2, 4)),
    "layer_norm": (X, (4,)),
    "rms_norm": (X, (4,)),
    "batch_norm": (X, None, None, None, None, True),
    "embedding": (CLASSES, ad.ones(5, 2), -1),
    "dropout": (X, 0.5, False),
    "softmax": (X, 1),
    "softmin": (X, -1),
    "log_softmax": (X, 0),
    "nll_loss": (X, CLASSES),
    "cross_entropy": (X, CLASSES),
    "binary_cross_entropy": (Y, Y),
    **{
        name: (X, Y)
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "kl_div")
    },
    **{f"conv{n}d": (ad.ones(2, 2, *[5] * n), ad.ones(3, 2, *[2] * n), ad.ones(3), 2, 1) for n in (1, 2, 3)},
    **{f"max_pool{n}d": (IMAGES[n], 2, None, 1) for n in (1, 2, 3)},
    **{f"avg_pool{n}d": (IMAGES[n], [3] * n, 2) for n in (1, 2, 3)},
    **{f"adaptive_avg_pool{n}d": (IMAGES[n], 3) for n in (1, 2, 3)},
    "interpolate": (IMAGES[2], (3, 7)),
    "prelu": (IMAGES[2], ad.tensor([0.1, -0.3, 2.0, 0.0])),
    "pixel_shuffle": (IMAGES[2], 2),
    "pixel_unshuffle": (ad.arange(64.0).reshape(2, 2, 4, 4), 2),
    "group_norm": (IMAGES[2], 2, ad.arange(4.0)),
    **{f"conv_transpose{n}d": (ad.ones(2, 2, *[3] * n), ad.ones(2, 3, *[2] * n), ad.ones(3), 2, 1) for n in (1, 2, 3)},
}
KEYWORDS = {
    name: [{"reduction": r} for r in ("mean", "sum", "none", "batchmean")]
    for name, ps in PLAIN.items()
    if any(p[0] == "reduction" for p in ps)
}
KEYWORDS["softmax"] = KEYWORDS["softmin"] = KEYWORDS["log_softmax"] = [{"dtype": ad.float64}]
KEYWORDS["gelu"] = [{"approximate": "tanh"}, {"approximate": "none"}, {"approximate": "other"}]
KEYWORDS["hardtanh"] = [{"min_val": -0.5, "max_val": 1}, {"min_val": 2.0, "max_val": 1.0}]
KEYWORDS["softshrink"] = [{"lambd": 0.1}, {"lambd": -1.0}]
KEYWORDS["embedding"] = [{"padding_idx": 9}, {"scale_grad_by_freq": True}]
KEYWORDS["interpolate"] = [
    *({"mode": mode, "align_corners": corners} for mode in ("bilinear", "bicubic", "nearest", "trilinear") for corners in (False, True)),
    {"mode": "nearest-exact"}, {"mode": "area"}, {"antialias": True}, {"mode": "bilinear", "antialias": True}, {"scale_factor": 2.0},
    *({"size": None, "scale_factor": scale, "mode": mode} for scale in (2.0, 0.7, (1.5, 2), 1) for mode in ("nearest", "bilinear", "nearest-exact")),
    {"size": None, "scale_factor": 1.3, "recompute_scale_factor": True, "mode": "bilinear"}, {"size": None}, {"size": 0}, {"size": (1, 2, 3)},
]  # fmt: skip
for _n in (1, 2, 3):
    KEYWORDS[f"max_pool{_n}d"] = [{"ceil_mode": True}, {"dilation": 2}, {"dilation": (1,) * 4}]
    KEYWORDS[f"avg_pool{_n}d"] = [{"padding": 1, "count_include_pad": False}, {"ceil_mode": True}, {"padding": 2}]
KEYWORDS["max_pool2d"] += [{"return_indices": False}, {"padding": (0, 1)}]
KEYWORDS["avg_pool2d"] += [{"divisor_override": 2}, {"divisor_override": 0}]
KEYWORDS["glu"] = [{"dim": 1}, {"dim": 0}]


@pytest.mark.parametrize("name", PLAIN)
def test_parameters(name):
    """By position they come in the same order; what is not given is the same."""
    of_python = inspect.signature(getattr(F, name)).parameters
    by_position = [own for own, positional, _ in PLAIN[name] if positional]
    assert list(of_python)[: len(by_position)] == by_position
    for own, _, default in PLAIN[name]:
        assert own in of_python
        if default is not ...:
            assert of_python[own].default == default


def outcome(f, args, kwargs):
    try:
        return f(*args, **kwargs)
    except Exception as fault:
        return type(fault), str(fault)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.int64])
def test_results(name, dtype):
    """Values or errors, of all types: those of the function in Python."""
    f = getattr(F, name)
    args = [a.to(dtype) if isinstance(a, ad.Tensor) and a.is_floating_point() else a for a in ARGUMENTS.get(name, (X,))]
    for kwargs in ({}, *KEYWORDS.get(name, [])):
        found, wanted = outcome(f, args, kwargs), outcome(f.__wrapped__, args, kwargs)
        if isinstance(wanted, ad.Tensor):
            assert found.dtype == wanted.dtype and ad.equal(found, wanted)
        else:
            assert found == wanted


COPIES = {
    "alias_copy": (), "squeeze_copy": (), "unsqueeze_copy": (1,), "transpose_copy": (0, 2), "permute_copy": ((2, 0, 1),), "select_copy": (1, 0),
    "narrow_copy": (2, 1, 2), "diagonal_copy": (1, 0, 2), "unfold_copy": (2, 2, 1), "fill": (3,),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.mT.contiguous().mT, lambda x: x[::2, :, 1:]])
def test_copies(name, layout):
    """New memory without gaps, the values, the node and the gradient of the function in Python."""
    assert f"composed.{name}" in _core._plain_calls("composed.")
    f = getattr(ad, name)
    x = layout(ad.arange(12.0).reshape(3, 1, 4)).detach()
    y, wanted = f(x, *COPIES[name]), f.__wrapped__(x, *COPIES[name])
    assert ad.equal(y, wanted) and y.stride() == wanted.stride() and y.data_ptr() != x.data_ptr() and not y._is_view()
    leaves = [x.clone().requires_grad_() for _ in range(2)]
    outputs = [g(leaf, *COPIES[name]) for g, leaf in zip((f, f.__wrapped__), leaves, strict=True)]
    assert outputs[0].grad_fn.name() == outputs[1].grad_fn.name()
    for output in outputs:
        (output * ad.arange(float(output.numel())).reshape(output.shape)).sum().backward()
    assert ad.equal(leaves[0].grad, leaves[1].grad)


def test_membership():
    x, few = ad.arange(6).reshape(2, 3), ad.tensor([4, 1, 9])
    assert ad.isin(x, few).tolist() == ad.isin.__wrapped__(x, few).tolist() == [[False, True, False], [False, True, False]]
    assert ad.isin(elements=x, test_elements=few, invert=True).sum() == 4


def test_what_python_has_to_say_is_said():
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(ad.ones(2, 1), ad.ones(2))
    with pytest.raises(TypeError, match="silu"):
        F.silu([1.0])
    assert F.mse_loss(ad.ones(2), ad.zeros(2), reduction="sum").item() == 2.0


def test_parameters_by_names_of_either_kind():
    x = ad.ones(2, 3)
    for sums in (x.sum(dim=1), x.sum(axis=1), ad.sum(x, dim=(1,)), ad.sum(input=x, dim=[-1])):
        assert sums.tolist() == [3.0, 3.0]
    with pytest.raises(TypeError):
        ad.sum(x, 1, dim=1)
    with pytest.raises(TypeError):
        ad.sum(x, nothing=1)


def test_results_in_given_memory():
    x, out = ad.ones(2), ad.empty(2)
    assert ad.exp(x, out=out) is out and ad.equal(out, x.exp())
    assert ad.add(x, x, out=x) is x and x.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        ad.exp(ad.ones(2, requires_grad=True), out=out)


def test_a_length_that_lies_reads_nothing_beyond():
    class Longer(tuple):
        def __len__(self):
            return 5

    class Raises(list):
        def __len__(self):
            raise ValueError("mine")

    x = ad.arange(6.0).reshape(2, 3)
    assert ad.nn.functional.affine_grid(ad.ones(1, 2, 3), Longer([1, 1, 2, 2]), align_corners=False).shape == (1, 2, 2, 2)
    assert x.tile(Raises([1])).shape == (2, 3) and ad.sum(x, Raises([0])).shape == (3,) and x[Longer((0,))].shape == (3,)


def test_a_function_that_fails_runs_once():
    calls = []

    def distance(a, b):
        calls.append(1)
        raise AttributeError("mine")

    x = ad.ones(2, 3)
    with pytest.raises(AttributeError, match="mine"):
        ad.nn.functional.triplet_margin_with_distance_loss(x, x, x, distance_function=distance)
    assert len(calls) == 1


def test_who_answers_a_call_makes_nodes_of_their_own_names():
    class Asked(ad.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return (ad.ones(2, requires_grad=True) * 2).grad_fn.name()

    assert ad.flip(ad.ones(3).as_subclass(Asked), (0,)) == "MulBackward0"


@pytest.mark.parametrize("f", [F.pixel_shuffle, F.pixel_shuffle.__wrapped__])
def test_channels_in_other_orders_are_new_memory(f):
    x = ad.arange(4.0).reshape(1, 4, 1, 1)
    y = f(x, 2)
    assert y.data_ptr() != x.data_ptr() and not y._is_view() and y.flatten().tolist() == [0, 1, 2, 3]
    assert F.pixel_unshuffle(y, 2).data_ptr() != y.data_ptr()
    with pytest.raises((RuntimeError, TypeError)):
        F.pixel_unshuffle(ad.ones(1, 1, 0, 0), 2**32)


def test_sizes_take_no_scale():
    with pytest.raises(ValueError, match="recompute_scale_factor"):
        F.interpolate(ad.ones(1, 1, 4, 4), size=4, recompute_scale_factor=True)


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan"), float("inf")])
@pytest.mark.parametrize("which", [0, 1])
def test_cross_entropy_wants_fractions(bad, which):
    given = [ad.full((40,), 0.5), ad.full((40,), 0.5)]
    given[which][33] = bad
    with pytest.raises(RuntimeError, match="should be between 0 and 1"):
        F.binary_cross_entropy(*given)


class One:
    def __index__(self):
        return 1


class Text(str):
    pass


@pytest.mark.parametrize(
    ("call", "plain", "others"),
    [
        (lambda a: ad.cumsum(X, a), 1, [np.int64(1), One(), ad.tensor(1), True]),
        (lambda a: ad.permute(X, a), (1, 0), [[1, 0], (One(), 0)]),
        (lambda a: ad.add(X, a), 1, [True, np.int8(1)]),
        (lambda a: ad.where(X > 0, X, a), 0.5, [np.float64(0.5), np.float32(0.5)]),
        (lambda a: ad.addmm(ad.ones(3, 3), X, X.T, alpha=a), 2, [ad.tensor(2), np.int16(2)]),
        (lambda a: ad.isclose(X, Y, a), 1.0, [1, np.float32(1), ad.tensor(1.0)]),
        (lambda a: ad.cat(a), (X, Y), [collections.deque([X, Y])]),
        (lambda a: ad.sum(X, dtype=a), ad.float64, [float, np.float64]),
        (lambda a: F.gelu(X, approximate=a), "tanh", [Text("tanh")]),
    ],
)
def test_what_is_made_of_other_arguments(call, plain, others):
    for other in others:
        assert call(other).equal(call(plain))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ad.cumsum(X, 1.0),
        lambda: ad.cumsum(X, None),
        lambda: ad.sum(X, 1, 1),
        lambda: ad.cat(iter([X, Y])),
        lambda: ad.cat([X, None]),
        lambda: ad.isclose(X, Y, None),
        lambda: ad.norm(None),
        lambda: ad.addmm(X, X, X, alpha="1"),
    ],
)
def test_what_nothing_is_made_of(call):
    with pytest.raises(TypeError, match="incompatible function arguments.*types are supported"):
        call()
