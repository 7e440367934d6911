"""What a compiled kernel says of itself."""

from __future__ import annotations

import struct


def frame_size(cubin: bytes) -> int:
    """Bytes of stack. Spilled registers live there."""
    return _largest(cubin, 0x11)


def registers(cubin: bytes) -> int:
    """How many registers a thread has."""
    return _largest(cubin, 0x2F)


def _largest(cubin: bytes, wanted: int) -> int:
    """The largest value of an attribute of functions in the section .nv.info of a cubin."""
    sections, size, count, names = (
        struct.unpack_from(f, cubin, o)[0] for f, o in (("<Q", 0x28), ("<H", 0x3A), ("<H", 0x3C), ("<H", 0x3E))
    )
    strings = struct.unpack_from("<Q", cubin, sections + size * names + 24)[0]
    largest = 0
    for s in range(sections, sections + size * count, size):
        name = cubin[strings + struct.unpack_from("<I", cubin, s)[0] :].split(b"\0", 1)[0]
        if name != b".nv.info":
            continue
        p, length = struct.unpack_from("<QQ", cubin, s + 24)
        end = p + length
        while p < end:
            form, attribute, value = struct.unpack_from("<BBH", cubin, p)
            p += 4
            if form == 4:
                if attribute == wanted:
                    largest = max(largest, struct.unpack_from("<I", cubin, p + 4)[0])
                p += value
    return largest
