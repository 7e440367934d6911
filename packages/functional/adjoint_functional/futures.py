"""Values that another thread will have: `Future`, and waiting for several."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that another thread sets once, or an error in its place.

    Arguments:
        check: called a few times a second while somebody waits; what it raises ends the wait.

    Example::

        >>> from adjoint.futures import Future
        >>> f = Future()
        >>> double = f.then(lambda f: 2 * f.value())
        >>> f.set_result(21)
        >>> double.wait()
        42
    """

    def __init__(self, *, devices: Sequence[Any] | None = None, check: Callable[[], None] | None = None) -> None:
        self._guard = threading.Lock()
        self._pending = threading.Lock()  # held until the value is there: waiting is one acquire
        self._pending.acquire()
        self._check = check
        self._callbacks: list[Callable[[Future[T]], None]] = []
        self._value: Any = None
        self._error: BaseException | None = None
        self._done = False

    def done(self) -> bool:
        """Whether the value, or an error, is there."""
        return self._done

    def wait(self) -> T:
        """Waits for the value and returns it; raises the error if there is one."""
        while not self._done and not self._pending.acquire(timeout=0.1):
            if self._check is not None:
                self._check()
        return self.value()

    def value(self) -> T:
        """The value, which must be there; raises the error if there is one.

        Raises:
            RuntimeError: neither is there yet.
        """
        if not self._done:
            raise RuntimeError("Future.value: the future is not done, wait for it first")
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of ``callback(self)``, which is called when this one is done, by the thread that sets it."""
        following: Future[S] = Future(check=self._check)

        def run(done: Future[T]) -> None:
            try:
                following.set_result(callback(done))
            except BaseException as error:
                following.set_exception(error)

        self.add_done_callback(run)
        return following

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Calls ``callback(self)`` when this future is done, at once if it is."""
        with self._guard:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: T) -> None:
        """Sets the value.

        Raises:
            RuntimeError: it was set before.
        """
        self._set(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Sets an error, which all who wait will raise.

        Raises:
            RuntimeError: the future was done before.
        """
        if not isinstance(result, BaseException):
            raise TypeError(f"Future.set_exception: an exception is needed, got {result!r}")
        self._set(None, result)

    def _set(self, value: Any, error: BaseException | None) -> None:
        with self._guard:
            if self._done:
                raise RuntimeError("Future: the result was set before")
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
        self._pending.release()
        for callback in callbacks:
            callback(self)


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """The values of all futures, in order; raises the first error.

    Example::

        >>> from adjoint.futures import Future, wait_all
        >>> f = Future()
        >>> f.set_result(1)
        >>> wait_all([f, f.then(lambda f: f.value() + 1)])
        [1, 2]
    """
    return [future.wait() for future in futures]


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future that is done when all of ``futures`` are, with their list as its value.

    Example::

        >>> from adjoint.futures import Future, collect_all
        >>> f = Future()
        >>> f.set_result(1)
        >>> collect_all([f]).wait()[0] is f
        True
    """
    everything: Future[list[Future[Any]]] = Future(check=futures[0]._check if futures else None)
    left, guard = len(futures), threading.Lock()
    if not futures:
        everything.set_result([])

    def one(_: Future[Any]) -> None:
        nonlocal left
        with guard:
            left -= 1
            last = left == 0
        if last:
            everything.set_result(list(futures))

    for future in futures:
        future.add_done_callback(one)
    return everything
