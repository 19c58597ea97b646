"""Many threads at once, while connections and links break under them: everything ends, nothing is answered wrongly."""

import dataclasses
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import proton
import pytest
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout, Target

from oslo_messaging_amqp1.driver import AMQPDriver
from tests.peer import Arrived, Peer
from tests.waiting import eventually

Drivers = Callable[..., AMQPDriver]
THREADS = 12
SECONDS = 2.0


def echoing(peer: Peer) -> Callable[[Arrived], Any]:
    """Return an outcome that accepts, and replies with what the request says."""

    def outcome(arrived: Arrived) -> Any:
        found = [link for address, link, _ in peer.consumers if address == arrived.message.reply_to]
        if found:
            content = json.loads(arrived.message.body)["request"]
            reply = proton.Message(json.dumps({"response": content}), correlation_id=arrived.message.id)
            peer.put(found[0], reply.encode(), True)
        return proton.Delivery.ACCEPTED

    return outcome


def break_a_link(peer: Peer) -> None:
    if peer.senders:
        peer.detach(peer.senders[0][1])


def end_a_session(peer: Peer) -> None:
    def ending() -> None:
        if peer.senders:
            peer.senders[0][1].session.close()
            del peer.senders[0]

    peer.do(ending)


@pytest.mark.parametrize("harm", [Peer.drop, Peer.close, break_a_link, end_a_session])
def test_every_call_ends_while_things_break(
    peer: Peer, drivers: Drivers, harm: Callable[[Peer], None]
) -> None:
    peer.script.outcome = echoing(peer)
    driver = drivers(peer.url)
    # Shorter than the options allow.
    driver.settings = dataclasses.replace(driver.settings, connection_retry_interval=0, link_retry_delay=0)
    until = time.monotonic() + SECONDS
    right, failed, wrong = [0] * THREADS, [0] * THREADS, [0] * THREADS

    def calling(number: int) -> None:
        count = 0
        while time.monotonic() < until:
            count += 1
            content = {"n": [number, count]}
            try:
                answer = driver.send(Target(topic="T"), {}, content, wait_for_reply=True, timeout=60)
                (right if answer == content else wrong)[number] += 1
            except MessageDeliveryFailure:
                failed[number] += 1

    threads = [threading.Thread(target=calling, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        time.sleep(0.1)
        harm(peer)
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert (sum(wrong), min(right) > 0) == (0, True)


def test_cleanup_in_the_midst_of_calls_ends_them(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    ends: list[type[BaseException]] = []

    def calling() -> None:
        try:
            driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60)
        except (MessageDeliveryFailure, MessagingTimeout) as error:
            ends.append(type(error))

    threads = [threading.Thread(target=calling) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(peer.arrived) == THREADS)
    driver.cleanup()
    for thread in threads:
        thread.join(60)
    assert [issubclass(end, MessageDeliveryFailure) for end in ends] == [True] * THREADS
