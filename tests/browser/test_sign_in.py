"""Signing in: by SCRAM, by PLAIN, without a name, and wrongly."""

from typing import Any

from tests.browser.browsing import expect
from tests.browser.conftest import OpenConsole
from tests.browser.network import Router


def sign_in(page: Any, user: str, password: str) -> None:
    page.get_by_label("User name").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_scram_lets_in_who_knows_the_password(guarded: Router, open_console: OpenConsole) -> None:
    page = open_console(guarded.url).open("connections")
    sign_in(page, "alice", "secret")
    expect(page.locator("main")).to_contain_text("SCRAM-SHA-512")
    expect(page.locator(".bar")).to_contain_text("alice")


def test_plain_lets_in_where_there_is_nothing_else(guarded: Router, open_console: OpenConsole) -> None:
    page = open_console(f"http://127.0.0.1:{guarded.port('plain')}/").open("connections")
    sign_in(page, "alice", "secret")
    expect(page.locator("main")).to_contain_text("PLAIN")


def test_a_wrong_password_is_said_and_can_be_mended(guarded: Router, open_console: OpenConsole) -> None:
    console = open_console(guarded.url)
    page = console.open("addresses")
    sign_in(page, "alice", "guess")
    expect(page.get_by_role("alert")).to_contain_text("The router refuses this user name and password.")
    assert console.faults() == []
    sign_in(page, "alice", "secret")
    expect(page.locator("main h1")).to_have_text("Addresses")


def test_who_has_no_name_is_told_what_is_offered(guarded: Router, open_console: OpenConsole) -> None:
    page = open_console(guarded.url).open()
    page.get_by_role("button", name="Continue without a name").click()
    expect(page.get_by_role("alert")).to_contain_text("Sign in with a user name and a password.")


def test_signing_out_ends_the_connection_and_forgets(guarded: Router, open_console: OpenConsole) -> None:
    page = open_console(guarded.url).open()
    sign_in(page, "alice", "secret")
    page.get_by_role("button", name="sign out").click()
    expect(page.get_by_label("User name")).to_have_value("")
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
