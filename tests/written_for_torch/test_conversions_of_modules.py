"""`__future__`'s switches and `utils.swap_tensors`: what conversions of modules do to parameters; and small places of `utils`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import adjoint as ad

future: Any = getattr(ad, "__future__")  # noqa: B009


@pytest.fixture
def layer() -> Iterator[ad.nn.Linear]:
    layer = ad.nn.Linear(2, 1)
    layer(ad.ones(1, 2)).sum().backward()
    yield layer
    future.set_overwrite_module_params_on_conversion(False)
    future.set_swap_module_params_on_conversion(False)


def test_parameters_stay_who_they_are(layer: ad.nn.Linear) -> None:
    weight, grad = layer.weight, layer.weight.grad
    layer.double()
    assert layer.weight is weight and weight.dtype is ad.float64
    assert weight.grad is grad and grad is not None and grad.dtype is ad.float64


def test_parameters_are_overwritten(layer: ad.nn.Linear) -> None:
    weight = layer.weight
    future.set_overwrite_module_params_on_conversion(True)
    assert future.get_overwrite_module_params_on_conversion()
    layer.double()
    assert layer.weight is not weight and weight.dtype is ad.float32
    assert isinstance(layer.weight, ad.nn.Parameter) and layer.weight.requires_grad
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[1, 1]] and layer.weight.grad.dtype is ad.float64


def test_parameters_are_swapped(layer: ad.nn.Linear) -> None:
    weight, grad = layer.weight, layer.weight.grad
    future.set_swap_module_params_on_conversion(True)
    assert future.get_swap_module_params_on_conversion()
    layer.double()
    assert layer.weight is weight and weight.dtype is ad.float64 and weight.grad is grad and weight.requires_grad


class Marked(ad.Tensor):
    pass


def test_tensors_are_swapped() -> None:
    a, b = ad.nn.Parameter(ad.zeros(2)), ad.ones(1, dtype=ad.int64).as_subclass(Marked)
    a.grad, a.mine = ad.ones(2), 1  # type: ignore[attr-defined]
    ad.utils.swap_tensors(a, b)
    assert type(a) is Marked and a.tolist() == [1] and not hasattr(a, "mine") and not a.requires_grad
    assert type(b) is ad.nn.Parameter and b.mine == 1 and b.grad is not None and b.requires_grad  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="swap_tensors: both must be leaves"):
        ad.utils.swap_tensors(a, b * 2)


def test_places_of_utils() -> None:
    assert ad.utils.model_zoo.load_url is ad.hub.load_state_dict_from_url
    info = ad.utils.collect_env.get_env_info()
    assert (
        info.is_cuda_available == str(ad.cuda.is_available()) and f"OS: {info.os}" in ad.utils.collect_env.get_pretty_env_info()
    )
    ad.utils.backcompat.broadcast_warning.enabled = True
    assert ad.utils.backcompat.broadcast_warning.get_enabled() and not ad.utils.backcompat.keepdim_warning.enabled
    ad.utils.backcompat.broadcast_warning.set_enabled(False)


def test_tensors_that_fit_into_the_place_of_others() -> None:
    x = ad.eye(2)
    assert ad._has_compatible_shallow_copy_type(x, ad.ones(3, dtype=ad.int32))
    assert ad._has_compatible_shallow_copy_type(x.to_sparse(), x.to_sparse())
    for other in (x.to_sparse(), x.to_sparse_csr(), x.to("meta")):
        assert not ad._has_compatible_shallow_copy_type(x, other)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_sizes_that_transposed_convolutions_choose_from(n: int) -> None:
    layer = getattr(ad.nn, f"ConvTranspose{n}d")(1, 1, 3, stride=2)
    x = ad.ones(1, 1, *[4] * n)
    chosen = type(layer)._output_padding(None, x, [10] * n, [2] * n, [0] * n, [3] * n, n)
    assert list(chosen) == [1] * n
    for input, size in ((x, [10] * n), (x, [1, 1] + [10] * n), (x[0], [1] + [10] * n)):
        assert layer(input, size).shape[-n:] == (10,) * n
    with pytest.raises(
        ValueError, match=f"ConvTranspose{n}D: for {n + 2}D input, output_size must have {n} or {n + 2} elements"
    ):
        layer(x, [10] * (n + 1))
