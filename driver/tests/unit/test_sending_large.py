"""What send() does with large messages, which go in parts: others pass them, and they are given up half way."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import proton
import pytest
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout, Target

from oslo_messaging_amqp1.driver import AMQPDriver
from oslo_messaging_amqp1.outgoing import Outgoing
from oslo_messaging_amqp1.sender import Sender
from tests.peer import Peer
from tests.waiting import eventually

ANYCAST = "openstack.org/om/rpc/anycast/openstack/T"
Drivers = Callable[..., AMQPDriver]
LARGE = {"large": "x" * 20_000_000}


@contextlib.contextmanager
def reading_nothing(peer: Peer) -> Iterator[None]:
    """A time in which the peer does nothing."""
    has_begun, is_over = threading.Event(), threading.Event()

    def doing_nothing() -> None:
        has_begun.set()
        is_over.wait(60)

    # Not by peer.do(), which would wait for the end of it.
    peer._work.append(doing_nothing)
    peer._waker.send(b"x")
    assert has_begun.wait(60)
    try:
        yield
    finally:
        is_over.set()


def in_parts(driver: AMQPDriver) -> Callable[[], bool]:
    """Return whether more is to be sent than the peer has taken."""
    return lambda: driver.bus().connection._is_blocked


def sends_of_senders(monkeypatch: pytest.MonkeyPatch) -> list[Outgoing]:
    """Return a list of the messages that have come to the sender of their destination, from now on."""
    given: list[Outgoing] = []
    send = Sender.send

    def sending(self: Sender, outgoing: Outgoing) -> None:
        send(self, outgoing)
        given.append(outgoing)

    monkeypatch.setattr(Sender, "send", sending)
    return given


@pytest.mark.parametrize("is_settled", [False, True])
def test_small_messages_pass_a_large_one(
    peer: Peer, drivers: Drivers, monkeypatch: pytest.MonkeyPatch, is_settled: bool
) -> None:
    given = sends_of_senders(monkeypatch)
    driver = drivers(peer.url, pre_settled=["rpc-cast" if is_settled else ""])
    for topic in ("T", "other"):
        driver.send(Target(topic=topic), {}, {})
    with ThreadPoolExecutor(3) as pool:
        with reading_nothing(peer):
            large = pool.submit(driver.send, Target(topic="T"), {}, LARGE)
            eventually(in_parts(driver))
            behind = pool.submit(driver.send, Target(topic="T"), {}, {"n": 2})
            small = pool.submit(driver.send, Target(topic="other"), {}, {})
            eventually(lambda: len(given) == 5)
        for one in (large, small, behind):
            one.result(timeout=60)
    eventually(lambda: len(peer.arrived) == 5)
    assert [one.address.rpartition("/")[2] for one in peer.arrived[2:]] == ["other", "T", "T"]
    assert [one.is_settled for one in peer.arrived] == [is_settled] * 5
    assert json.loads(peer.arrived[3].message.body)["request"] == LARGE
    assert json.loads(peer.arrived[4].message.body)["request"] == {"n": 2}


def test_a_large_message_whose_time_is_over_is_taken_back(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    driver.send(Target(topic="T"), {}, {})
    words = "it was sent in part, and the peer takes no more"
    with reading_nothing(peer), pytest.raises(MessagingTimeout, match=words):
        driver.send(Target(topic="T"), {}, LARGE, timeout=0.5)
    driver.send(Target(topic="T"), {}, {"n": 2}, timeout=60)
    assert (peer.aborts, len(peer.arrived)) == (1, 2)


@pytest.mark.parametrize(
    ("outcome", "words"), [(proton.Delivery.REJECTED, "rejected"), (proton.Delivery.RELEASED, "nobody took it")]
)
def test_a_large_message_that_is_refused_early_is_not_sent_to_its_end(
    peer: Peer, drivers: Drivers, outcome: int, words: str
) -> None:
    driver = drivers(peer.url)
    peer.script.early_outcome = outcome
    with pytest.raises(MessageDeliveryFailure, match=words):
        driver.send(Target(topic="T"), {}, LARGE, timeout=60, retry=0)
    heard = peer.heard
    driver.send(Target(topic="T"), {}, {"n": 2}, timeout=60)
    assert heard < len(LARGE["large"])
    assert [json.loads(one.message.body)["request"] for one in peer.arrived] == [{"n": 2}]


@pytest.mark.parametrize("harm", [lambda peer: peer.drop(), lambda peer: peer.detach(peer.sender(ANYCAST))])
def test_a_large_message_whose_link_is_lost_half_way_is_in_doubt(
    peer: Peer, drivers: Drivers, harm: Callable[[Peer], None]
) -> None:
    driver = drivers(peer.url)
    driver.send(Target(topic="T"), {}, {})
    with ThreadPoolExecutor(2) as pool:
        with reading_nothing(peer):
            large = pool.submit(driver.send, Target(topic="T"), {}, LARGE)
            eventually(in_parts(driver))
            harming = pool.submit(harm, peer)
            eventually(lambda: len(peer._work) > 0)
        harming.result(timeout=60)
        with pytest.raises(MessageDeliveryFailure, match="in doubt"):
            large.result(timeout=60)
    driver.send(Target(topic="T"), {}, {"n": 2}, timeout=60)
    assert json.loads(peer.arrived[-1].message.body)["request"] == {"n": 2}
