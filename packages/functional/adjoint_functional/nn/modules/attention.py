"""Attention with learned projections."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor
from adjoint_engine import no_grad

from .. import functional as F
from .. import init
from ..asserted import AssertedValueError
from .linear import NonDynamicallyQuantizableLinear, parameter
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention in ``num_heads`` parts of the features, between projections of queries, keys and values, and of the result.

    Arguments:
        embed_dim: features of queries and of the result; ``num_heads`` divides it.
        num_heads: how many parts.
        dropout: probability of dropping a weight, in training.
        bias: the projections add biases.
        add_bias_kv: one more key and value that are learned.
        add_zero_attn: one more key and value that are zero.
        kdim, vdim: features of keys and values; as many as ``embed_dim`` by default.
        batch_first: (N, L, E) instead of (L, N, E).

    Raises:
        ValueError: sizes that are not positive, or heads that do not divide the features.

    Example::

        >>> attention = ad.nn.MultiheadAttention(4, 2, batch_first=True)
        >>> y, weights = attention(ad.ones(2, 5, 4), ad.ones(2, 3, 4), ad.ones(2, 3, 4))
        >>> y.shape, weights.shape
        (adjoint.Size([2, 5, 4]), adjoint.Size([2, 5, 3]))
    """

    __constants__ = ("batch_first",)

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertedValueError(f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim, self.dropout = embed_dim, num_heads, embed_dim // num_heads, dropout
        self.kdim, self.vdim = (embed_dim if n is None else n for n in (kdim, vdim))
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self._qkv_same_embed_dim = together = self.kdim == self.vdim == embed_dim
        sizes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": None if together else (embed_dim, embed_dim),
            "k_proj_weight": None if together else (embed_dim, self.kdim),
            "v_proj_weight": None if together else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if together else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        for name, size in sizes.items():
            self.register_parameter(name, None if size is None else parameter(*size, device=device, dtype=dtype))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, parameter(1, 1, embed_dim, device=device, dtype=dtype) if add_bias_kv else None)
        self._reset_parameters()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"_qkv_same_embed_dim": True, **state})

    @no_grad()
    def _reset_parameters(self) -> None:
        """Draws new values: Xavier's for the projections of inputs, zero for biases."""
        for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row)

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one, and which there were: 0 the first, 1 the second, 2 both, None none.

        A mask of both is (N, heads, L, S); one alone stays as it is.
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        if key_padding_mask is None:
            return attn_mask, 0
        batch, length = query.size(0), key_padding_mask.size(-1)
        if attn_mask.dim() == 3:
            mask = attn_mask.view(batch, -1, *attn_mask.shape[1:])
        else:
            mask = attn_mask.view(1, 1, *attn_mask.shape).expand(batch, self.num_heads, -1, -1)
        return mask + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1), 2

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The result, (L, N, E) like the queries, and the weights, (N, L, S).

        Arguments:
            query, key, value: (L, N, E), (S, N, kdim), (S, N, vdim), or without N.
            key_padding_mask: (N, S), true or -inf where a key does not count.
            need_weights: give the weights; else None.
            attn_mask: (L, S) or (N · heads, L, S), true or -inf where a query may not look, or numbers that are added.
            average_attn_weights: the mean over the heads; else (N, heads, L, S).
            is_causal: says of ``attn_mask`` that no query looks ahead.

        Raises:
            RuntimeError: ``is_causal`` without a mask.
            ShapeError, TypeError: shapes that do not fit each other, types of masks.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        y, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, self.in_proj_weight is None, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (y.transpose(0, 1) if swapped else y), weights
