"""Names of the `torch` namespace that stand for others here, steps of recurrent networks, switches of GPUs, gradients of each member of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import adjoint as ad
from adjoint.nn.utils._per_sample_grad import call_for_per_sample_grads


def test_numbers_are_pythons() -> None:
    assert (ad.sym_int(3.7), ad.sym_float(2), ad.sym_max(2, 3.0), ad.sym_min(2, 3), ad.sym_not(True)) == (3, 2.0, 3.0, 2, False)
    assert (
        ad.sym_ite(False, 1, 2) == 2
        and ad.sym_sum([1, 2]) == 3
        and ad.sym_sqrt(4) == 2
        and not isinstance(3, (ad.SymInt, ad.SymFloat, ad.SymBool))
    )
    assert ad.get_num_interop_threads() == 1 and not ad.set_flush_denormal(True) and ad.has_lapack and not ad.has_mkl
    with pytest.raises(RuntimeError, match="positive"):
        ad.set_num_interop_threads(0)


@pytest.fixture
def every_warning() -> Iterator[None]:
    """Given each time, whatever was warned of before."""
    ad.set_warn_always(True)
    yield
    ad.set_warn_always(False)


def test_default_tensor_type(every_warning: None) -> None:
    try:
        with pytest.warns(UserWarning, match="set_default_dtype"):
            ad.set_default_tensor_type(ad.DoubleTensor)
        assert ad.ones(1).dtype is ad.float64
        with pytest.warns(UserWarning, match="set_default_dtype"):
            ad.set_default_tensor_type("torch.FloatTensor")
    finally:
        ad.set_default_dtype(ad.float32)
    assert ad.ones(1).dtype is ad.float32
    with pytest.raises(TypeError, match="floating-point types"):
        ad.set_default_tensor_type(ad.LongTensor)


def test_methods_as_functions() -> None:
    x = ad.tensor([12, 18])
    assert ad.gcd_(x, ad.tensor([8, 27])) is x and x.tolist() == [4, 9] and ad.get_device(ad.ones(1)) == -1
    assert ad.wait(ad.fork(lambda: 3)) == 3 and not ad.is_distributed(x)


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_steps_of_recurrent_networks(kind: str) -> None:
    cell = getattr(ad.nn, kind)(3, 4)
    state: Any = (ad.randn(2, 4), ad.randn(2, 4)) if kind == "LSTMCell" else ad.randn(2, 4)
    x = ad.randn(2, 3)
    step = getattr(ad, {"RNNCell": "rnn_tanh_cell", "LSTMCell": "lstm_cell", "GRUCell": "gru_cell"}[kind])
    ad.testing.assert_close(step(x, state, *cell.parameters()), cell(x, state))
    ad.testing.assert_close(
        ad.rnn_relu_cell(x, ad.zeros(2, 4), ad.ones(4, 3), ad.ones(4, 4)), x.sum(1, keepdim=True).relu().expand(2, 4)
    )


def test_switches_of_gpus_are_remembered() -> None:
    cuda: Any = ad.backends.cuda
    cuda.enable_flash_sdp(False)
    cuda.enable_mem_efficient_sdp(False)
    assert (
        not cuda.flash_sdp_enabled()
        and not cuda.mem_efficient_sdp_enabled()
        and cuda.math_sdp_enabled()
        and cuda.cudnn_sdp_enabled()
    )
    cuda.enable_flash_sdp(True)
    cuda.enable_mem_efficient_sdp(True)
    cuda.enable_math_sdp(True)
    cuda.enable_cudnn_sdp(True)
    with pytest.warns(FutureWarning, match="sdpa_kernel"), cuda.sdp_kernel(enable_math=False):
        assert not cuda.math_sdp_enabled()
    assert cuda.math_sdp_enabled() and cuda.matmul.allow_tf32 is False and cuda.preferred_linalg_library("magma") == "default"
    cuda.allow_fp16_bf16_reduction_math_sdp(True)
    assert (
        cuda.fp16_bf16_reduction_math_sdp_allowed()
        and cuda.is_built() is ad.cuda.is_available()
        and not cuda.is_flash_attention_available()
        and not cuda.can_use_flash_attention(cuda.SDPAParams(None, None, None, None, 0.0, True))
    )
    cuda.allow_fp16_bf16_reduction_math_sdp(False)
    ad.backends.mha.set_fastpath_enabled(False)
    assert not ad.backends.mha.get_fastpath_enabled()
    ad.backends.mha.set_fastpath_enabled(True)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("batch_first", [True, False])
def test_gradients_of_each_member(reduction: str, batch_first: bool) -> None:
    model = ad.nn.Sequential(ad.nn.Linear(3, 4), ad.nn.Tanh(), ad.nn.Linear(4, 2))
    place = 0 if batch_first else 1
    x = ad.randn(5, 6, 3)
    batch = x.size(place)
    y = call_for_per_sample_grads(model, loss_reduction=reduction, batch_first=batch_first)(x)
    assert y.shape == (5, 6, 2)
    (y.square().sum() if reduction == "sum" else y.square().sum((1 - place, 2)).mean()).backward()
    for i in range(batch):
        grads = ad.autograd.grad(model(x.select(place, i)).square().sum(), tuple(model.parameters()))
        for p, g in zip(model.parameters(), grads, strict=True):
            ad.testing.assert_close(p.grad_sample[i], g)
            assert p.grad is None
    with pytest.raises(RuntimeError, match="grad_sample"):
        call_for_per_sample_grads(model)


def test_what_cannot_be_called_so() -> None:
    layer = ad.nn.Linear(2, 3)
    for module, given, error in ((3, {}, "must be nn.Module"), (layer, {"loss_reduction": "max"}, "sum or mean"), (layer, {"batch_size": "a"}, "an integer"),
                                 (layer, {"batch_size": 0}, "positive")):  # fmt: skip
        with pytest.raises(RuntimeError, match=error):
            call_for_per_sample_grads(module, **given)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="same batch size"):
        call_for_per_sample_grads(ad.nn.Bilinear(2, 2, 1))(ad.ones(3, 2), ad.ones(4, 2))


@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_what_pytorch_took_away_says_what_to_use(name: str) -> None:
    operands = (ad.eye(2), ad.eye(2)) if name in ("lstsq", "solve") else (ad.eye(2),)
    for function in (getattr(ad, name), getattr(ad.Tensor, name, getattr(ad, name))):
        with pytest.raises(RuntimeError, match=rf"now removed. `{name}`: use `linalg"):
            function(*operands)


def test_other_places_of_names() -> None:
    assert ad.Future is ad.futures.Future is ad.jit.Future and ad.jit.Error is RuntimeError


def test_names_of_types() -> None:
    assert ad.typename(int) == "int" and ad.typename(ad.nn.Linear).endswith("linear.Linear") == ad.typename(
        ad.nn.Linear(1, 1)
    ).endswith("linear.Linear")
    assert ad.typename(ad.ones(1)) == "adjoint.FloatTensor" and ad.typename(test_names_of_types).endswith("test_names_of_types")
