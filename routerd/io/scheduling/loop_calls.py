"""Calls into an event loop, from any thread."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopCalls:
    """The calls of other threads into a worker's loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, turn_begins: Callable[[], object], turn_ends: Callable[[], None]
    ) -> None:
        """`turn_begins` and `turn_ends` are called in the loop around calls that may give the router work."""
        self._loop = loop
        self._turn_begins = turn_begins
        self._turn_ends = turn_ends

    def call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Call a function in the loop, and return a future of its result."""
        result: Future[T] = Future()

        def run() -> None:
            if not result.set_running_or_notify_cancel():
                return
            self._turn_begins()
            try:
                value = function(*arguments)
            except BaseException as error:
                result.set_exception(error)
            else:
                result.set_result(value)
            self._turn_ends()

        self.post(run)
        return result

    def start(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine in the loop, and return a future of its result; raises RuntimeError if the loop is closed."""
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()
            raise

    def post(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in the loop that gives the router no work."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the call is dropped
            self._loop.call_soon_threadsafe(function, *arguments)

    def post_turn(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in the loop that may give the router work."""

        def run() -> None:
            self._turn_begins()
            function(*arguments)
            self._turn_ends()

        self.post(run)
