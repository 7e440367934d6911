"""Norms of weights by hooks, fused layers, older names, and the choice of kernels for attention."""

from __future__ import annotations

import pytest

import adjoint as ad

nn, U = ad.nn, ad.nn.utils
LAYERS = {
    "linear": lambda: (nn.Linear(3, 4), ad.randn(5, 3)),
    "conv": lambda: (nn.Conv1d(3, 4, 2), ad.randn(5, 3, 6)),
    "transposed": lambda: (nn.ConvTranspose1d(3, 4, 2), ad.randn(5, 3, 6)),
}


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_changes_nothing_but_the_parameters(kind, dim):
    layer, x = LAYERS[kind]()
    before, weight = layer(x), layer.weight.detach().clone()
    with pytest.warns(FutureWarning, match="deprecated"):
        U.weight_norm(layer, dim=dim)
    assert ad.allclose(layer(x), before, atol=1e-6) and {"weight_g", "weight_v"} <= set(layer.state_dict())
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="two weight_norm hooks"):
        U.weight_norm(layer)
    layer(x).sum().backward()
    along = (layer.weight_v.grad * layer.weight_v).sum()
    assert layer.weight_g.grad is not None and abs(along) < 1e-3  # a direction has no derivative along itself
    with ad.no_grad():
        layer.weight_g.mul_(2)
    layer(x)
    assert ad.allclose(layer.weight, 2 * weight, atol=1e-6)
    U.remove_weight_norm(layer)
    assert isinstance(layer.weight, nn.Parameter) and ad.allclose(layer.weight, 2 * weight, atol=1e-6)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        U.remove_weight_norm(layer)


@pytest.mark.parametrize("kind", LAYERS)
def test_spectral_norm_finds_the_largest_singular_value(kind):
    layer, x = LAYERS[kind]()
    dim = 1 if kind == "transposed" else 0
    largest = ad.linalg.svdvals(layer.weight.movedim(dim, 0).flatten(1))[0]
    weight = layer.weight.detach().clone()
    U.spectral_norm(layer, n_power_iterations=1000)
    layer(x)
    assert ad.allclose(layer.weight, weight / largest, atol=1e-4)
    frozen = layer.eval()(x)
    assert ad.equal(frozen, layer(x))
    layer(x).sum().backward()
    assert layer.weight_orig.grad is not None
    U.remove_spectral_norm(layer)
    assert ad.allclose(layer(x), frozen, atol=1e-6)
    with pytest.raises(ValueError, match="n_power_iterations"):
        U.spectral_norm(layer, n_power_iterations=0)


def test_fused_layers_do_what_both_did():
    for layer, bn, x, transpose in (
        (nn.Conv2d(2, 3, 3, bias=False), nn.BatchNorm2d(3), ad.randn(2, 2, 5, 5), False),
        (nn.ConvTranspose1d(2, 3, 3), nn.BatchNorm1d(3), ad.randn(2, 2, 5), True),
        (nn.Linear(2, 3), nn.BatchNorm1d(3, affine=False), ad.randn(4, 2), None),
    ):
        with ad.no_grad():
            bn.running_mean.normal_()
            bn.running_var.uniform_(0.5, 2)
        fuse = (
            U.fusion.fuse_linear_bn_eval if transpose is None else lambda a, b, t=transpose: U.fusion.fuse_conv_bn_eval(a, b, t)
        )
        with pytest.raises(AssertionError, match="eval"):
            fuse(layer, bn)
        assert ad.allclose(fuse(layer.eval(), bn.eval())(x), bn(layer(x)), atol=1e-5)


def test_older_names():
    x = ad.randn(1, 1, 2, 2)
    assert nn.UpsamplingNearest2d(scale_factor=2)(x)[0, 0, 1, 1] == x[0, 0, 0, 0]
    assert nn.UpsamplingBilinear2d(size=3)(x)[0, 0, 2, 2] == x[0, 0, 1, 1]
    assert isinstance(nn.LSTM(2, 3), nn.RNNBase) and isinstance(nn.GRUCell(2, 3), nn.RNNCellBase)
    with nn.attention.sdpa_kernel([nn.attention.SDPBackend.MATH]):
        pass
    with pytest.raises(AssertionError), nn.attention.sdpa_kernel(["math"]):
        pass


def test_muon_steps_are_nearly_orthogonal_and_adafactor_keeps_rows_and_columns():
    w = nn.Parameter(ad.zeros(4, 6))
    muon = ad.optim.Muon([w], lr=1.0, weight_decay=0.0)
    w.grad = ad.randn(4, 6)
    muon.step()
    values = ad.linalg.svdvals(w)
    assert (values > 0.5).all() and (values < 1.5).all()
    with pytest.raises(ValueError, match="only supports 2D"):
        ad.optim.Muon([nn.Parameter(ad.zeros(3))])
    v = nn.Parameter(ad.ones(4, 6))
    adafactor = ad.optim.Adafactor([v])
    for _ in range(3):
        v.grad = 2 * v.detach()
        adafactor.step()
    assert (v < 1).all() and sum(t.numel() for t in adafactor.state[v].values()) == 4 + 6 + 1
    with pytest.raises(ValueError, match="beta2_decay"):
        ad.optim.Adafactor([v], beta2_decay=0.5)
