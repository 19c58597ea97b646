"""What routers make of messages and calls that go from one to the other."""

import re
from collections import Counter

import pytest

from tests.system.mesh import Mesh, Span
from tests.system.whole_message import whole_message


@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
def test_every_section_of_a_message_passes_unchanged(span: Span, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumer = span.there().consumer(address)
    plain, annotated = whole_message(address, annotations=None), whole_message(address)
    for octets in (plain, annotated):
        for settled in (False, True):
            span.here().producer(address).send_encoded(octets, settled=settled)
            span.here().producer(None).send_encoded(octets, settled=settled)
    consumer.wait_for(8)
    # The annotations may be in a smaller kind of map.
    assert sorted(one.message.encode() for one in consumer.received) == sorted([plain, annotated] * 4)
    assert [one.octets for one in consumer.received].count(plain) == 4


def test_each_priority_has_a_link_of_its_own_between_routers(line: Mesh, address: str) -> None:
    line.connect("B").consumer(address)
    producer = line.connect("A").producer(address)

    def counts() -> Counter[int]:
        rows = line.query("A", "router.link", "linkType", "linkDir", "priority", "deliveryCount")
        found = [row for row in rows if (row["linkType"], row["linkDir"]) == ("inter-router", "out")]
        # Links for large messages come after these.
        counted = Counter({row["priority"]: 0 for row in found})
        assert sorted(counted) == list(range(10))
        for row in found:
            counted[row["priority"]] += row["deliveryCount"]
        return counted

    before = counts()
    for priority in (0, 9, 9, 7, 7, 7):
        assert producer.send("one", priority=priority).outcome() == "accepted"
    after = counts()
    grown = {priority: after[priority] - before[priority] for priority in after}
    assert [grown[priority] for priority in (0, 7, 9)] == [1, 3, 2]


def test_requests_from_anywhere_get_their_replies_anywhere(line: Mesh, address: str) -> None:
    responders = [line.connect(name) for name in "AC"]
    services = [one.consumer(f"{address}.{at}", outcome="accepted") for at, one in enumerate(responders)]
    replies = [one.producer(None) for one in responders]
    for name in "ABC":
        requester = line.connect(name)
        inbox = requester.consumer(None)
        assert re.fullmatch(rf"amqp:/_topo/0/{name}/temp\.[\w-]{{15}}", inbox.address)
        for at in range(2):
            sent = requester.producer(f"{address}.{at}").send([name, at], reply_to=inbox.address, correlation_id=at)
            request = services[at].take().message
            replied = replies[at].send(request.body, address=request.reply_to, correlation_id=at)
            answer = inbox.take().message
            assert (answer.body, answer.correlation_id) == ([name, at], at)
            assert (sent.outcome(), replied.outcome()) == ("accepted", "accepted")
        inbox.close()
        assert replies[0].send("late", address=inbox.address).outcome() == "released"
