"""The thread that runs the event loop of a blocking client."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from mobula_client.errors import ClientClosed

T = TypeVar("T")


class LoopThread:
    """Runs coroutines in a separate thread, for callers in others."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="mobula-client", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; an interrupted caller cancels it."""
        if self.loop.is_closed():
            coroutine.close()
            raise ClientClosed("the client was closed")
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def post(self, action: Callable[[], None]) -> None:
        """Have a function called in the loop; nothing is called once it is closed."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(action)

    def close(self) -> None:
        """End the thread."""
        if self.loop.is_closed():
            return
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
