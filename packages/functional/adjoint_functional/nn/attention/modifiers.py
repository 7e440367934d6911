"""Functions of one score or one position of a mask, called for all at once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import vmap

__all__ = ["MaskMod", "ScoreMod", "and_masks", "create_mask", "for_all", "noop_mask", "or_masks"]

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask of what hides nothing.

    Example::

        >>> from adjoint.nn.attention.flex_attention import noop_mask
        >>> noop_mask(ad.tensor(0), ad.tensor(0), ad.tensor(0), ad.tensor(0))
        tensor(True)
    """
    return batch.new_ones((), dtype=core.bool)


def _joined(mask_mods: tuple[MaskMod, ...], start: bool, join: Callable[[Tensor, Tensor], Tensor]) -> MaskMod:
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_full((), start, dtype=core.bool)
        for mod in mask_mods:
            result = join(result, mod(b, h, q_idx, kv_idx))
        return result

    mask.__name__ = "and_mask" if start else "or_mask"
    return mask


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what all masks show; RuntimeError if one cannot be called.

    Example::

        >>> from adjoint.nn.attention.flex_attention import and_masks, create_mask
        >>> window = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
        >>> create_mask(window, 1, 1, 3, 3)[0, 0].long()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [0, 1, 1]])
    """
    return _joined(mask_mods, True, lambda a, b: a & b)


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what any of the masks shows; RuntimeError if one cannot be called.

    Example::

        >>> from adjoint.nn.attention.flex_attention import create_mask, or_masks
        >>> create_mask(or_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: k < 2), 1, 1, 2, 3)[0, 0].long()
        tensor([[1, 1, 0],
                [1, 1, 0]])
    """
    return _joined(mask_mods, False, lambda a, b: a | b)


def for_all(mod: Callable[..., Any], *scores: Tensor, sizes: tuple[int, ...], device: Any) -> Any:
    """What `mod` gives for each batch, head, query and key: (B, H, Q, KV)."""
    first = [0] * len(scores)
    for place in (3, 2, 1, 0):
        mod = vmap(mod, in_dims=(*first, *(0 if i == place else None for i in range(4))))
    return mod(*scores, *(core.arange(n, device=device) for n in sizes))


def _takes(mod: Callable[..., Any]) -> int:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(mod).parameters.values()
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def create_mask(
    mod_fn: MaskMod | ScoreMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """The mask (B, H, Q_LEN, KV_LEN) that a function stands for; B and H are 1 where None.

    Arguments:
        mod_fn: of batch, head, query and key, which says whether the query sees the key; or of a score and these, which hides by -inf.

    Raises:
        AssertionError: the function takes neither four nor five arguments.

    Example::

        >>> ad.nn.attention.flex_attention.create_mask(lambda b, h, q, k: q >= k, None, None, 2, 2)
        tensor([[[[ True, False],
                  [ True,  True]]]])
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    taken = _takes(mod_fn)
    if taken == 5:
        scores: Tensor = for_all(mod_fn, core.zeros(sizes, device=device), sizes=sizes, device=device)
        return scores != -math.inf
    if taken != 4:
        raise AssertionError(f"create_mask: mod_fn must take 4 arguments (a mask) or 5 (a score first), takes {taken}")
    mask: Tensor = for_all(mod_fn, sizes=sizes, device=device)
    return mask
