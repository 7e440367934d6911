"""Layers that learn how many inputs they have."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

import adjoint as ad

nn = ad.nn
CASES = {
    "LazyLinear": ((3,), (2, 5)),
    "LazyConv1d": ((4, 3), (2, 3, 8)),
    "LazyConv2d": ((4, 3), (2, 3, 8, 8)),
    "LazyConv3d": ((4, 2), (2, 3, 4, 4, 4)),
    "LazyConvTranspose1d": ((4, 3), (2, 3, 8)),
    "LazyConvTranspose2d": ((4, 3), (2, 3, 8, 8)),
    "LazyConvTranspose3d": ((4, 2), (2, 3, 4, 4, 4)),
    "LazyBatchNorm1d": ((), (2, 3, 4)),
    "LazyBatchNorm2d": ((), (2, 3, 4, 4)),
    "LazyBatchNorm3d": ((), (2, 3, 4, 4, 4)),
    "LazyInstanceNorm1d": ((), (2, 3, 4)),
    "LazyInstanceNorm2d": ((), (2, 3, 4, 4)),
    "LazyInstanceNorm3d": ((), (2, 3, 4, 4, 4)),
}


@pytest.mark.parametrize("name", CASES)
def test_becomes_the_layer_that_it_waits_for(name):
    args, shape = CASES[name]
    lazy = getattr(nn, name)(*args)
    optimizer = ad.optim.SGD(lazy.parameters(), lr=0.1)
    before = list(lazy.parameters())
    assert lazy.has_uninitialized_params() and all(map(nn.parameter.is_lazy, before))
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = before[0].shape
    x = ad.randn(*shape)
    y = lazy(x)
    base = getattr(nn, name.removeprefix("Lazy"))
    assert type(lazy) is base and [id(p) for p in lazy.parameters()] == [id(p) for p in before]
    assert all(type(p) is nn.Parameter for p in before)
    y.sum().backward()
    optimizer.step()
    whole = (
        base(*([shape[-1]] if "Linear" in name else [3]), *args)
        if "Instance" not in name
        else base(3, affine=True, track_running_stats=True)
    )
    assert repr(whole) == repr(lazy) and list(whole.state_dict()) == list(lazy.state_dict())
    whole.load_state_dict(lazy.state_dict())
    assert ad.equal(whole.eval()(x), lazy.eval()(x))
    again = getattr(nn, name)(*args)
    again.load_state_dict(lazy.state_dict())
    assert ad.equal(again.eval()(x), lazy(x)) and type(again) is base


def test_casts_before_the_first_call_hold():
    layer = nn.LazyLinear(2).double()
    layer(ad.ones(1, 3, dtype=ad.float64))
    assert layer.weight.dtype is ad.float64


def test_a_layer_of_ones_own():
    class Scale(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            if self.has_uninitialized_params():
                with ad.no_grad():
                    self.factor.materialize(x.shape[-1:])
                    self.factor.fill_(2.0)

        def forward(self, x):
            return x * self.factor

    module = Scale()
    assert module(ad.ones(3)).tolist() == [2, 2, 2] and not module.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="Expected 3D or 4D input"):
        nn.LazyConv2d(3, 3)(ad.ones(2, 2))


def test_the_numbers_are_those_of_the_layer_to_come() -> None:
    ad.manual_seed(0)
    plain = ad.nn.Linear(3, 2)
    ad.manual_seed(0)
    lazy = ad.nn.LazyLinear(2)
    lazy(ad.ones(1, 3))
    assert ad.equal(plain.weight, lazy.weight) and ad.equal(plain.bias, lazy.bias)


@pytest.mark.parametrize("through", ["pickle", "save", "deepcopy", "state"])
def test_what_waits_for_a_shape_can_be_copied_and_saved(through: str) -> None:
    layer = ad.nn.LazyLinear(3, dtype=ad.float64)
    if through == "deepcopy":
        twin = copy.deepcopy(layer)
    elif through == "pickle":
        twin = pickle.loads(pickle.dumps(layer))
    else:
        file = io.BytesIO()
        ad.save(layer if through == "save" else layer.state_dict(), file)
        file.seek(0)
        twin = ad.load(file, weights_only=False)
        if through == "state":
            assert all(isinstance(t, ad.nn.UninitializedParameter) for t in twin.values())
            state, twin = twin, ad.nn.LazyLinear(3, dtype=ad.float64)
            twin.load_state_dict(state)
    assert twin.has_uninitialized_params() and twin.weight.dtype == ad.float64 and twin.weight is not layer.weight
    assert twin(ad.ones(2, 4, dtype=ad.float64)).shape == (2, 3) and layer.has_uninitialized_params()
