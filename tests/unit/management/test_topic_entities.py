"""Topics, publishers and subscriptions as clients of management see them, and the end of a subscription."""

from typing import Any

import pytest

from routerd.core import ManagementAccess, RouterSettings
from routerd.management import OWN_TYPES, Unanswered
from tests.unit.management.fake_router import Client, client_of, publisher, refusal, subscription, topic

SLOW = "subscription/news/eu/archive/in"


@pytest.fixture
def client() -> Client:
    found = client_of()
    waits_for = (("archive", "in"),)
    found.router.topic_rows = [
        topic(
            "news/eu",
            worker=1,
            subscriptions=2,
            subscribers_here=1,
            publishers_here=3,
            unsettled=7,
            unsettled_octets=700,
            records=8,
            oldest_s=9.7,
            waits_for=waits_for,
            accepted=10,
            rejected=11,
            unknown=12,
            expired=13,
            refused=14,
        )
    ]
    found.router.publisher_rows = [
        publisher("news/eu", "shop", unsettled=7, settling=2, oldest_s=9.7, waits_for=waits_for, credit=4, accepted=10)
    ]
    found.router.subscription_rows = [
        subscription(
            "news/eu",
            "archive",
            is_attached=False,
            away_s=8.2,
            undecided=7,
            delivered=20,
            placeholders=1,
            publishers_waiting=1,
            oldest_waiting_s=9.7,
        ),
        subscription("news/eu", "a/b%"),
    ]
    return found


def only(client: Client, entity_type: str, index: int = 0) -> dict[str, Any]:
    """All of an entity that a query tells."""
    body = client.query(f"org.mobula.{entity_type}").body
    return dict(zip(body["attributeNames"], body["results"][index], strict=True))


def test_a_topic_has_all_that_is_counted(client: Client) -> None:
    assert only(client, "deliveryTopic") == {
        **{"name": "topic/news/eu", "identity": "topic/news/eu", "type": "org.mobula.deliveryTopic"},
        **{"topic": "news/eu", "worker": 1, "subscriptionCount": 2, "subscribersHere": 1, "publishersHere": 3},
        **{"unsettledCount": 7, "unsettledOctets": 700, "recordCount": 8, "oldestSeconds": 9},
        **{"waitsFor": ["archive/in"], "acceptedCount": 10, "rejectedCount": 11, "unknownCount": 12},
        "expiredCount": 13,
        "refusedCount": 14,
    }


def test_a_publisher_tells_what_it_waits_for(client: Client) -> None:
    identity = "publisher/news/eu/shop/out"
    assert only(client, "publisher") == {
        **{"name": identity, "identity": identity, "type": "org.mobula.publisher"},
        **{"topic": "news/eu", "container": "shop", "link": "out", "attached": True, "unsettledCount": 7},
        **{"settlingCount": 2, "oldestSeconds": 9, "waitsFor": ["archive/in"], "creditAvailable": 4},
        **{"acceptedCount": 10, "rejectedCount": 0, "unknownCount": 0},
    }


def test_a_subscription_tells_whom_it_holds_up(client: Client) -> None:
    assert only(client, "subscription") == {
        **{"name": SLOW, "identity": SLOW, "type": "org.mobula.subscription"},
        **{"topic": "news/eu", "container": "archive", "link": "in", "router": "R1", "attached": False},
        **{"durable": True, "timeoutSeconds": 3600, "awaySeconds": 8, "undecidedCount": 7, "deliveredCount": 20},
        **{"placeholderCount": 1, "publishersWaiting": 1, "oldestWaitingSeconds": 9},
    }


@pytest.mark.parametrize("name", ["deliveryTopic", "publisher", "subscription"])
def test_every_attribute_of_the_schema_has_a_value(client: Client, name: str) -> None:
    found = only(client, name)
    assert (set(found), None in found.values()) == (set(OWN_TYPES[name].attributes), False)


def test_one_is_read_by_its_identity(client: Client) -> None:
    answer = client.ask("READ", type="org.mobula.subscription", identity=SLOW)
    assert (answer.status, answer.body["undecidedCount"]) == (200, 7)


def test_names_of_clients_have_no_slashes_in_identities(client: Client) -> None:
    assert only(client, "subscription", 1)["identity"] == "subscription/news/eu/a%2Fb%25/in"


def test_an_operator_ends_a_subscription(client: Client) -> None:
    answer = client.ask("DELETE", type="org.mobula.subscription", identity="subscription/news/eu/a%2Fb%25/in")
    assert (answer.status, answer.body) == (204, {})
    assert client.router.asked[-1] == "end news/eu a/b% in"
    assert [row.container for row in client.router.subscription_rows] == ["archive"]


@pytest.mark.parametrize("given", [{"identity": "subscription/x/y/z"}, {"name": "subscription/x/y/z"}])
def test_a_subscription_that_is_unknown_is_not_found(client: Client, given: dict[str, str]) -> None:
    answer = client.ask("DELETE", type="org.mobula.subscription", **given)
    [(attribute, text)] = given.items()
    assert refusal(answer) == (404, f"No entity with {attribute}={text}")


def test_a_subscription_that_has_just_ended_is_not_found(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(*_: str) -> bool:
        return False

    monkeypatch.setattr(client.router, "end_subscription", gone)
    answer = client.ask("DELETE", type="org.mobula.subscription", identity=SLOW)
    assert refusal(answer) == (404, f"No entity with identity={SLOW}")


def test_a_worker_that_does_not_answer_ends_none(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: str) -> bool:
        raise Unanswered("connection.0")

    monkeypatch.setattr(client.router, "end_subscription", silent)
    assert client.ask("DELETE", type="org.mobula.subscription", identity=SLOW).status == 500


def test_a_router_whose_management_only_reads_ends_none(client: Client) -> None:
    client.router.settings = RouterSettings(id="R1", management_access=ManagementAccess.READ)
    answer = Client(client.router).ask("DELETE", type="org.mobula.subscription", identity=SLOW)
    assert (answer.status, len(client.router.subscription_rows)) == (403, 2)


@pytest.mark.parametrize(
    ("entity_type", "identity"), [("deliveryTopic", "topic/news/eu"), ("publisher", "publisher/news/eu/shop/out")]
)
def test_nothing_else_of_topics_can_be_ended(client: Client, entity_type: str, identity: str) -> None:
    assert client.ask("DELETE", type=f"org.mobula.{entity_type}", identity=identity).status == 501
