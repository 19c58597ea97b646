"""What is shown when a router dies, one that is looked at and the one that the page is connected to."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.browsing import expect
from tests.browser.conftest import OpenConsole
from tests.browser.network import Network


@pytest.fixture
def mortal(browser: Any) -> Iterator[Network]:
    """A network of this test's own."""
    with Network(remoteLsMaxAgeSeconds=10, raIntervalSeconds=2, raIntervalFluxSeconds=2) as network:
        yield network


def test_a_router_that_dies_is_shown_as_lost(mortal: Network, open_console: OpenConsole) -> None:
    console = open_console(mortal.routers["A"].url)
    page = console.sign_in("topology")
    expect(page.get_by_role("link", name="C, interior router, up")).to_be_visible()
    mortal.routers["C"].kill()
    expect(page.get_by_role("link", name="C, interior router, silent")).to_be_visible()
    expect(page.locator(".edge.trunk.down")).to_have_count(2)
    console.show("overview")
    expect(page.locator(".findings")).to_contain_text("Router C does not answer")
    # A while later the others have forgotten it.
    expect(page.locator(".findings")).to_contain_text("Router C has left the network")
    page.get_by_role("link", name="Router C has left").click()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("link", name="C", exact=True)).to_have_count(0)


def test_the_page_says_that_its_own_router_is_gone(mortal: Network, open_console: OpenConsole) -> None:
    page = open_console(mortal.routers["B"].url, may_complain="WebSocket connection").sign_in("links")
    mortal.routers["B"].kill()
    expect(page.get_by_role("alert").first).to_contain_text("The connection was lost")
    expect(page.locator("main h1")).to_have_text("Links")
