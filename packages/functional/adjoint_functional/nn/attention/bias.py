"""`nn.attention.bias`: causal masks that say what they are, so that attention need not read them."""

from __future__ import annotations

import warnings
from enum import IntEnum
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine.trees import tree_map

from ..functional.attention import scaled_dot_product_attention

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner of the mask the diagonal passes through."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask (queries, keys) for `scaled_dot_product_attention(attn_mask=...)` that lets a query see the keys before it.

    It has no memory: attention asks it what it is, and any other function gets the mask that it stands for.

    Example::

        >>> from adjoint.nn.attention.bias import CausalBias, CausalVariant
        >>> CausalBias(CausalVariant.LOWER_RIGHT, 2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    @staticmethod
    def __new__(cls: type[CausalBias], variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        return core.zeros((), dtype=core.bool).expand(seq_len_q, seq_len_kv).as_subclass(cls)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "CausalBias: a lower right bias with seq_len_q > seq_len_kv hides every key from the first queries",
                stacklevel=3,
            )

    def _materialize(self, device: Any = None) -> Tensor:
        """The mask as a tensor of truths."""
        diagonal = self.seq_len_kv - self.seq_len_q if self.variant == CausalVariant.LOWER_RIGHT else 0
        return core.ones(self.seq_len_q, self.seq_len_kv, dtype=core.bool, device=device).tril(diagonal)

    @staticmethod
    def _attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: CausalBias,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        plain = attn_mask.seq_len_q == attn_mask.seq_len_kv or attn_mask.variant == CausalVariant.UPPER_LEFT
        mask = None if plain else attn_mask._materialize(query.device)
        return scaled_dot_product_attention(query, key, value, mask, dropout_p, plain, scale, enable_gqa)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "scaled_dot_product_attention":
            return cls._attend(*args, **(kwargs or {}))
        args, kwargs = tree_map(lambda t: t._materialize() if isinstance(t, CausalBias) else t, (args, kwargs or {}))
        return func(*args, **kwargs)

    def __repr__(self, **kwargs: Any) -> str:
        return repr(self._materialize())


def causal_upper_left(*size: int) -> CausalBias:
    """The mask (queries, keys) that `is_causal=True` stands for: query i sees the keys 0 to i.

    Example::

        >>> ad.nn.attention.bias.causal_upper_left(2, 3)
        tensor([[ True, False, False],
                [ True,  True, False]])
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """The mask (queries, keys) whose last query sees all keys, the one before it all but the last, and so on.

    Example::

        >>> mask = ad.nn.attention.bias.causal_lower_right(2, 3)
        >>> ad.nn.functional.scaled_dot_product_attention(ad.zeros(1, 2, 1), ad.zeros(1, 3, 1), ad.eye(3)[None], mask)
        tensor([[[0.5000, 0.5000, 0.0000],
                 [0.3333, 0.3333, 0.3333]]])
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
