"""Rows come in pages, and later pages are of the rows that the first was of."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.management.fake_router import Client, FakeRouter, client_of, connection, refusal

CONNECTION = "P.connection"


def client_with(count: int) -> Client:
    router = FakeRouter()
    router.connection_rows = [connection(number) for number in range(count)]
    return Client(router)


def page(client: Client, offset: object, count: object, names: Sequence[str] = ("identity",)) -> list[list[Any]]:
    return client.rows(CONNECTION, *names, offset=offset, count=count)


def identities(*numbers: int) -> list[list[str]]:
    return [[str(number)] for number in numbers]


@pytest.mark.parametrize(
    ("offset", "count", "expected"),
    [
        (1, 2, (1, 2)),
        ("1", "2", (1, 2)),
        (3, 2, (3,)),
        (4, 2, ()),
        (9, 2, ()),
        (-3, 2, (0, 1)),
        (1, 0, (1, 2, 3)),
        (1, -5, (1, 2, 3)),
        (1, None, (1, 2, 3)),
        (None, 1, (0,)),
    ],
)
def test_offset_and_count_say_which_rows(offset: object, count: object, expected: tuple[int, ...]) -> None:
    assert page(client_with(4), offset, count) == identities(*expected)


@pytest.mark.parametrize("wrong", ["two", 1.5, True, b"1"])
def test_what_is_no_number_of_rows_is_refused(wrong: object) -> None:
    answer = client_with(4).query(CONNECTION, ["identity"], offset=0, count=wrong)
    assert refusal(answer) == (400, f"count: {wrong!r} is not a whole number")


def test_later_pages_are_of_the_rows_of_the_first() -> None:
    client = client_with(4)
    assert page(client, 0, 2) == identities(0, 1)
    del client.router.connection_rows[:2]
    assert page(client, 2, 2) == identities(2, 3)
    assert page(client, 4, 2) == []
    assert client.router.asked == ["connections"]


def test_a_new_first_page_is_of_the_rows_of_now() -> None:
    client = client_with(4)
    page(client, 0, 2)
    del client.router.connection_rows[:2]
    assert page(client, 0, 2) == identities(2, 3)


def test_a_page_that_ended_elsewhere_is_of_the_rows_of_now() -> None:
    client = client_with(6)
    page(client, 0, 2)
    assert page(client, 3, 2) == identities(3, 4)
    assert client.router.asked == ["connections"] * 2


def test_a_page_with_other_columns_is_of_the_rows_of_now() -> None:
    client = client_with(4)
    page(client, 0, 2)
    assert page(client, 2, 2, ["identity", "role"]) == [["2", "normal"], ["3", "normal"]]
    assert client.router.asked == ["connections"] * 2


def test_a_page_after_a_page_that_was_not_full_is_of_the_rows_of_now() -> None:
    client = client_with(3)
    assert page(client, 2, 2) == identities(2)
    page(client, 4, 2)
    assert client.router.asked == ["connections"] * 2


def test_rows_are_kept_for_ten_seconds_after_each_page() -> None:
    client = client_with(6)
    for offset in (0, 1, 2):
        page(client, offset, 1)
        client.router.uptime += 9
    assert client.router.asked == ["connections"]
    client.router.uptime += 2
    assert page(client, 3, 1) == identities(3)
    assert client.router.asked == ["connections"] * 2


def test_two_clients_have_pages_of_their_own() -> None:
    client = client_with(4)
    page(client, 0, 2)
    page(client, 0, 2)
    page(client, 2, 2)
    page(client, 2, 2)
    assert client.router.asked == ["connections"] * 2


def test_no_more_than_eight_results_are_kept() -> None:
    client = client_with(4)
    for count in range(1, 4):
        for names in (["identity"], ["role"], ["host"]):
            page(client, 0, count, names)
    client.router.asked.clear()
    page(client, 1, 1, ["role"])
    assert client.router.asked == []
    page(client, 1, 1, ["identity"])
    assert client.router.asked == ["connections"]


def test_the_general_view_has_pages_too() -> None:
    client = client_of(("listener", {"port": "1"}), ("listener", {"port": "2"}), ("listener", {"port": "3"}))
    assert client.rows("P.listener", "port", offset=1, count=1) == [["2"]]
    assert client.rows("P.listener", "port", offset=2, count=1) == [["3"]]
    assert client.rows("P.listener", "port", offset=5) == []
