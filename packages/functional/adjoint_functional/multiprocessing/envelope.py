"""Connections that carry descriptors with a message: memory of tensors is on its way even if its sender has ended."""

from __future__ import annotations

import array
import errno
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

from adjoint_core import Tensor

AT_ONCE = 250  # descriptors that one call may send: 253 on Linux
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class _Envelopes(threading.local):
    def __init__(self) -> None:
        self.outgoing: list[Tensor] | None = None  # what the message that is pickled now carries; None: it cannot
        self.incoming: list[int] = []  # descriptors of the message that was received last


_here = _Envelopes()


class Enclosed:
    """Stands in a message for a descriptor that comes with it."""

    def __init__(self, index: int) -> None:
        self.index = index

    def detach(self) -> int:
        """The descriptor, which belongs to the caller now."""
        descriptor, _here.incoming[self.index] = _here.incoming[self.index], -1
        if descriptor < 0:
            raise RuntimeError("adjoint.multiprocessing: the memory of this message was taken already")
        return descriptor


def enclose(x: Tensor) -> Enclosed | None:
    """A handle of the memory of `x` in the message that this thread pickles; None if its connection carries no descriptors."""
    if _here.outgoing is None:
        return None
    _here.outgoing.append(x)
    return Enclosed(len(_here.outgoing) - 1)


@contextmanager
def enclosing(tensors: list[Tensor]) -> Iterator[None]:
    """What this thread pickles meanwhile may enclose memory, which is put into the list."""
    before, _here.outgoing = _here.outgoing, tensors
    try:
        yield
    finally:
        _here.outgoing = before


class Parcel:
    """A message that was pickled where it was sent, so that errors are raised there, with the memory that belongs to it."""

    def __init__(self, obj: Any) -> None:
        self.tensors: list[Tensor] = []
        with enclosing(self.tensors):
            self.data = bytes(ForkingPickler.dumps(obj))

    def __reduce__(self) -> tuple[Any, ...]:
        _here.outgoing = self.tensors  # for the connection that the queue's thread writes to next
        return ForkingPickler.loads, (self.data,)


class Connection(connection.Connection):
    """A connection of `multiprocessing` over a socket whose messages carry descriptors.

    Before each message stands their number, in 4 bytes that come with the first of them; one byte comes with each further portion.
    """

    def _socket(self) -> socket.socket:
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=self.fileno())

    def send(self, obj: Any) -> None:
        """Pickles an object and sends it, with the memory of its tensors."""
        with enclosing([]):
            super().send(obj)

    def _send_bytes(self, buf: Any) -> None:
        tensors, _here.outgoing = _here.outgoing or [], None
        descriptors = [x._shared_file() for x in tensors]
        self._send_descriptors(len(tensors).to_bytes(4, "big"), descriptors[:AT_ONCE])
        for start in range(AT_ONCE, len(descriptors), AT_ONCE):
            self._send_descriptors(b"+", descriptors[start : start + AT_ONCE])
        super()._send_bytes(buf)  # type: ignore[misc]

    def _send_descriptors(self, head: bytes, descriptors: list[int]) -> None:
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        s = self._socket()
        try:
            while True:
                try:
                    sent = s.sendmsg([head], extra)
                    break
                except OSError as error:  # as many are on their way as this user may have: wait until some arrive
                    if error.errno != errno.ETOOMANYREFS:
                        raise
                    time.sleep(0.001)
            if sent < len(head):
                s.sendall(head[sent:])
        finally:
            s.detach()

    def _recv_bytes(self, maxsize: int | None = None) -> Any:
        for descriptor in _here.incoming:  # of a message that could not be unpickled
            if descriptor >= 0:
                os.close(descriptor)
        _here.incoming = incoming = []
        count = int.from_bytes(self._recv_descriptors(4, incoming), "big")
        while len(incoming) < count:
            self._recv_descriptors(1, incoming)
        return super()._recv_bytes(maxsize)  # type: ignore[misc]

    def _recv_descriptors(self, length: int, into: list[int]) -> bytes:
        head = b""
        s = self._socket()
        try:
            while len(head) < length:
                data, extra, flags, _ = s.recvmsg(length - len(head), socket.CMSG_SPACE(AT_ONCE * 4), _CLOEXEC)
                for level, kind, payload in extra:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                        into.extend(array.array("i", payload[: len(payload) // 4 * 4]))
                if flags & socket.MSG_CTRUNC:
                    raise OSError(
                        errno.EMFILE, "adjoint.multiprocessing: no descriptors are left for shared memory; raise `ulimit -n`"
                    )
                if not data:
                    raise EOFError
                head += data
        finally:
            s.detach()
        return head


def pair(duplex: bool) -> tuple[Connection, Connection]:
    """Two connected ends; the first reads and the second writes, if not both do both."""
    a, b = socket.socketpair()
    return Connection(a.detach(), writable=duplex), Connection(b.detach(), readable=duplex)


def _rebuild_connection(handle: Any, readable: bool, writable: bool) -> Connection:
    return Connection(handle.detach(), readable, writable)


def _reduce_connection(c: Connection) -> tuple[Any, ...]:
    return _rebuild_connection, (reduction.DupFd(c.fileno()), c.readable, c.writable)


ForkingPickler.register(Connection, _reduce_connection)
