"""Parametrized tensors: values, gradients, assignment, states and copies; the ready ones by what they promise."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import adjoint as ad

P = ad.nn.utils.parametrize
ready = ad.nn.utils.parametrizations


class Double(ad.nn.Module):
    def forward(self, x: Any) -> Any:
        return 2 * x

    def right_inverse(self, y: Any) -> Any:
        return y / 2


class Symmetric(ad.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).mT


class Product(ad.nn.Module):
    def forward(self, a: Any, b: Any) -> Any:
        return a * b

    def right_inverse(self, y: Any) -> Any:
        return y, ad.ones_like(y)


def linear() -> Any:
    return ad.nn.Linear(3, 3, dtype=ad.float64)


def test_one_and_two_functions() -> None:
    layer = linear()
    before, kind = layer.weight.detach().clone(), type(layer)
    original = layer.weight
    assert P.register_parametrization(layer, "weight", Double()) is layer
    assert (
        layer.parametrizations.weight.original is original and ad.equal(original, before / 2) and ad.equal(layer.weight, before)
    )
    P.register_parametrization(layer, "weight", Symmetric())
    x = ad.randn(2, 3, dtype=ad.float64)
    weight = (2 * original.detach()).requires_grad_()
    full = weight.triu() + weight.triu(1).mT
    assert ad.equal(layer.weight, full) and ad.equal(layer(x), x @ full.mT + layer.bias)
    layer(x).sin().sum().backward()
    (x @ full.mT + layer.bias).sin().sum().backward()
    assert ad.allclose(original.grad, 2 * weight.grad)
    assert P.is_parametrized(layer) and P.is_parametrized(layer, "weight") and not P.is_parametrized(layer, "bias")
    assert (
        type(layer).__name__ == "ParametrizedLinear"
        and isinstance(layer, kind)
        and P.type_before_parametrizations(layer) is kind
    )
    assert [name for name, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original"]
    with pytest.raises(RuntimeError, match="Symmetric does not implement right_inverse"):
        layer.weight = before
    twin = copy.deepcopy(layer)
    twin.load_state_dict({k: v + 1 for k, v in layer.state_dict().items()})
    assert ad.equal(layer.weight, full) and not ad.equal(twin.weight, full)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)
    P.remove_parametrizations(layer, "weight")
    assert type(layer) is kind and layer.weight is original and ad.equal(original, full) and not P.is_parametrized(layer)


def test_assignment_keeps_the_parameter() -> None:
    layer = P.register_parametrization(linear(), "weight", Double())
    original = layer.parametrizations.weight.original
    layer.weight = ad.eye(3, dtype=ad.float64)
    assert (
        layer.parametrizations.weight.original is original
        and ad.equal(layer.weight, ad.eye(3, dtype=ad.float64))
        and original.requires_grad
    )
    layer.bias = None
    P.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert ad.equal(layer.weight, ad.eye(3, dtype=ad.float64) / 2)


def test_several_originals_and_buffers() -> None:
    layer = P.register_parametrization(linear(), "bias", Product())
    value = layer.bias.detach().clone()
    assert sorted(layer.state_dict()) == ["parametrizations.bias.original0", "parametrizations.bias.original1", "weight"]
    layer(ad.ones(3, dtype=ad.float64)).sum().backward()
    assert ad.equal(layer.parametrizations.bias.original1.grad, value)
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        P.remove_parametrizations(layer, "bias", leave_parametrized=False)
    assert isinstance(P.remove_parametrizations(layer, "bias").bias, ad.nn.Parameter)
    norm = P.register_parametrization(ad.nn.BatchNorm1d(2), "running_mean", Double())
    assert "parametrizations.running_mean.original" in dict(norm.named_buffers()) and norm.running_mean.tolist() == [0, 0]


def test_cached() -> None:
    layer = P.register_parametrization(linear(), "weight", Double())
    assert layer.weight is not layer.weight
    with P.cached():
        kept = layer.weight
        with P.cached():
            assert layer.weight is kept
        assert layer.weight is kept
    assert layer.weight is not kept


def test_errors() -> None:
    narrow = ad.nn.Flatten(0)
    for make, words in [
        (lambda: P.register_parametrization(linear(), "nothing", Double()), "does not have a parameter, a buffer"),
        (lambda: P.register_parametrization(linear(), "weight", narrow), "may not change the shape"),
        (lambda: P.register_parametrization(P.register_parametrization(linear(), "weight", Double()), "weight", narrow), "may not change the shape"),
        (lambda: P.remove_parametrizations(linear(), "weight"), "does not have a parametrization on weight"),
        (lambda: ready.spectral_norm(linear(), n_power_iterations=0), "Expected n_power_iterations to be positive"),
        (lambda: ready.orthogonal(linear(), "bias"), "Expected a matrix or batch of matrices"),
        (lambda: ready.orthogonal(linear(), orthogonal_map="x"), "orthogonal_map has to be one of"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()
    assert P.register_parametrization(linear(), "weight", narrow, unsafe=True).weight.shape == (9,)


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim: int | None) -> None:
    layer = linear()
    before = layer.weight.detach().clone()
    ready.weight_norm(layer, dim=dim)
    length, direction = layer.parametrizations.weight.originals()
    assert ad.allclose(layer.weight, before) and length.shape == {0: (3, 1), 1: (1, 3), None: ()}[dim]
    assert ad.autograd.gradcheck(lambda g, v: layer.parametrizations.weight[0](g, v), (length, direction))
    layer(ad.ones(3, dtype=ad.float64)).sum().backward()
    assert ad.allclose((direction.grad * direction).sum(), ad.zeros((), dtype=ad.float64), atol=1e-12)  # turning only


@pytest.mark.parametrize(
    "make", [lambda: ad.nn.Linear(3, 5), lambda: ad.nn.Conv2d(2, 3, 2), lambda: ad.nn.ConvTranspose1d(2, 4, 3)]
)
def test_spectral_norm(make: Any) -> None:
    layer = ready.spectral_norm(make().double(), n_power_iterations=30)
    rows = layer.weight.movedim(layer.parametrizations.weight[0].dim, 0).flatten(1)
    assert ad.linalg.matrix_norm(rows, 2).item() == pytest.approx(1, abs=1e-6)
    layer.eval()
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    original = layer.parametrizations.weight.original
    assert ad.autograd.gradcheck(layer.parametrizations.weight[0], (original,))
    assert all(ad.equal(v, layer.state_dict()[k]) for k, v in before.items())


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3), (2, 4, 3)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley"])
def test_orthogonal(shape: tuple[int, ...], kind: str) -> None:
    module = ad.nn.Module()
    module.weight = ad.nn.Parameter(ad.randn(shape, dtype=ad.float64))
    ready.orthogonal(module, orthogonal_map=kind)
    original = module.parametrizations.weight.original
    optimizer = ad.optim.SGD(module.parameters(), lr=0.1)
    target = ad.randn(shape, dtype=ad.float64)
    losses = []
    for _ in range(20):
        w = module.weight
        tall = w if w.size(-2) >= w.size(-1) else w.mT
        assert ad.allclose(tall.mT @ tall, ad.eye(tall.size(-1), dtype=ad.float64).expand(*shape[:-2], -1, -1))
        losses.append(((w - target) ** 2).sum())
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0] and original.shape == shape
    value = module.weight.detach().clone()
    module.weight = value
    assert ad.allclose(module.weight, value) and not module.parametrizations.weight.original.any()
