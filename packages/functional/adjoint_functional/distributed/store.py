"""Keys and values that processes share: of one process (`HashStore`), or of all that reach an address (`TCPStore`)."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

from ._errors import DistNetworkError, DistStoreError


class _Table:
    """The values, and threads that wait for them."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.changed = threading.Condition()

    def ask(self, request: list[Any]) -> Any:
        """The answer to a method's name and its arguments."""
        name, *arguments = request
        with self.changed:
            answer = getattr(self, "_" + name)(*arguments)
            self.changed.notify_all()
        return answer

    def _set(self, key: str, value: str) -> None:
        self.values[key] = value

    def _add(self, key: str, amount: int) -> int:
        self.values[key] = str(int(self.values.get(key, "0")) + amount)
        return int(self.values[key])

    def _append(self, key: str, value: str) -> None:
        self.values[key] = self.values.get(key, "") + value

    def _compare_set(self, key: str, expected: str, desired: str) -> str:
        if self.values.get(key, "") == expected:
            self.values[key] = desired
        return self.values.get(key, expected)

    def _wait(self, keys: list[str], seconds: float) -> list[str] | None:
        there = self.changed.wait_for(lambda: all(key in self.values for key in keys), seconds)
        return [self.values[key] for key in keys] if there else None

    def _check(self, keys: list[str]) -> bool:
        return all(key in self.values for key in keys)

    def _delete_key(self, key: str) -> bool:
        return self.values.pop(key, None) is not None

    def _list_keys(self) -> list[str]:
        return list(self.values)


def _text(value: str | bytes) -> str:
    """Its bytes as characters, which JSON can carry."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Store: values are str or bytes, got {type(value).__name__}")
    return (value.encode() if isinstance(value, str) else value).decode("latin1")


def _bytes(value: str) -> bytes:
    return value.encode("latin1")


class Store:
    """What stores have in common. A value is bytes; text is taken in UTF-8.

    Attributes:
        timeout: how long `get` and `wait` wait, a `timedelta`.
    """

    timeout = timedelta(seconds=300)
    _own_keys: tuple[str, ...] = ()

    def _ask(self, *request: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: a store of its own kind overrides set, get and add")

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def set(self, key: str, value: str | bytes) -> None:
        """Puts a value."""
        self._ask("set", key, _text(value))

    def get(self, key: str) -> bytes:
        """The value, once it is there.

        Raises:
            DistStoreError: it does not come within `timeout`.
        """
        return self.multi_get([key])[0]

    def add(self, key: str, amount: int) -> int:
        """Adds to a number, which begins at 0, and gives it."""
        return self._ask("add", key, int(amount))

    def append(self, key: str, value: str | bytes) -> None:
        """Puts a value behind what is there."""
        self._ask("append", key, _text(value))

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Puts the value if the expected one is there, or "" is expected and nothing is. What is there then; the expected value if nothing is."""
        return _bytes(self._ask("compare_set", key, _text(expected_value), _text(desired_value)))

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all are there."""
        return self._ask("check", list(keys))

    def delete_key(self, key: str) -> bool:
        """Whether it was there."""
        return self._ask("delete_key", key)

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Puts several values."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Several values, once all are there."""
        return [_bytes(value) for value in self._wait(keys, self.timeout)]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Returns once all are there.

        Raises:
            DistStoreError: they do not come in time.
        """
        self._wait(keys, timeout or self.timeout)

    def _wait(self, keys: Sequence[str], limit: timedelta) -> list[str]:
        found = self._ask("wait", list(keys), limit.total_seconds())
        if found is None:
            raise DistStoreError(
                f"wait timeout after {round(limit.total_seconds() * 1000)}ms, keys: {', '.join('/' + key for key in keys)}"
            )
        return found

    def list_keys(self) -> list[str]:
        """All keys."""
        return [key for key in self._ask("list_keys") if key not in self._own_keys]

    def num_keys(self) -> int:
        """The number of keys; of a `TCPStore` one more, under which it counts its users, as PyTorch has it."""
        return len(self._ask("list_keys"))

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long `get` and `wait` wait."""
        self.timeout = timeout

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get` and `multi_set` are there: they are."""
        return True


class HashStore(Store):
    """A store of one process, for its threads."""

    def __init__(self) -> None:
        self._table = _Table()

    def _ask(self, *request: Any) -> Any:
        return self._table.ask(list(request))


class PrefixStore(Store):
    """A store whose keys are those of another with `prefix/` in front."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store, self.timeout = prefix, store, store.timeout

    def _ask(self, name: str, *arguments: Any) -> Any:
        if not arguments:
            return self.underlying_store._ask(name)
        key, *rest = arguments
        named = [f"{self.prefix}/{k}" for k in key] if isinstance(key, list) else f"{self.prefix}/{key}"
        return self.underlying_store._ask(name, named, *rest)


class TCPStore(Store):
    """A store that one process, the master, holds in a thread of its own, and any process that reaches its address uses.

    Arguments:
        port: where the master listens; 0 takes a free one, which `port` then says.
        world_size: how many users there will be, which the master waits for; None for any number.
        is_master: whether this process holds it.
        timeout: how long to wait for users, the master, and keys.

    Raises:
        DistNetworkError: the master cannot be reached, or its port is taken.
        DistStoreError: not all users come in time.

    Example::

        >>> store = ad.distributed.TCPStore("127.0.0.1", 0, 1, is_master=True)
        >>> store.set("epoch", "3")
        >>> store.get("epoch")
        b'3'
        >>> store.add("done", 2)
        2
    """

    _own_keys = ("init/",)

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = Store.timeout,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        self.host, self.timeout, self._one_at_a_time = host_name, timeout, threading.Lock()
        self._server = _listen(host_name, port, master_listen_fd) if is_master else None
        self.port = self._server.getsockname()[1] if self._server else port
        with _connect(host_name, self.port, timeout.total_seconds()) as client:
            self._line = client.makefile("rwb")  # keeps the connection
        here = self.add("init/", 1)
        end = time.monotonic() + timeout.total_seconds()
        while is_master and wait_for_workers and world_size is not None and here < world_size:
            if time.monotonic() > end:
                raise DistStoreError(
                    f"Timed out after {round(timeout.total_seconds())} seconds waiting for clients. {here}/{world_size} clients joined."
                )
            time.sleep(0.01)
            here = self.add("init/", 0)

    def _ask(self, *request: Any) -> Any:
        with self._one_at_a_time:
            try:
                self._line.write(json.dumps(request).encode() + b"\n")
                self._line.flush()
                return json.loads(self._line.readline())
            except (OSError, ValueError) as error:
                raise DistNetworkError(f"TCPStore: the store at {self.host}:{self.port} is gone") from error

    def __del__(self) -> None:
        line, server = vars(self).get("_line"), vars(self).get("_server")
        with contextlib.suppress(OSError):
            if line is not None:
                line.close()
            if server is not None:
                server.shutdown(socket.SHUT_RDWR)  # which wakes the thread that waits for users
                server.close()


def _listen(host: str, port: int, descriptor: int | None) -> socket.socket:
    try:
        server = socket.create_server((host, port)) if descriptor is None else socket.socket(fileno=descriptor)
    except OSError as error:
        raise DistNetworkError(f"The server socket has failed to listen on {host}:{port}: {error.strerror}") from error
    threading.Thread(target=_accept, args=(server, _Table()), daemon=True).start()
    return server


def _accept(server: socket.socket, table: _Table) -> None:
    with contextlib.suppress(OSError):  # it was closed
        while True:
            threading.Thread(target=_serve, args=(server.accept()[0], table), daemon=True).start()


def _serve(client: socket.socket, table: _Table) -> None:
    with contextlib.suppress(OSError, ValueError), client, client.makefile("rwb") as line:
        for request in line:
            line.write(json.dumps(table.ask(json.loads(request))).encode() + b"\n")
            line.flush()


def _connect(host: str, port: int, seconds: float) -> socket.socket:
    end = time.monotonic() + seconds
    while True:
        try:
            client = socket.create_connection((host, port), timeout=max(seconds, 0.001))
        except OSError as error:
            if time.monotonic() > end:
                raise DistNetworkError(
                    f"The client socket has timed out after {round(seconds * 1000)}ms while trying to connect to ({host}, {port})."
                ) from error
            time.sleep(0.02)
        else:
            client.settimeout(None)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return client
