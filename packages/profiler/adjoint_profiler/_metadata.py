"""What a device's tracer says about a kernel or a collective, beside its times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args, get_type_hints


class EventMetadata(NamedTuple):
    """Facts about a kernel, a copy or a collective; None where the tracer does not say."""

    registers_per_thread: int | None = None
    shared_memory: int | None = None
    grid: list[int] | None = None
    block: list[int] | None = None
    priority: int | None = None
    blocks_per_sm: float | None = None
    warps_per_sm: float | None = None
    occupancy: float | None = None
    est_occupancy_pct: int | None = None
    queued: int | None = None
    graph_id: int | None = None
    graph_node_id: int | None = None
    stream: int | None = None
    context: int | None = None
    channel: int | None = None
    channel_type: str | None = None
    bytes: int | None = None
    bandwidth_gb_s: float | None = None
    collective_name: str | None = None
    dtype: str | None = None
    in_msg_nelems: int | None = None
    out_msg_nelems: int | None = None
    in_split_size: str | None = None
    out_split_size: str | None = None
    global_rank_start: int | None = None
    global_rank_stride: int | None = None
    group_size: int | None = None
    process_group_name: str | None = None
    process_group_desc: str | None = None
    group_ranks: str | None = None
    rank: int | None = None
    src_rank: int | None = None
    dst_rank: int | None = None
    seq: int | None = None
    is_async: bool | None = None

    @classmethod
    def of(cls, text: Mapping[str, str]) -> EventMetadata:
        """From the tracer's names and texts; names that are not fields are left out.

        Example::

            >>> EventMetadata.of({"stream": "7", "grid": "[1, 2, 1]", "est. achieved occupancy %": "31"}).est_occupancy_pct
            31
        """
        hints = get_type_hints(cls)
        found: dict[str, Any] = {}
        for given, value in text.items():
            name = _NAMES.get(given, given.lower().replace(" ", "_"))
            if name in cls._fields:
                found[name] = _value(get_args(hints[name])[0], value)
        return cls(**found)


_NAMES = {
    "blocks per SM": "blocks_per_sm",
    "warps per SM": "warps_per_sm",
    "est. achieved occupancy %": "est_occupancy_pct",
    "memory bandwidth (GB/s)": "bandwidth_gb_s",
    "In msg nelems": "in_msg_nelems",
    "Out msg nelems": "out_msg_nelems",
    "Collective name": "collective_name",
}


def _value(kind: Any, text: str) -> object:
    """`text` as what the field holds; None if it is not that."""
    try:
        if kind == list[int]:
            return [int(part) for part in text.strip("[]").split(",")]
        return text.lower() in ("1", "true") if kind is bool else kind(text)
    except ValueError:
        return None
