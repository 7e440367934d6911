"""Transformer (A. Vaswani and others, Attention is all you need, 2017): layers, stacks of layers, and both stacks together."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._compose import face_of

from .. import functional as F
from .. import init
from ..functional.helpers import _canonical_mask
from .attention import MultiheadAttention
from .containers import ModuleList
from .generated import GELU, Dropout, ReLU
from .linear import Linear
from .module import Module
from .norm import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]

Activation = str | Callable[[Tensor], Tensor]


def _get_activation_fn(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return face_of(F.relu if activation == "relu" else F.gelu)  # what users know as the function


def _get_clones(module: Module, N: int) -> ModuleList:
    """Copies of a module, each with parameters of its own."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _alike(mask: Tensor | None, name: str, padding: Tensor | None, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Both masks as numbers, where one of them is and the other is not."""
    if mask is None or padding is None or mask.dtype == padding.dtype:
        return mask, padding
    padding = _canonical_mask(padding, "src_key_padding_mask", mask.dtype, name, x.dtype)
    return _canonical_mask(mask, name, None, "", x.dtype, check_other=False), padding


def _is_causal(mask: Tensor | None, is_causal: bool | None, length: int) -> bool:
    """What is said, or whether the mask lets no step look ahead and nothing else."""
    if is_causal is not None:
        return is_causal
    if mask is None or tuple(mask.shape[-2:]) != (length, length) or mask.dim() != 2:
        return False
    hidden = mask if mask.dtype is core.bool else mask == float("-inf")
    return bool((hidden == core.ones_like(hidden).triu(1)).all())


class _Layer(Module):
    """What both kinds of layers have: attention to itself and a network of two linear layers, each added to its input and normed."""

    __constants__ = ("norm_first",)

    _crosses = False  # whether it looks at another sequence too

    def _make(
        self,
        d_model: int,
        nhead: int,
        wide: int,
        dropout: float,
        bias: bool,
        batch_first: bool,
        eps: float,
        kwargs: dict[str, Any],
    ) -> None:
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **kwargs)
        if self._crosses:
            self.multihead_attn = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **kwargs
            )
        self.linear1 = Linear(d_model, wide, bias=bias, **kwargs)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(wide, d_model, bias=bias, **kwargs)
        self.norm1 = LayerNorm(d_model, eps=eps, bias=bias, **kwargs)
        self.norm2 = LayerNorm(d_model, eps=eps, bias=bias, **kwargs)
        if self._crosses:
            self.norm3 = LayerNorm(d_model, eps=eps, bias=bias, **kwargs)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if self._crosses:
            self.dropout3 = Dropout(dropout)

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        found, _ = self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )
        return self.dropout1(found)

    def _wide(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a network on each step.

    Arguments:
        d_model: features of a step.
        nhead: heads of the attention.
        dim_feedforward: hidden features of the network.
        activation: ``"relu"``, ``"gelu"`` or a function.
        batch_first: (N, S, E) instead of (S, N, E).
        norm_first: norms come before each part instead of after it.

    Example::

        >>> layer = ad.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
        >>> layer(ad.ones(2, 5, 8)).shape
        adjoint.Size([2, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._make(
            d_model, nhead, dim_feedforward, dropout, bias, batch_first, layer_norm_eps, {"device": device, "dtype": dtype}
        )
        self.norm_first, self.activation = norm_first, _get_activation_fn(activation)
        self.activation_relu_or_gelu = (
            1
            if self.activation is face_of(F.relu) or isinstance(self.activation, ReLU)
            else 2
            if self.activation is face_of(F.gelu) or isinstance(self.activation, GELU)
            else 0
        )

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        """(S, N, E), or (N, S, E), to the same shape. Masks as in `MultiheadAttention`."""
        x = src
        src_mask, src_key_padding_mask = _alike(src_mask, "src_mask", src_key_padding_mask, src)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._wide(x))


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, to what an encoder made, and a network on each step.

    Arguments: those of `TransformerEncoderLayer`.

    Example::

        >>> layer = ad.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
        >>> layer(ad.ones(3, 2, 8), ad.ones(5, 2, 8)).shape
        adjoint.Size([3, 2, 8])
    """

    _crosses = True

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        kwargs = {"device": device, "dtype": dtype}
        self._make(d_model, nhead, dim_feedforward, dropout, bias, batch_first, layer_norm_eps, kwargs)
        self.norm_first, self.activation = norm_first, _get_activation_fn(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """(T, N, E) and the encoder's (S, N, E) to (T, N, E)."""
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self.norm2(x + self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        found, _ = self.multihead_attn(
            x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )
        return self.dropout2(found)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._wide(x))


class _Stack(Module):
    """Copies of a layer, one after the other, and a norm if there is one."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(layer, Module):
            raise TypeError(f"{name}: expected a layer that is a Module, got {type(layer).__name__}")
        if isinstance(num_layers, int) and num_layers > 1 << 16:
            raise ValueError(f"{name}: num_layers must be at most {1 << 16}, got {num_layers}")
        self.layers = _get_clones(layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def _length(self, x: Tensor) -> int:
        first = self.layers[0]
        return x.size(1 if x.dim() == 3 and first.self_attn.batch_first else 0)


class TransformerEncoder(_Stack):
    """Copies of an encoder layer.

    Arguments:
        enable_nested_tensor, mask_check: taken for PyTorch's sake; they change no number.

    Example::

        >>> encoder = ad.nn.TransformerEncoder(ad.nn.TransformerEncoderLayer(8, 2, 16), 3)
        >>> encoder(ad.ones(5, 2, 8)).shape
        adjoint.Size([5, 2, 8])
    """

    __constants__ = ("norm",)

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = False

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool | None = None
    ) -> Tensor:
        """Through all layers; without ``is_causal``, the mask is looked at."""
        x, causal = src, _is_causal(mask, is_causal, self._length(src))
        mask, src_key_padding_mask = _alike(mask, "mask", src_key_padding_mask, src)
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=causal)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(_Stack):
    """Copies of a decoder layer.

    Example::

        >>> decoder = ad.nn.TransformerDecoder(ad.nn.TransformerDecoderLayer(8, 2, 16), 3)
        >>> decoder(ad.ones(3, 2, 8), ad.ones(5, 2, 8)).shape
        adjoint.Size([3, 2, 8])
    """

    __constants__ = ("norm",)

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Through all layers; without ``tgt_is_causal``, the mask is looked at."""
        x, causal = tgt, _is_causal(tgt_mask, tgt_is_causal, self._length(tgt))
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder.

    Arguments: those of the layers, numbers of layers, or stacks of one's own.

    Example::

        >>> model = ad.nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
        >>> model(ad.ones(5, 2, 8), ad.ones(3, 2, 8)).shape
        adjoint.Size([3, 2, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        kwargs = {"device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        stacks = ((custom_encoder, TransformerEncoder, TransformerEncoderLayer, num_encoder_layers),
                  (custom_decoder, TransformerDecoder, TransformerDecoderLayer, num_decoder_layers))  # fmt: skip
        self.encoder, self.decoder = (
            own
            if own is not None
            else stack(kind(*layer, **kwargs), n, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kwargs))
            for own, stack, kind, n in stacks
        )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """(S, N, E) and (T, N, E) to (T, N, E), or with N first.

        Raises:
            RuntimeError: batches or features that differ.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """(sz, sz): -inf where a step would look ahead, else 0.

        Example::

            >>> ad.nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return core.full((sz, sz), float("-inf"), dtype=dtype, device=device).triu(1)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
