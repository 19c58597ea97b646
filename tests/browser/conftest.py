"""Fixtures: a browser, a network of routers, and pages that are to have nothing to complain of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.browser.browsing import USUAL, Console, absence, chromium
from tests.browser.network import Network, Router, guarded_router


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser; its event loop runs in this thread, where other modules need one of their own."""
    if reason := absence():
        pytest.skip(reason)
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def network(browser: Any) -> Iterator[Network]:
    """A network with light load."""
    with Network() as network:
        network.begin_load()
        yield network


@pytest.fixture
def guarded(browser: Any, tmp_path: Path) -> Iterator[Router]:
    """A router that lets nobody in without a name."""
    router = guarded_router(tmp_path)
    yield router
    router.close()


class OpenConsole(Protocol):
    def __call__(
        self, url: str, size: tuple[int, int] = USUAL, theme: str = "light", may_complain: str = ""
    ) -> Console: ...


@pytest.fixture
def open_console(browser: Any) -> Iterator[OpenConsole]:
    """Open pages; at the end they have complained of nothing, but of what a test expects.

    A test names its router before this: then the page is closed first, and does not see the router end.
    """
    opened: list[tuple[Console, str]] = []

    def open_one(url: str, size: tuple[int, int] = USUAL, theme: str = "light", may_complain: str = "") -> Console:
        console = Console(browser, url, size, theme)
        opened.append((console, may_complain))
        return console

    yield open_one
    for console, _ in opened:
        console.close()
    for console, allowed in opened:
        assert [one for one in console.complaints if not allowed or allowed not in one] == []
        assert {request.split("/")[2] for request in console.requests} <= {console.url.split("/")[2]}
