"""Topics over three routers: what the second round adds, and how long subscribers are without a router that dies."""

import statistics
import time
from collections.abc import Sequence

from bench.router_process import RouterProcess
from bench.topic_clients import Loop, TopicClient

ROUNDS = 300
CONNECTIONS = 10
SUBSCRIBERS = 1000
BODY = b"\x00\x53\x75\xa0\x64" + b"x" * 100


def second_round_ms(publish_at: str, subscribe_at: str) -> float:
    """Return the median time that the second round adds.

    That is the time from a publisher's settlement until the subscriber's delivery is settled, less that of a message to
    the subscriber. Without the round, the settlement would go the way of the message.
    """
    loop = Loop()
    subscriber = TopicClient(loop, subscribe_at, "rounds-subscriber")
    subscriber.subscriber("s", "topics.rounds")
    publisher = TopicClient(loop, publish_at, "rounds-publisher")
    link = publisher.publisher("p", "topics.rounds")
    publisher.write()
    subscriber.write()
    loop.run_until(lambda: bool(subscriber.attached) and link.credit > 0, "the subscription is answered")
    sent_at = []
    for number in range(ROUNDS):
        loop.run_until(lambda: link.credit > 0, "there is credit")
        sent_at.append(time.monotonic())
        link.send(BODY, tag=number.to_bytes(4, "big"))
        publisher.write()
        # Each message alone, so that none waits for another one.
        loop.run_until(lambda count=number + 1: len(subscriber.settled_at) == count, "a delivery is settled")  # type: ignore[misc]
    settling = [after - before for before, after in zip(publisher.decided_at, subscriber.settled_at, strict=True)]
    passing = [after - before for before, after in zip(sent_at, subscriber.received_at, strict=True)]
    for client in (publisher, subscriber):
        client.close()
    return 1000 * (statistics.median(settling) - statistics.median(passing))


def failover_s(routers: Sequence[RouterProcess], subscribers: int = SUBSCRIBERS) -> float:
    """Kill the last router; return the time until its subscribers have a message that was published then."""
    loop = Loop()
    first, second, last = routers
    names = [f"s{number}" for number in range(subscribers // CONNECTIONS)]
    clients = [_with_subscribers(loop, last.place, number, names) for number in range(CONNECTIONS)]
    publisher = TopicClient(loop, first.place, "failover-publisher")
    link = publisher.publisher("p", "topics.failover")
    publisher.write()
    loop.run_until(lambda: all(len(one.epochs) == len(names) for one in clients), "all are subscribed")
    _publish(loop, publisher, link, b"first")
    begun = time.monotonic()
    last.kill()
    for client in clients:
        client.close()
    link.send(BODY, tag=b"second")
    publisher.write()
    again = [
        _with_subscribers(loop, second.place, number, names, {name: client.epochs[name] for name in names})
        for number, client in enumerate(clients)
    ]
    loop.run_until(lambda: len(publisher.decided_at) == 2, "all have the message")
    taken_s = time.monotonic() - begun
    received = sum(sum(one.received.values()) for one in (*clients, *again))
    assert received == 2 * subscribers, f"{received} deliveries of 2 messages to {subscribers} subscribers"
    for client in (publisher, *again):
        client.close()
    return taken_s


def _with_subscribers(
    loop: Loop, place: str, number: int, names: list[str], epochs: dict[str, object] | None = None
) -> TopicClient:
    client = TopicClient(loop, place, f"failover-{number}")
    for name in names:
        if epochs is None:
            client.subscriber(name, "topics.failover")
        else:
            client.subscriber(name, "topics.failover", 2, epochs[name])
    client.write()
    return client


def _publish(loop: Loop, publisher: TopicClient, link: object, tag: bytes) -> None:
    loop.run_until(lambda: link.credit > 0, "there is credit")  # type: ignore[attr-defined]
    link.send(BODY, tag=tag)  # type: ignore[attr-defined]
    publisher.write()
    loop.run_until(lambda: len(publisher.decided_at) == 1, "a message is accepted")
