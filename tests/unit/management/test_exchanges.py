"""Exchanges and bindings over management: which are refused and how, and what is told of those that there are."""

from typing import Any

import pytest

from routerd.management import BindingRow, ExchangeRow
from tests.unit.management.fake_router import Client, client_of, refusal

EXCHANGE = "P.router.config.exchange"
BINDING = "P.router.config.binding"
TOPIC = {"name": "e", "address": "topic"}
RANGE = "phase must be in the range 0-9"


def client() -> Client:
    return client_of(
        ("exchange", TOPIC),
        ("exchange", {"name": "m", "address": "m", "matchMethod": "mqtt"}),
        ("binding", {"name": "b", "exchangeName": "e", "bindingKey": "a", "nextHopAddress": "x"}),
        ("binding", {"exchangeName": "e", "nextHopAddress": "m"}),
    )


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("x", None, "Body of request must be a map"),
        (None, {"address": "a"}, "exchange requires a unique name"),
        ("x", {}, "exchange address is mandatory"),
        ("x", {"address": "/"}, "exchange address is mandatory"),
        ("e", {"address": "a"}, "duplicate exchange name"),
        ("x", {"address": "/topic"}, "duplicate exchange address"),
        ("x", {"address": "a", "matchMethod": "x"}, "Exchange matchMethod must be either 'amqp' or 'mqtt'"),
        ("x", {"address": "a", "phase": 10}, RANGE),
        ("x", {"address": "a", "alternatePhase": -1}, RANGE),
        ("x", {"address": "a", "receivedCount": 1}, "Cannot set attribute 'receivedCount' in CREATE"),
        ("x", {"address": "a", "alternateAddress": "/"}, "alternateAddress: names no address"),
        ("x", {"address": "a", "alternateAddress": "a"}, "alternateAddress: leads back to the exchange"),
        ("x", {"address": "x", "alternateAddress": "topic"}, "alternateAddress: leads back to the exchange"),
        (
            "x",
            {"address": "_local/a"},
            "address: is the address of a place; allowed: an address that can be anywhere",
        ),
    ],
)
def test_an_exchange_that_is_wrong_is_refused(name: str | None, body: Any, sentence: str) -> None:
    found = client()
    answer = found.ask("CREATE", body, type=EXCHANGE, name=name)
    assert (refusal(answer), answer.body) == ((400, sentence), None)
    assert found.router.asked == []


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("x", None, "Body of request must be a map"),
        ("x", {}, "Binding configuration requires an exchange"),
        ("x", {"exchangeName": "f"}, "Named exchange does not exist"),
        ("x", {"exchangeName": "e"}, "No next hop specified"),
        ("x", {"exchangeName": "e", "nextHopAddress": "/"}, "No next hop specified"),
        ("x", {"exchangeName": "e", "nextHopAddress": "y", "bindingKey": ""}, "The binding key pattern is invalid"),
        ("x", {"exchangeName": "m", "nextHopAddress": "y", "bindingKey": "#/a"}, "The binding key pattern is invalid"),
        ("b", {"exchangeName": "e", "nextHopAddress": "y"}, "Duplicate next hop name"),
        ("binding/1", {"exchangeName": "e", "nextHopAddress": "y"}, "Duplicate next hop name"),
        (
            "x",
            {"exchangeName": "e", "bindingKey": "a", "nextHopAddress": "/x"},
            "Next hop for key already exists",
        ),
        (None, {"exchangeName": "e", "nextHopAddress": "m"}, "Next hop for key already exists"),
        ("x", {"exchangeName": "e", "nextHopAddress": "y", "nextHopPhase": 10}, RANGE),
        ("x", {"exchangeName": "e", "nextHopAddress": "topic"}, "nextHopAddress: leads back to the exchange"),
        ("x", {"exchangeName": "m", "nextHopAddress": "topic"}, "nextHopAddress: leads back to the exchange"),
        ("x", {"exchangeName": "e", "matchedCount": 5}, "Cannot set attribute 'matchedCount' in CREATE"),
    ],
)
def test_a_binding_that_is_wrong_is_refused(name: str | None, body: Any, sentence: str) -> None:
    found = client()
    answer = found.ask("CREATE", body, type=BINDING, name=name)
    assert (refusal(answer), answer.body) == ((400, sentence), None)
    assert found.router.asked == []


def test_a_new_exchange_is_told_with_its_counters() -> None:
    answer = client().ask("CREATE", {"address": "a", "alternateAddress": "rest"}, type=EXCHANGE, name="x")
    assert answer.body == {
        **{"name": "x", "identity": "5", "address": "a", "phase": 0},
        **{"alternateAddress": "rest", "alternatePhase": 0, "matchMethod": "amqp"},
        **{"bindingCount": 0, "receivedCount": 0, "droppedCount": 0, "forwardedCount": 0, "divertedCount": 0},
    }


def test_a_new_binding_is_told_with_its_counter() -> None:
    found = client()
    answer = found.ask("CREATE", {"exchangeName": "e", "nextHopAddress": "y"}, type=BINDING, name="x")
    assert answer.body == {
        **{"name": "x", "identity": "5", "exchangeName": "e"},
        **{"bindingKey": "#", "nextHopAddress": "y", "nextHopPhase": 0, "matchedCount": 0},
    }
    other_phase = {"exchangeName": "e", "nextHopAddress": "y", "nextHopPhase": 1}
    assert found.ask("CREATE", other_phase, type=BINDING).status == 201


def test_names_of_bindings_are_taken_once_within_an_exchange() -> None:
    found = client()
    assert found.ask("CREATE", {"exchangeName": "m", "nextHopAddress": "y"}, type=BINDING, name="b").status == 201
    assert found.ask("READ", type=BINDING, name="b").body["exchangeName"] == "e"


def test_counters_are_those_of_the_worker_that_hosts_the_exchange() -> None:
    found = client()
    found.router.exchange_rows = [ExchangeRow(1, "e", 9, 1, 8, 2)]
    found.router.binding_rows = [BindingRow(1, "e", "b", 4), BindingRow(1, "e", "binding/1", 5)]
    names = ("bindingCount", "receivedCount", "droppedCount", "forwardedCount", "divertedCount", "alternatePhase")
    assert found.rows(EXCHANGE, *names) == [[2, 9, 1, 8, 2, None], [0, 0, 0, 0, 0, None]]
    assert found.rows(BINDING, "name", "bindingKey", "matchedCount") == [["b", "a", 4], ["binding/1", "#", 5]]
    assert found.ask("READ", type=EXCHANGE, name="e").body["receivedCount"] == 9


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [(EXCHANGE, "No name or identity provided"), (BINDING, "No binding name or identity provided")],
)
@pytest.mark.parametrize("operation", ["READ", "DELETE"])
def test_one_that_is_not_there_is_not_found(kind: str, operation: str, sentence: str) -> None:
    found = client()
    assert refusal(found.ask(operation, type=kind, name="nothing")) == (404, "Not Found")
    assert refusal(found.ask(operation, type=kind)) == (400, sentence)


def test_neither_can_be_updated() -> None:
    found = client()
    assert found.ask("UPDATE", {"address": "y"}, type=EXCHANGE, name="e").status == 501
    assert found.ask("UPDATE", {"nextHopAddress": "y"}, type=BINDING, name="b").status == 501


def test_a_deleted_binding_is_no_more() -> None:
    found = client()
    assert found.ask("DELETE", type=BINDING, name="b").status == 204
    assert found.rows(BINDING, "name") == [["binding/1"]]
