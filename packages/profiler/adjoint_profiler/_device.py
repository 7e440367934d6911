"""What ran on a GPU: kernels, copies and fills, and which event of the CPU put them there."""

from __future__ import annotations

from typing import Any, NamedTuple


class Piece(NamedTuple):
    """One piece of work as the engine's log has it; times in nanoseconds of the monotonic clock."""

    kind: str  # kernel, gpu_memcpy or gpu_memset
    name: str
    event: int | None  # of the log: the innermost around it
    device: int
    stream: int  # 0: the default one
    put: int  # when the CPU put it on the stream
    start: int
    end: int
    bytes: int
    grid: tuple[int, int, int]
    threads: int
    shared: int

    def facts(self, origin: int) -> dict[str, Any]:
        """Under the names that tracers of CUDA give them; when it was queued, in nanoseconds since `origin`.

        Example::

            >>> Piece("gpu_memset", "Memset (Device)", None, 0, 7, 500, 1000, 3000, 4096, (0, 0, 0), 0, 0).facts(0)
            {'device': 0, 'stream': 7, 'queued': 500, 'bytes': 4096, 'memory bandwidth (GB/s)': 2.048}
        """
        place: dict[str, Any] = {"device": self.device, "stream": self.stream, "queued": self.put - origin}
        if self.kind == "kernel":
            return {**place, "grid": list(self.grid), "block": [self.threads, 1, 1], "shared memory": self.shared}
        return {**place, "bytes": self.bytes, "memory bandwidth (GB/s)": self.bytes / max(self.end - self.start, 1)}
