"""Names that programs use which began as copies of PyTorch's own layers, schedules and context managers."""

from __future__ import annotations

import io
from typing import Any

import pytest

import adjoint as ad
from adjoint.autograd.grad_mode import _DecoratorContextManager
from adjoint.nn.modules.module import _addindent  # type: ignore[attr-defined]
from adjoint.nn.modules.transformer import _get_activation_fn, _get_clones  # type: ignore[import-untyped]
from adjoint_functional import absent_devices


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("bias", [True, False])
def test_recurrent_layers_of_their_weights(kind: str, bias: bool) -> None:
    layer = getattr(ad.nn, kind)(3, 4, 2, bidirectional=True, bias=bias)
    run: Any = getattr(ad, {"RNN": "rnn_tanh"}.get(kind, kind.lower()))
    x, zeros = ad.randn(5, 2, 3), ad.zeros(4, 2, 4)
    hx = (zeros, zeros) if kind == "LSTM" else zeros
    y, *ends = run(x, hx, layer._flat_weights, bias, 2, 0.0, True, True, False)
    expected, state = layer(x)
    assert ad.equal(y, expected) and ad.equal(ends[0], state[0] if kind == "LSTM" else state)
    assert ad.equal(
        run(x.transpose(0, 1), hx, layer._flat_weights, bias, 2, 0.0, True, True, True)[0], expected.transpose(0, 1)
    )
    packed = ad.nn.utils.rnn.pack_padded_sequence(x, [5, 3])
    y, *ends = run(packed.data, packed.batch_sizes, hx, layer._flat_weights, bias, 2, 0.0, True, True)
    assert ad.equal(y, layer(packed)[0].data) and len(ends) == (2 if kind == "LSTM" else 1)
    grads = ad.autograd.grad(y.sum(), layer._flat_weights)
    assert all(g.abs().sum() > 0 for g in grads)
    with pytest.raises(RuntimeError, match="weights for 1 layers"):
        run(x, hx, layer._flat_weights, bias, 1, 0.0, True, False, False)


def test_projections_and_dropout_of_recurrent_layers() -> None:
    layer = ad.nn.LSTM(3, 4, proj_size=2)
    x, hx = ad.randn(5, 2, 3), (ad.zeros(1, 2, 2), ad.zeros(1, 2, 4))
    assert ad.equal(ad.lstm(x, hx, layer._flat_weights, True, 1, 0.0, False, False, False)[0], layer(x)[0])
    deep = ad.nn.RNN(3, 4, 2)
    zeros = ad.zeros(2, 2, 4)
    assert ad.equal(ad.rnn_tanh(x, zeros, deep._flat_weights, True, 2, 0.5, False, False, False)[0], deep(x)[0])
    assert not ad.equal(ad.rnn_tanh(x, zeros, deep._flat_weights, True, 2, 0.5, True, False, False)[0], deep(x)[0])


def test_recurrent_functions_take_arguments_by_name() -> None:
    layer, x, h = ad.nn.GRU(3, 4), ad.randn(5, 2, 3), ad.zeros(1, 2, 4)
    how = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": True, "bidirectional": False}
    expected = layer(x)[0]
    assert ad.equal(ad.gru(input=x, hx=h, params=layer._flat_weights, batch_first=False, **how)[0], expected)
    packed = ad.nn.utils.rnn.pack_padded_sequence(x, [5, 5])
    found = ad.gru(data=packed.data, batch_sizes=packed.batch_sizes, hx=h, params=layer._flat_weights, **how)
    assert ad.equal(found[0], expected.flatten(0, 1))


def test_recurrent_functions_say_what_they_miss() -> None:
    weights, x, h = ad.nn.GRU(3, 4)._flat_weights, ad.randn(5, 2, 3), ad.zeros(1, 2, 4)
    with pytest.raises(TypeError, match=r"gru\(\) missing 9 required positional arguments: 'input'"):
        ad.gru()
    for params, num_layers in (([], 1), (weights[:1], 1), (weights, 0)):
        with pytest.raises(RuntimeError, match=f"gru: expected a layer.*num_layers = {num_layers} and {len(params)} weights"):
            ad.gru(x, h, params, True, num_layers, 0.0, True, False, False)
    with pytest.raises(RuntimeError, match="gru: expected 4 weights for 1 layers, got 8"):
        ad.gru(x, h, weights * 2, True, 1, 0.0, True, False, False)


def test_lengths_of_slices() -> None:
    v = ad.tensor([[3.0, 4.0], [0.0, 2.0]])
    assert ad.norm_except_dim(v, 2, 0).tolist() == [[5.0], [2.0]] and ad.norm_except_dim(v, 1, 1).tolist() == [[3.0, 6.0]]
    assert ad.norm_except_dim(v, 1, -1).item() == 9.0
    assert ad._weight_norm(v, ad.ones(2, 1), 0).tolist() == (v / ad.tensor([[5.0], [2.0]])).tolist()


def test_parts_of_layers() -> None:
    layers = _get_clones(ad.nn.Linear(2, 2), 2)
    assert isinstance(layers, ad.nn.ModuleList) and layers[0].weight is not layers[1].weight
    assert ad.equal(_get_activation_fn("gelu")(ad.ones(1)), ad._C._nn.gelu(ad.ones(1)))
    with pytest.raises(RuntimeError, match="relu/gelu"):
        _get_activation_fn("tanh")
    assert _addindent("a\nb", 4) == "a\n    b" and ad.backends.mkldnn.enabled


def test_context_managers_decorate() -> None:
    seen: list[str] = []

    class Noted(_DecoratorContextManager):
        def __enter__(self) -> None:
            seen.append("in")

        def __exit__(self, *_: Any) -> None:
            seen.append("out")

    @Noted()
    def steps() -> Any:
        yield len(seen)
        yield len(seen)

    assert list(steps()) == [1, 3] and seen == ["in", "out"] * 3


def test_schedules_know_who_asks() -> None:
    asked: list[bool] = []

    class Halving(ad.optim.lr_scheduler.LRScheduler):
        def get_lr(self) -> list[Any]:
            asked.append(self._get_lr_called_within_step)
            return [lr / 2**self.last_epoch for lr in self.base_lrs]

    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
    schedule = Halving(optimizer)
    optimizer.step()
    schedule.step()
    assert schedule.get_lr() == [0.5] and asked == [True, True, False]
    assert schedule.state_dict()["_get_lr_called_within_step"] is False


def test_memory_is_placed_by_name() -> None:
    file = io.BytesIO()
    ad.save(ad.ones(2), file)
    file.seek(0)
    back = ad.load(file, map_location=lambda memory, place: ad.serialization.default_restore_location(memory, "cpu"))
    assert back.tolist() == [1.0, 1.0]
    memory = back.untyped_storage()
    assert ad.serialization.location_tag(memory) == "cpu"
    assert ad.serialization.normalize_storage_type(type(memory)) is ad.UntypedStorage


def test_devices_that_are_not_there() -> None:
    assert not absent_devices.is_available() and absent_devices.device_count() == 0 and not absent_devices.is_initialized()
    absent_devices.manual_seed(0)
    absent_devices.manual_seed_all(0)


@pytest.mark.parametrize(
    ("kind", "fill"),
    [("ModuleDict", "update"), ("ModuleList", "extend"), ("ParameterDict", "update"), ("ParameterList", "extend")],
)
def test_containers_that_are_made_empty_are_not_filled(kind: str, fill: str) -> None:
    def refuse(self: Any, values: Any) -> None:
        raise AssertionError("its constructor has not run yet")

    made = type("Own", (getattr(ad.nn, kind),), {fill: refuse})()
    assert len(made) == 0


def test_transforms_know_that_they_run() -> None:
    active = ad._C._are_functorch_transforms_active
    seen: list[bool] = []
    ad.vmap(lambda x: (seen.append(active()), x)[1])(ad.ones(2))
    ad.func.grad(lambda x: (seen.append(active()), x)[1])(ad.tensor(1.0))
    assert seen == [True, True] and not active()


def test_complex_halves_are_a_name() -> None:
    assert repr(ad.complex32) == "adjoint.complex32" and ad.chalf is ad.complex32 and ad.complex32.is_complex
    assert ad.complex32.to_real() is ad.float16 and ad.float16 not in (ad.complex32,) and not ad.complex32.is_floating_point


def test_graphs_of_scripts_are_a_type_of_nothing() -> None:
    assert not isinstance(ad.ones(1), (ad._C.Value, ad._C.Graph))
    with pytest.raises(TypeError, match="no script language"):
        ad._C.Graph()
