"""The answers of one listener: health, metrics, and the files of its folder or the console."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from routerd.config import ListenerConfig
from routerd.io.http.console import CONSOLE_HEADERS, CONSOLE_ROOT
from routerd.io.http.files import FileFolder
from routerd.io.http.metrics import DETAILED_PATH, PATH, Scrape, metrics_page
from routerd.io.http.requests import Answer, Request, sentence

METHODS = ("GET", "HEAD")
OK = Answer(200, b"OK\n", headers={"Cache-Control": "no-store"})

Page = Callable[[Request], Awaitable[Answer]]


class HealthSource(Protocol):
    """Knows the health of a worker."""

    @property
    def has_started(self) -> bool:
        """Whether it listens at all its ports, and its router knows of it."""

    def lacks(self) -> list[str]:
        """Return why it is not ready for clients, in one sentence each."""


class Site:
    """The pages of a listener."""

    def __init__(self, listener: ListenerConfig, health: HealthSource, scrape: Scrape | None = None) -> None:
        """Without `scrape` there are no metrics."""
        self.takes_websockets = listener.websockets
        self.origins = listener.websocket_origins
        self._health = health
        self._files = _files(listener)
        self._pages: dict[str, Page] = {}
        if listener.healthz:
            # These two tell only that the worker's loop answers.
            self._pages["/healthz"] = self._pages["/livez"] = _ok
            self._pages["/readyz"] = self._readiness
            self._pages["/startupz"] = self._start
        if listener.metrics and scrape is not None:
            self._pages[PATH] = self._pages[DETAILED_PATH] = partial(metrics_page, scrape)

    async def answer(self, request: Request) -> Answer:
        """Return the answer to a request."""
        if request.method not in METHODS:
            return sentence(405, "Pages are read here, by GET and HEAD.", Allow=", ".join(METHODS))
        page = self._page(request.path)
        if page is not None:
            return await page(request)
        if self._files is None:
            return sentence(404, "There is no such page here.")
        return await asyncio.get_running_loop().run_in_executor(None, self._files.answer, request)

    def _page(self, path: str) -> Page | None:
        # The old router answers below this path, too.
        return self._pages.get("/healthz" if path.startswith("/healthz/") else path)

    async def _readiness(self, request: Request) -> Answer:
        return _unless(self._health.lacks())

    async def _start(self, request: Request) -> Answer:
        return _unless([] if self._health.has_started else ["The router has not started yet."])


def _files(listener: ListenerConfig) -> FileFolder | None:
    if listener.http_root is not None:
        return FileFolder(listener.http_root)
    return FileFolder(CONSOLE_ROOT, CONSOLE_HEADERS) if listener.serves_console else None


async def _ok(request: Request) -> Answer:
    return OK


def _unless(lacks: list[str]) -> Answer:
    return sentence(503, "\n".join(lacks), Cache_Control="no-store") if lacks else OK
