"""Transformer layers and stacks: what each step may look at, and the order of norms."""

from __future__ import annotations

import pytest

import adjoint as ad

nn = ad.nn


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_an_encoder_layer_is_its_parts(norm_first, activation):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation=activation, norm_first=norm_first)
    x = ad.randn(5, 3, 8)
    attend = lambda x: layer.self_attn(x, x, x)[0]  # noqa: E731
    wide = lambda x: layer.linear2(getattr(nn.functional, activation)(layer.linear1(x)))  # noqa: E731
    if norm_first:
        y = x + attend(layer.norm1(x))
        y = y + wide(layer.norm2(y))
    else:
        y = layer.norm1(x + attend(x))
        y = layer.norm2(y + wide(y))
    assert ad.allclose(layer(x), y, atol=1e-6)


@pytest.mark.parametrize("batch_first", [False, True])
def test_no_step_looks_ahead_under_the_square_mask(batch_first):
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=batch_first).eval()
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    src, tgt = ad.randn(*((2, 3, 8) if batch_first else (3, 2, 8))), ad.randn(*((2, 4, 8) if batch_first else (4, 2, 8)))
    steps = 1 if batch_first else 0
    first = model(src, tgt, tgt_mask=mask).select(steps, 1)
    changed = tgt.clone()
    changed.select(steps, 3).fill_(9.0)
    assert ad.allclose(first, model(src, changed, tgt_mask=mask).select(steps, 1), atol=1e-6)
    assert not ad.allclose(first, model(src, changed).select(steps, 1), atol=1e-3)


def test_padding_does_not_count():
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, nn.LayerNorm(8)
    ).eval()
    x, padding = ad.randn(2, 4, 8), ad.tensor([[False, False, True, True]] * 2)
    y = encoder(x, src_key_padding_mask=padding)[:, :2]
    assert ad.allclose(y, encoder(x[:, :2]), atol=1e-6)


def test_stacks_have_layers_of_their_own_and_gradients():
    model = nn.Transformer(8, 2, 2, 2, 16)
    model(ad.randn(3, 2, 8), ad.randn(4, 2, 8)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert model.encoder.layers[0].linear1.weight is not model.encoder.layers[1].linear1.weight
    with pytest.raises(RuntimeError, match="equal to d_model"):
        model(ad.randn(3, 2, 4), ad.randn(4, 2, 8))
    with pytest.raises(RuntimeError, match="batch number"):
        model(ad.randn(3, 1, 8), ad.randn(4, 2, 8))
    with pytest.raises(RuntimeError, match="relu/gelu"):
        nn.TransformerEncoderLayer(8, 2, activation="tanh")


def test_the_default_activation_is_the_function_that_users_see():
    layer = ad.nn.TransformerEncoderLayer(4, 2, 8)
    assert layer.activation is ad.nn.functional.relu and layer.activation_relu_or_gelu == 1
    assert ad.nn.TransformerEncoderLayer(4, 2, 8, activation=ad.nn.functional.gelu).activation_relu_or_gelu == 2


def test_layers_are_pickled_with_their_activation() -> None:
    import pickle

    for activation in ("relu", "gelu"):
        layer = ad.nn.TransformerEncoderLayer(4, 2, 8, activation=activation)
        back = pickle.loads(pickle.dumps(layer))
        assert back.activation is layer.activation
