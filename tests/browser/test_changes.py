"""Entities are created, changed and deleted by forms from the schema; wrong values are said where they are."""

import re

from tests.browser.browsing import expect
from tests.browser.conftest import OpenConsole
from tests.browser.network import Network


def test_an_address_is_created_and_deleted(open_console: OpenConsole, network: Network) -> None:
    page = (console := open_console(network.routers["A"].url)).sign_in("entities/address?router=B")
    page.get_by_role("button", name="Create").click()
    form = page.get_by_role("dialog")
    assert console.faults() == []
    form.get_by_label("name", exact=True).fill("from the console")
    form.get_by_label("prefix").fill("made/here")
    form.get_by_label("distribution").select_option("multicast")
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("status").filter(has_text="is created")).to_be_visible()
    page.get_by_role("link", name="from the console").click()
    detail = page.get_by_role("complementary")
    expect(detail).to_contain_text("made/here")
    console.show("explain?router=B&address=made/here/too")
    expect(page.locator("main")).to_contain_text("from the console (made/here/#) matches best")
    console.show("entities/address?router=B")
    page.get_by_role("link", name="from the console").click()
    detail.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="from the console")).to_have_count(0)


def test_what_a_router_refuses_is_said_at_the_field(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("entities/listener?router=A")
    page.get_by_role("button", name="Create").click()
    form = page.get_by_role("dialog")
    form.get_by_label("port", exact=True).fill("no such service")
    form.get_by_role("button", name="Create").click()
    port = form.get_by_label("port", exact=True)
    expect(port).to_have_attribute("aria-invalid", "true")
    expect(port).to_be_focused()
    expect(form.get_by_role("alert")).to_contain_text("neither a number nor the name of a service")


def test_what_is_no_number_is_said_before_it_is_sent(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("entities/address?router=A")
    page.get_by_role("button", name="Create").click()
    form = page.get_by_role("dialog")
    form.get_by_text("More:").click()
    form.get_by_label("priority").fill("high")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_role("alert")).to_contain_text("high is not a whole number.")


def test_levels_of_the_log_are_changed_while_it_is_looked_at(open_console: OpenConsole, network: Network) -> None:
    page = open_console(network.routers["A"].url).sign_in("log?router=C")
    page.get_by_role("button", name="Levels").click()
    page.get_by_label("Level of SERVER").select_option("debug+")
    expect(page.get_by_role("status").filter(has_text="SERVER of C writes debug+")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Levels").click()
    expect(page.get_by_label("Level of SERVER")).to_have_value("debug+")


def test_a_connection_is_closed(open_console: OpenConsole, network: Network) -> None:
    consoles = [open_console(network.routers["B"].url, may_complain="") for _ in range(2)]
    watched, page = (console.sign_in("connections?router=B") for console in consoles)
    victim = watched.locator("main tbody tr").filter(has_text="mobula-console-").first
    name = victim.get_by_role("link").inner_text()
    expect(page.get_by_role("link", name=name)).to_be_visible()
    page.get_by_role("link", name=name).click()
    page.get_by_role("button", name="Close connection").click()
    page.get_by_role("dialog").get_by_role("button", name="Close connection").click()
    # One of the two pages was cut off, and comes back by itself.
    for one in (watched, page):
        expect(one.get_by_text(re.compile("The connection was lost"))).to_have_count(0)
        expect(one.get_by_role("link", name=name)).to_have_count(0)
