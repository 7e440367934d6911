"""Who is alive: every rank holds a connection to rank 0, which hands on what ranks say before they leave.

MPI itself does not tell the living of the dead. A process that dies closes its connection, whatever killed it; one that raises sends
the exception first; a machine that disappears is noticed by TCP within 25 seconds. Nothing is sent while all is well.
"""

from __future__ import annotations

import json
import os
import secrets
import selectors
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from ._errors import DistBackendError, DistNetworkError

GRACE = float(
    os.environ.get("ADJOINT_DISTRIBUTED_GRACE", "5")
)  # seconds that ranks wait for one another to end after a failure


class Watch:
    """What one rank knows of the others.

    Arguments:
        rank, size: of the world.
        share: hands the argument of rank 0 to all ranks.
    """

    def __init__(self, rank: int, size: int, share: Callable[[Any], Any]) -> None:
        self.rank, self.size = rank, size
        self.failed: tuple[int, str] | None = None  # the first rank that failed, and how
        self.left: dict[int, float] = {}  # ranks that came to their end, and when
        self._news = threading.Condition()
        self._sending = threading.Lock()
        self._ended: set[int] = set()  # ranks that know of a failure and are ready to exit
        self._may_exit = False
        self._links: dict[int, socket.socket] = {}
        self.inside: dict[
            int, tuple[str, tuple[int, ...], float, float]
        ] = {}  # what threads wait for in MPI, where nothing can be raised
        self._doomed: dict[
            int, tuple[tuple[str, tuple[int, ...], float, float], float]
        ] = {}  # those whose call is in vain, and since when
        self.listens = size > 1 and os.environ.get("ADJOINT_DISTRIBUTED_WATCH") != "0"
        self.process = os.getpid()
        if self.listens:
            self._connect(share)
            os.register_at_fork(after_in_child=self._forked)

    # ---- asking

    def guard(self, name: str, ranks: tuple[int, ...], timeout: float) -> Callable[[], None]:
        """What somebody who waits for ``name`` among ``ranks`` calls now and then; it raises when waiting is in vain."""
        return partial(self.check, name, ranks, timeout, time.monotonic())

    def check(self, name: str, ranks: tuple[int, ...], timeout: float, begun: float) -> None:
        """Raises if waiting for ``name`` since ``begun`` is in vain.

        Raises:
            DistBackendError: it is.
        """
        now = time.monotonic()
        if self.failed is not None:
            raise self.error(name)
        gone = self.left and [r for r in ranks if r != self.rank and now - self.left.get(r, now) > GRACE]
        if gone:
            raise DistBackendError(f"{name}: rank {gone[0]} came to its end without taking part", gone[0])
        if now - begun > timeout:
            hint = "ADJOINT_DISTRIBUTED_DEBUG=DETAIL says whether ranks call different collectives"
            raise DistBackendError(
                f"{name}: not done after the {timeout:g} s that init_process_group(timeout=...) allows; {hint}"
            )

    def error(self, name: str) -> DistBackendError:
        """The error that tells of the failure."""
        assert self.failed is not None
        rank, how = self.failed
        return DistBackendError(f"{name}: rank {rank} {how}", rank)

    def wait_failed(self, seconds: float) -> bool:
        """Waits a little for news of a failure; whether there is one."""
        with self._news:
            return self._news.wait_for(lambda: self.failed is not None, seconds)

    def _look(self) -> None:
        """Ends the process if a thread has been in MPI in vain for a moment, in which it could have come out by itself."""
        for thread, call in list(self.inside.items()):
            try:
                self.check(*call)
            except DistBackendError as error:
                before, since = self._doomed.setdefault(thread, (call, time.monotonic()))
                if before is not call:
                    self._doomed[thread] = (call, time.monotonic())
                elif time.monotonic() - since > 0.2:
                    self.inside.clear()
                    threading.Thread(target=self._give_up, args=(thread, error), daemon=True).start()

    def _give_up(self, thread: int, error: DistBackendError) -> None:
        frame = sys._current_frames().get(thread)
        stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
        text = (
            f"[rank {self.rank} of {self.size}]\nTraceback (most recent call last):\n{stack}{type(error).__name__}: {error}\n"
        )
        sys.stderr.write(text)
        sys.stderr.flush()
        self.fail(f"raised {type(error).__name__}: {error}")  # after another's failure nobody heeds it
        self.end()
        sys.stdout.flush()
        os._exit(1)

    # ---- telling

    def fail(self, how: str) -> None:
        """This rank fails: all others are told."""
        self._heard({"kind": "failed", "rank": self.rank, "how": how}, self.rank)

    def leave(self) -> bool:
        """This rank has come to its end: waits until all have; False if one failed."""
        if not self.listens:
            return self.failed is None
        self._heard({"kind": "left", "rank": self.rank}, self.rank)
        with self._news:
            self._news.wait_for(lambda: self.failed is not None or len(self.left) == self.size)
            return self.failed is None

    def end(self) -> None:
        """After a failure: waits until all who live are ready to exit, at most ``GRACE`` seconds, so that each can say its error."""
        if not self.listens:
            return
        self._heard({"kind": "ended", "rank": self.rank}, self.rank)
        with self._news:
            self._news.wait_for(lambda: self._may_exit, GRACE)

    # ---- connections

    def _forked(self) -> None:
        """A forked process, a worker of a DataLoader, is no rank: it must not speak for one, nor keep its connections open."""
        self.listens = False
        for link in self._links.values():
            link.close()

    def _connect(self, share: Callable[[Any], Any]) -> None:
        listener = socket.create_server(("", 0), backlog=self.size) if self.rank == 0 else None
        own = None if listener is None else (_addresses(), listener.getsockname()[1], secrets.token_hex(16))
        addresses, port, token = share(own)
        if listener is not None:
            self._links = _accepted(listener, self.size, token)
        else:
            self._links = {0: _reached(addresses, port, f"{token} {self.rank}\n")}
        for link in self._links.values():
            _keep_alive(link)
        threading.Thread(target=self._listen, name="adjoint.distributed watch", daemon=True).start()

    def _listen(self) -> None:
        texts = dict.fromkeys(self._links, b"")
        with selectors.DefaultSelector() as selector:
            for rank, link in self._links.items():
                selector.register(link, selectors.EVENT_READ, rank)
            while selector.get_map() or self.failed is not None:
                ready = selector.select(0.1 if self.inside else 0.3)
                self._look()
                for key, _ in ready:
                    try:
                        got = key.fileobj.recv(4096)  # type: ignore[union-attr]
                    except OSError:
                        got = b""
                    if not got:
                        selector.unregister(key.fileobj)
                        self._lost(key.data)
                    *lines, texts[key.data] = (texts[key.data] + got).split(b"\n")
                    for line in lines:
                        self._heard(json.loads(line), key.data)

    def _lost(self, rank: int) -> None:
        if self.failed is None and rank not in self.left:
            how = "died without a word (killed, or a crash; mpiexec may say how)"
            print(
                f"[rank {self.rank} of {self.size}] rank {rank} {how}", file=sys.stderr, flush=True
            )  # mpiexec may end this rank before it raises
            self._heard({"kind": "failed", "rank": rank, "how": how}, rank)
        self._heard({"kind": "ended" if self.rank == 0 else "exit", "rank": rank}, rank)  # without rank 0 nobody says when

    def _heard(self, message: dict[str, Any], source: int) -> None:
        """Takes note of a message and hands it on: rank 0 to all but its source, the others their own to rank 0.

        It is handed on first: once the main thread knows, the process may end.
        """
        rank, kind = message["rank"], message["kind"]
        with self._news:
            self._ended |= {rank} if kind == "ended" else set()
            if self.rank == 0 and len(self._ended) == self.size:
                message, kind, source = {"kind": "exit", "rank": 0}, "exit", -1
        if self.rank == 0 or source == self.rank:
            self._send(message, source)
        with self._news:
            if kind == "failed" and self.failed is None:
                self.failed = (rank, message["how"])
            elif kind == "left":
                self.left[rank] = time.monotonic()
            elif kind == "exit":
                self._may_exit = True
            self._news.notify_all()

    def _send(self, message: dict[str, Any], source: int) -> None:
        with self._sending:
            for rank, link in self._links.items():
                if rank != source:
                    try:
                        link.sendall(json.dumps(message).encode() + b"\n")
                    except OSError:
                        pass  # it died: its connection says so too


def _addresses() -> list[str]:
    """How other machines may reach this one, best first; on the same one the loopback does."""
    names = [os.environ["ADJOINT_DISTRIBUTED_ADDRESS"]] if "ADJOINT_DISTRIBUTED_ADDRESS" in os.environ else []
    return [*names, socket.gethostname(), "127.0.0.1"]


def _accepted(listener: socket.socket, size: int, token: str) -> dict[int, socket.socket]:
    links: dict[int, socket.socket] = {}
    listener.settimeout(60)
    with listener:
        while len(links) < size - 1:
            try:
                link, _ = listener.accept()
                link.settimeout(10)
                said = link.makefile().readline().split()
            except TimeoutError:
                missing = sorted(set(range(1, size)) - set(links))
                raise DistNetworkError(f"init_process_group: ranks {missing} did not connect to rank 0") from None
            if len(said) == 2 and said[0] == token:
                link.settimeout(None)
                links[int(said[1])] = link
            else:
                link.close()
    return links


def _reached(addresses: list[str], port: int, greeting: str) -> socket.socket:
    for address in addresses:
        try:
            link = socket.create_connection((address, port), timeout=10)
        except OSError:
            continue
        link.settimeout(None)
        link.sendall(greeting.encode())
        return link
    raise DistNetworkError(
        f"init_process_group: rank 0 cannot be reached at any of {addresses}, port {port}. ADJOINT_DISTRIBUTED_ADDRESS names another "
        "address of its machine; ADJOINT_DISTRIBUTED_WATCH=0 does without, and ranks do not learn of one another's death."
    )


def _keep_alive(link: socket.socket) -> None:
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option, seconds in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), seconds)
