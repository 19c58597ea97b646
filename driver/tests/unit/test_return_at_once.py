"""Casts for which send() does not wait, as the option return_at_once names them."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from oslo_messaging import MessagingTimeout, Target, TransportOptions

from oslo_messaging_amqp1.driver import AMQPDriver
from tests.peer import Peer
from tests.waiting import eventually

ANYCAST = "openstack.org/om/rpc/anycast/openstack/T"
MULTICAST = "openstack.org/om/rpc/multicast/openstack/T"
Drivers = Callable[..., AMQPDriver]


@pytest.mark.parametrize("target", [Target(topic="T"), Target(topic="T", fanout=True)], ids=["cast", "fanout"])
def test_a_cast_to_nobody_returns_at_once_where_that_is_asked_for(peer: Peer, drivers: Drivers, target: Target) -> None:
    address = MULTICAST if target.fanout else ANYCAST
    peer.script.no_credit_for = {address}
    driver = drivers(peer.url, return_at_once=["fanout" if target.fanout else "rpc-cast"])
    driver.send(target, {}, {"n": 1})
    eventually(lambda: [one for one in peer.senders if one[0] == address])
    assert peer.arrived == [], "send() returned before anybody was there"
    peer.grant(address, 1)
    eventually(lambda: len(peer.arrived) == 1)


@pytest.mark.parametrize(
    ("target", "given"),
    [
        (Target(topic="T"), {}),
        (Target(topic="T", fanout=True), {"transport_options": TransportOptions(at_least_once=True)}),
        (Target(topic="T", fanout=True), {"wait_for_reply": True}),
    ],
    ids=["cast", "at least once", "call"],
)
def test_what_is_not_named_waits(peer: Peer, drivers: Drivers, target: Target, given: dict[str, Any]) -> None:
    peer.script.no_credit_for = {ANYCAST, MULTICAST}
    driver = drivers(peer.url, return_at_once=["fanout"])
    with pytest.raises(MessagingTimeout):
        driver.send(target, {}, {}, timeout=0.1, **given)


def test_a_cast_that_is_lost_later_is_a_warning_once(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "oslo_messaging_amqp1.driver")
    peer.script.no_credit_for = {MULTICAST}
    driver = drivers(peer.url, return_at_once=["fanout"])
    for _ in range(2):
        driver.send(Target(topic="T", fanout=True), {}, {}, timeout=0.1)

    def levels() -> list[str]:
        return [one.levelname for one in caplog.records if one.message.startswith("A cast was lost: rpc-cast to T (f")]

    eventually(lambda: levels() == ["WARNING", "DEBUG"])
