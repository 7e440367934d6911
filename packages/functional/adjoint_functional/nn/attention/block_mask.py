"""Masks of attention by blocks of queries and keys: which blocks are seen in part, and which whole."""

from __future__ import annotations

import itertools
import warnings
from typing import Any, NoReturn

import adjoint_core as core
from adjoint_core import Tensor

from ..functional.padding import pad
from .modifiers import MaskMod, and_masks, create_mask, noop_mask, or_masks

__all__ = ["BlockMask", "and_masks", "create_block_mask", "create_mask", "noop_mask", "or_masks"]

_TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices",
)  # fmt: skip


def _dense(num_blocks: Tensor, indices: Tensor) -> Tensor:
    """Ones at the blocks that are listed: the first `num_blocks` of each row of `indices`."""
    listed = core.arange(indices.size(-1), device=indices.device) < num_blocks.unsqueeze(-1)
    return core.zeros_like(indices).scatter_add(-1, indices.long(), listed.to(indices.dtype)).clamp_max(1)


def _listed(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many ones are in each row, and where: these first, each in order."""
    dense = dense.to(core.int32)
    order = core.argsort(dense, dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(core.int32), order.to(core.int32)


def _by_keys(num_blocks: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """The lists of queries for each key."""
    return (None, None) if num_blocks is None or indices is None else _listed(_dense(num_blocks, indices).mT)


def _mask_of_a_slice(*args: Any) -> NoReturn:
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")


class BlockMask:
    """A mask of attention: for each row of blocks of queries the blocks of keys that it sees in part, where `mask_mod` says what, and whole.

    `create_block_mask` makes it of a function. The lists of keys are (B, H, rows) numbers and (B, H, rows, columns) indices, of which the
    first so many count; those of queries for each block of keys are the same lists turned.

    Raises:
        RuntimeError: lists of fewer than two dimensions.
        AssertionError: numbers without indices.

    Example::

        >>> from adjoint.nn.attention.flex_attention import create_block_mask
        >>> mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256)
        >>> print(mask)
        BlockMask(shape=(1, 1, 256, 256), sparsity=25.00%,\x20
        (0, 0)
        ██\x20\x20
        ████
        )
        >>> mask.kv_num_blocks, mask.full_kv_num_blocks
        (tensor([[[1, 1]]], dtype=adjoint.int32), tensor([[[0, 1]]], dtype=adjoint.int32))
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        q_num_blocks: Tensor | None = None,
        q_indices: Tensor | None = None,
        full_q_num_blocks: Tensor | None = None,
        full_q_indices: Tensor | None = None,
        BLOCK_SIZE: tuple[int, int] = (128, 128),
        mask_mod: MaskMod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for side in "kv", "q":
            pair = (full_kv_num_blocks, full_kv_indices) if side == "kv" else (full_q_num_blocks, full_q_indices)
            if (pair[0] is None) != (pair[1] is None):
                raise AssertionError(f"full_{side}_num_blocks and full_{side}_indices must be both provided or omitted")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """The mask of lists of keys; those of queries are made of them unless `compute_q_blocks` is False."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        queries, full_queries = (
            _by_keys(numbers, indices) if compute_q_blocks else (None, None)
            for numbers, indices in ((kv_num_blocks, kv_indices), (full_kv_num_blocks, full_kv_indices))
        )
        lists = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *queries, *full_queries)
        return cls(seq_lengths, *lists, BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Lengths, lists, size of blocks and function, lengths and sizes flat unless told otherwise."""
        lists = tuple(getattr(self, name) for name in _TENSORS)
        lengths, sizes = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *lists, *sizes, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of elements, seen or not."""
        return core.Size(self.shape).numel()

    def to_dense(self) -> Tensor:
        """Ones at the blocks that are seen in part or whole."""
        seen = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return seen
        return seen | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def sparsity(self) -> float:
        """How much of the mask lies in blocks that are not seen, in percent."""
        seen = int(self.kv_num_blocks.sum()) + (0 if self.full_kv_num_blocks is None else int(self.full_kv_num_blocks.sum()))
        return 100 * (1 - seen * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The same on a device."""
        lists = {name: None if (t := getattr(self, name)) is None else t.to(device) for name in _TENSORS}
        return BlockMask(self.seq_lengths, **lists, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """Some batches, heads and rows of blocks; numbers keep their dimension. It has no `mask_mod`: positions have changed."""
        given = (*(index if isinstance(index, tuple) else (index,)), *[slice(None)] * 3)[:3]
        at = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in given)
        lists = [None if (t := getattr(self, name)) is None else t[at] for name in _TENSORS[:4]]
        return BlockMask.from_kv_blocks(
            *lists,  # type: ignore[arg-type]
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_mask_of_a_slice,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left corner, for fewer queries and keys."""
        rows, columns = (-(-n // size) for n, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE, strict=True))
        lists: list[Tensor | None] = []
        for numbers, indices in ((self.kv_num_blocks, self.kv_indices), (self.full_kv_num_blocks, self.full_kv_indices)):
            cut = None if numbers is None or indices is None else _dense(numbers, indices)[..., :rows, :columns]
            lists += (None, None) if cut is None else _listed(cut)
        return BlockMask.from_kv_blocks(*lists, self.BLOCK_SIZE, self.mask_mod, (new_q_len, new_kv_len))  # type: ignore[arg-type]

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of the blocks of each batch and head: seen, not seen, or some of those that a character stands for.

        At most `grid_size` characters of each (-1: a character for each block), and at most `limit` pictures.
        """
        blocks = self.to_dense()
        rows, columns = blocks.shape[-2:]
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        steps = [max(1, -(-n // m)) if m > 0 else 1 for n, m in zip((rows, columns), most, strict=True)]
        pictures = []
        for at in itertools.product(*map(range, blocks.shape[:-2])):
            if len(pictures) == limit:
                pictures += ["...", "To print out more, set BlockMask.to_string(limit=N)"]
                pictures.append("You can also index (BlockMask[batch, head]) to choose a specific batch or head")
                break
            pictures.append(f"{at}\n{_drawn(blocks[at], *steps)}")
        return "\n".join(pictures)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        shapes = {name: None if (t := getattr(self, name)) is None else t.shape for name in _TENSORS}
        told = {**shapes, "BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape, "sparsity": f"{self.sparsity():.2f}%"}
        told["mask_mod"] = getattr(self.mask_mod, "__name__", self.mask_mod)
        return "BlockMask(\n    " + ",\n    ".join(f"{name}={value}" for name, value in told.items()) + "\n)"


def _drawn(blocks: Tensor, row_step: int, column_step: int) -> str:
    """Two characters for each piece of so many rows and columns, a line for each row of pieces."""
    lines = []
    for rows in blocks.float().split(row_step):
        parts = (float(piece.mean()) for piece in rows.split(column_step, 1))
        lines.append("".join({1.0: "█", 0.0: " "}.get(part, "░") * 2 for part in parts) + "\n")
    return "".join(lines)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The mask by blocks that a function of batch, head, query and key stands for.

    Arguments:
        mask_mod: says whether the query sees the key; it is given tensors of no dimensions, and called for all at once.
        B, H: batches and heads; 1 where None: the same for all.
        BLOCK_SIZE: queries and keys of a block.
        separate_full_blocks: lists the blocks that are seen whole apart, where the function need not be asked.

    Example::

        >>> mask = ad.nn.attention.flex_attention.create_block_mask(lambda b, h, q, k: q >= k, None, None, 512, 512)
        >>> mask.shape, mask.sparsity()
        ((1, 1, 512, 512), 37.5)
    """
    if _compile:
        warnings.warn("create_block_mask: _compile has no effect, nothing is compiled", DeprecationWarning, stacklevel=2)
    queries, keys = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device).to(core.int32)
    whole = pad(mask, (0, -KV_LEN % keys, 0, -Q_LEN % queries)).unflatten(-1, (-1, keys)).unflatten(-3, (-1, queries))
    counts = whole.sum((-3, -1))
    full = (counts == queries * keys) if separate_full_blocks else None
    part = counts > 0 if full is None else (counts > 0) & ~full
    lists = (*_listed(part), *((None, None) if full is None else _listed(full)))
    return BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=(queries, keys), mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN))
