"""Every view, of a network with light load: it has what it is for, no faults for those who don't see it, and fits."""

import re
from typing import Any

import pytest

from tests.browser.browsing import NARROW, USUAL, WIDE, expect
from tests.browser.conftest import OpenConsole
from tests.browser.network import Network

VIEWS = [
    ("overview", "Overview", "Routers up"),
    ("topology", "Topology", "Trunks"),
    ("routers", "Routers", "Transit"),
    ("routers/B", "B", "Connection actors"),
    ("connections?router=*", "Connections", "normal"),
    ("links?router=A", "Links", "orders/"),
    ("addresses?router=A", "Addresses", "billing/1/new"),
    ("link-routes?router=A", "Link routes and auto-links", "queues in"),
    ("explain?router=A&address=orders/1/new", "Explain", "over a trunk"),
    ("charts?figures=A%257Crouter%257C1%257CdeliveriesIngress", "Charts", "Deliveries ingress a second"),
    ("log?router=A", "Log", "ROUTER_CORE"),
    ("policy?router=A", "Policy", "No virtual hosts are configured"),
    ("entities/listener?router=A", "listener", "inter-router"),
]


@pytest.mark.parametrize(("view", "title", "text"), VIEWS, ids=[view.split("?")[0] for view, _, _ in VIEWS])
def test_a_view_shows_what_it_is_for_by_its_link(
    open_console: OpenConsole, network: Network, view: str, title: str, text: str
) -> None:
    console = open_console(network.routers["A"].url)
    page = console.sign_in(view)
    expect(page.locator("main h1").first).to_have_text(title)
    expect(page.locator("main")).to_contain_text(text)
    assert console.faults() == []


@pytest.mark.parametrize(("view", "title", "text"), VIEWS, ids=[view.split("?")[0] for view, _, _ in VIEWS])
def test_a_view_is_right_in_dark_colours_on_a_narrow_screen(
    open_console: OpenConsole, network: Network, view: str, title: str, text: str
) -> None:
    console = open_console(network.routers["A"].url, NARROW, "dark")
    page = console.sign_in(view)
    expect(page.locator("main h1").first).to_have_text(title)
    page.locator("main .panel, main .table-box, main .drawing").first.wait_for()
    assert width_beyond(page) == 0
    assert console.faults() == []


@pytest.mark.parametrize("size", [NARROW, USUAL, WIDE], ids=["narrow", "usual", "wide"])
def test_no_view_is_wider_than_the_screen(open_console: OpenConsole, network: Network, size: tuple[int, int]) -> None:
    page = (console := open_console(network.routers["A"].url, size)).sign_in()
    for view, title, _ in VIEWS:
        console.show(view)
        expect(page.locator("main h1").first).to_have_text(title)
        assert (view, width_beyond(page)) == (view, 0)


def width_beyond(page: Any) -> int:
    """Return by how much the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_the_first_load_is_small_and_comes_from_the_router_alone(open_console: OpenConsole, network: Network) -> None:
    console = open_console(network.routers["A"].url)
    sizes: list[int] = []
    console.page.on("response", lambda response: sizes.append(response.request.sizes()["responseBodySize"]))
    page = console.sign_in()
    expect(page.locator("main h1")).to_have_text("Overview")
    assert sum(sizes) < 400_000
    assert len(sizes) > 20


def test_the_network_is_drawn_and_a_click_looks_inside(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("topology")
    for name in ("A, interior router, up", "B, interior router, up", "C, interior router, up", "E, edge router, up"):
        expect(page.get_by_role("link", name=name)).to_be_visible()
    expect(page.locator(".edge.trunk:not(.down)")).to_have_count(3)
    page.get_by_role("link", name="B, interior router, up").click()
    expect(page.get_by_role("complementary")).to_contain_text("Clients")
    assert page.evaluate("location.hash") == "#/topology/B"


def test_rates_of_trunks_come_from_the_load(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("topology")
    expect(page.get_by_role("region", name="Trunks")).to_contain_text(re.compile(r"[1-9][\d.]*/s"))


def test_a_list_is_filtered_sorted_and_led_into_by_the_keyboard(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("addresses?router=A")
    rows = page.locator("main tbody tr")
    expect(rows.first).to_be_visible()
    page.get_by_role("searchbox").fill("billing/")
    expect(rows).to_have_count(12)
    page.get_by_role("button", name="In", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("In")
    rows.first.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary")).to_contain_text("Distribution")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_links_of_an_edge_router_are_seen_through_its_interior_router(
    open_console: OpenConsole, network: Network
) -> None:
    page = open_console(network.routers["A"].url).sign_in("links?router=E")
    expect(page.locator("main")).to_contain_text("edge/1/new")


def test_the_console_of_an_edge_router_sees_the_network(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["E"].url).sign_in("routers")
    for name in "ABCE":
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def test_colours_can_be_changed_and_stay(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in()
    page.get_by_role("button", name="Dark colours").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()


def test_what_is_shown_can_be_held(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in()
    page.get_by_role("button", name="Live").click()
    expect(page.get_by_role("button", name="Paused")).to_have_attribute("aria-pressed", "true")


def test_a_view_that_is_not_there_leads_back(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("nothing")
    page.get_by_role("link", name="Go to the overview.").click()
    expect(page.locator("main h1")).to_have_text("Overview")
