"""`exchange` and `binding`: what sections say, and what is wrong with them."""

from typing import Any

import pytest

from routerd.config import ChangeRefused, effect_of
from routerd.core import BindingSettings, ExchangeSettings, MatchMethod, RouterMode
from tests.unit.config.reading import errors_in, read, section
from tests.unit.io.backing.told_worker import entity

EXCHANGE = section("exchange", "name: e", "address: topic")


def found(text: str, kind: str) -> Any:
    return read(text).others[kind]


def binding(*lines: str) -> str:
    return section("binding", "exchangeName: e", *lines)


def test_an_exchange_has_all_that_its_section_says() -> None:
    lines = ("name: e", "address: topic.", "phase: 2", "alternateAddress: rest", "alternatePhase: 3")
    assert found(section("exchange", *lines, "matchMethod: mqtt"), "exchange") == (
        ExchangeSettings(
            name="e", address="topic.", phase=2, method=MatchMethod.MQTT, alternate="rest", alternate_phase=3
        ),
    )
    assert found(EXCHANGE, "exchange") == (ExchangeSettings(name="e", address="topic"),)


def test_a_binding_has_all_that_its_section_says() -> None:
    text = binding("name: b", "bindingKey: a.#", "nextHopAddress: x", "nextHopPhase: 4") + EXCHANGE
    assert found(text, "binding") == (
        BindingSettings(name="b", exchange="e", key="a.#", next_hop="x", phase=4),
    )
    assert found(EXCHANGE + binding("nextHopAddress: x"), "binding") == (
        BindingSettings(name="binding/0", exchange="e", key="#", next_hop="x"),
    )


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (
            ["address: a"],
            "line 1: exchange.name: exchange requires a unique name; allowed: a name for bindings to name",
        ),
        (["name: e"], "line 1: exchange.address: Missing required attribute 'address'"),
        (
            ["name: e", "address: _topo/0/R"],
            "line 3: exchange.address: is the address of a place, or empty (got '_topo/0/R');"
            " allowed: an address that can be anywhere",
        ),
        (
            ["name: e", "address: a", "phase: 10"],
            "line 4: exchange.phase: 10 is too large; allowed: 0 to 9",
        ),
        (
            ["name: e", "address: a", "matchMethod: up"],
            "line 4: exchange.matchMethod: Invalid value for enum['amqp', 'mqtt']: 'up'; allowed: amqp, mqtt",
        ),
        (
            ["name: e", "address: a", "alternateAddress: /"],
            "line 4: exchange.alternateAddress: names no address (got '/'); allowed: an address that can be anywhere",
        ),
        (
            ["name: e", "address: a", "alternateAddress: a"],
            "line 4: exchange.alternateAddress: leads back to the exchange (got 'a');"
            " allowed: an address that leads elsewhere",
        ),
    ],
)
def test_an_exchange_that_is_wrong_is_told(lines: list[str], error: str) -> None:
    assert errors_in(section("exchange", *lines)) == [error]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["exchangeName: e"], "line 5: binding.nextHopAddress: Missing required attribute 'nextHopAddress'"),
        (["nextHopAddress: x"], "line 5: binding.exchangeName: Missing required attribute 'exchangeName'"),
        (
            ["exchangeName: f", "nextHopAddress: x"],
            "line 6: binding.exchangeName: there is no exchange with the name 'f'; allowed: e",
        ),
        (
            ["exchangeName: e", "nextHopAddress: /"],
            "line 7: binding.nextHopAddress: names no address (got '/'); allowed: an address",
        ),
        (
            ["exchangeName: e", "nextHopAddress: topic"],
            "line 7: binding.nextHopAddress: leads back to the exchange (got 'topic');"
            " allowed: an address that leads elsewhere",
        ),
        (
            ["exchangeName: e", "nextHopAddress: x", "nextHopPhase: -1"],
            "line 8: binding.nextHopPhase: -1 is too small; allowed: 0 to 9",
        ),
    ],
)
def test_a_binding_that_is_wrong_is_told(lines: list[str], error: str) -> None:
    assert errors_in(EXCHANGE + section("binding", *lines)) == [error]


def test_a_key_is_wrong_by_the_rules_of_its_exchange() -> None:
    mqtt = section("exchange", "name: e", "address: topic", "matchMethod: mqtt")
    key = binding("bindingKey: a/#/b", "nextHopAddress: x")
    assert errors_in(EXCHANGE + key) == []
    assert errors_in(mqtt + key) == [
        "line 8: binding.bindingKey: has a `#` that is not its last word (got 'a/#/b'); allowed: words with `/`"
        " between them, `+` for one word, `#` as the last word for any number of them"
    ]


def test_an_empty_key_is_refused() -> None:
    entity_of_request = entity("binding", "5", exchangeName="e", bindingKey="", nextHopAddress="x")
    with pytest.raises(ChangeRefused, match="bindingKey: is empty"):
        effect_of(entity_of_request, RouterMode.STANDALONE)


def test_no_two_exchanges_have_one_address() -> None:
    other = section("exchange", "name: f", "address: /topic")
    assert errors_in(EXCHANGE + other) == [
        "line 7: exchange.address: duplicate exchange address: the exchange of line 1 has it too (got '/topic');"
        " allowed: one exchange for each address"
    ]
    assert len(errors_in(EXCHANGE + section("exchange", "name: f", "address: topic", "phase: 1"))) == 1


def test_no_two_bindings_say_the_same() -> None:
    same = binding("bindingKey: a", "nextHopAddress: x") + binding("bindingKey: a", "nextHopAddress: /x")
    assert errors_in(EXCHANGE + same) == [
        "line 13: binding.nextHopAddress: Next hop for key already exists: the binding of line 5 says the same"
        " (got '/x'); allowed: one binding for each exchange, key and next hop"
    ]


def test_exchanges_lead_nowhere_in_a_circle() -> None:
    others = section("exchange", "name: f", "address: second", "alternateAddress: third")
    others += section("exchange", "name: g", "address: third")
    text = EXCHANGE + others + binding("nextHopAddress: second")
    assert errors_in(text) == []
    assert errors_in(text + section("binding", "exchangeName: g", "nextHopAddress: topic")) == [
        "line 20: binding.nextHopAddress: leads back to the exchange (got 'topic');"
        " allowed: an address that leads elsewhere"
    ]
    assert errors_in(text + section("binding", "exchangeName: g", "nextHopAddress: topic", "nextHopPhase: 1")) == []
