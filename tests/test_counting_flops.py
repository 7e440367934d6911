"""`utils.flop_counter` and `utils.module_tracker`: what runs, in which module, at what cost."""

from __future__ import annotations

import pytest

import adjoint as ad
from adjoint.utils.flop_counter import FlopCounterMode, register_flop_formula
from adjoint.utils.module_tracker import ModuleTracker

aten = ad.ops.aten


class Net(ad.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.c, self.t = ad.nn.Conv2d(3, 6, 3, padding=1), ad.nn.ConvTranspose2d(6, 6, 2, stride=2)
        self.l = ad.nn.Sequential(ad.nn.Linear(6, 8), ad.nn.ReLU(), ad.nn.Linear(8, 2))

    def forward(self, x: ad.Tensor) -> ad.Tensor:
        return self.l(self.t(self.c(x)).mean((2, 3)))


def test_counts_are_those_of_pytorch() -> None:
    x = ad.randn(2, 3, 8, 8, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        Net()(x).sum().backward()
    counts = counter.get_flop_counts()
    assert counter.get_total_flops() == 235776  # as PyTorch 2.13 counts, in all and by module
    totals = {name: sum(of.values()) for name, of in counts.items()}
    assert totals == {
        "Global": 235776,
        "Net": 235776,
        "Net.c": 124416,
        "Net.t": 110592,
        "Net.l": 768,
        "Net.l.0": 576,
        "Net.l.2": 192,
    }
    with counter:
        pass
    assert counter.get_total_flops() == 0 and "Global         0         0%" in counter.get_table()


def test_convolutions_with_as_many_channels_as_examples() -> None:
    """Where shapes do not tell the gradient of the input from that of the weight."""
    x, w = ad.randn(4, 4, 5, 5, requires_grad=True), ad.randn(4, 4, 3, 3, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        y = ad.nn.functional.conv2d(x, w)
    forward = counter.get_total_flops()
    with counter:
        y.sum().backward()
    assert counter.get_flop_counts()["Global"] == {aten.convolution_backward: 2 * forward}


def test_attention_and_batched_products() -> None:
    q = ad.randn(2, 2, 4, 8, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        ad.nn.functional.scaled_dot_product_attention(q, q, q).sum().backward()
    assert counter.get_total_flops() == (2 + 5) * (2 * 2 * 4 * 4 * 8 * 2)
    with counter:
        ad.baddbmm(ad.ones(2, 3, 5), ad.ones(2, 3, 4), ad.ones(2, 4, 5))
    assert counter.get_flop_counts() == {"Global": {aten.bmm: 240}}


def test_formulas_of_programs(capsys: pytest.CaptureFixture[str]) -> None:
    seven = {aten.sin: lambda x, out_shape: 7 * x.numel()}
    with FlopCounterMode(custom_mapping=seven, depth=None) as counter:
        ad.sin(ad.ones(3))
    assert counter.get_total_flops() == 21 and " - aten.sin      21    100.00%" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="duplicate registrations for aten.mm"):
        register_flop_formula(aten.mm)(lambda *a, **k: 0)
    with pytest.raises(ValueError, match="OpOverloadPacket"):
        register_flop_formula(aten.mm.default)(lambda *a, **k: 0)
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        FlopCounterMode(ad.nn.Linear(1, 1))


def test_modules_are_tracked_backward_too() -> None:
    seen = []
    model = ad.nn.Sequential(ad.nn.Linear(2, 2), ad.nn.Tanh())
    with ModuleTracker() as tracker:
        y = model(ad.ones(1, 2, requires_grad=True) * 1)
        assert tracker.parents == {"Global"} and not tracker.is_bw
        hidden = model[0].weight.register_hook(lambda g: seen.append((tracker.is_bw, sorted(tracker.parents))))
        y.sum().backward()
        hidden.remove()
    assert seen == [(True, ["Global", "Sequential", "Sequential.0"])] and tracker.parents == {"Global"}
    model(ad.ones(1, 2))
    assert tracker.parents == {"Global"}
