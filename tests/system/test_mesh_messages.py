"""What routers make of the addresses and annotations of messages that go from one to the other."""

import re
from collections import Counter
from typing import Any

import pytest
from proton import Message, symbol

from routerd.wire import Attach, Source, Symbol, Target
from tests.system.conftest import next_and_across
from tests.system.mesh import Mesh, Span
from tests.system.raw_client import RawClient

ROUTERS_OWN = {symbol("x-opt-qd.to"): "elsewhere", symbol("x-opt-qd.trace"): ["0/nobody"]}


def whole(address: str, **fields: Any) -> Message:
    """Return a message with every section."""
    return Message(
        body={"map": [1, 2.5, None, b"octets"]},
        id="an id",
        user_id=b"a user",
        address=address,
        subject="a subject",
        reply_to="a reply",
        correlation_id=7,
        durable=True,
        ttl=60.0,
        properties={"application": "property", "number": 5},
        instructions={"x-opt-delivery": "kept, too"},
        **fields,
    )


@next_and_across
@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
@pytest.mark.parametrize("annotations", [None, {symbol("x-opt-ours"): "kept"}], ids=["plain", "annotated"])
def test_every_section_of_a_message_passes_unchanged(
    span: Span, address: str, kind: str, annotations: dict[Any, Any] | None
) -> None:
    address = f"{kind}.{address}"
    consumer = span.there().consumer(address)
    octets = whole(address, annotations=annotations).encode()
    for settled in (False, True):
        span.here().producer(address).send_encoded(octets, settled=settled)
        span.here().producer(None).send_encoded(octets, settled=settled)
    consumer.wait_for(4)
    # The annotations may be in a smaller kind of map.
    assert [one.message.encode() for one in consumer.received] == [octets] * 4
    if annotations is None:
        assert [one.octets for one in consumer.received] == [octets] * 4


@pytest.mark.parametrize("priority", [0, 3, 4, 9, 200])
def test_the_priority_of_a_message_stays_what_it_was(span: Span, address: str, priority: int) -> None:
    consumer = span.there().consumer(address)
    assert span.here().producer(address).send("one", priority=priority).outcome() == "accepted"
    assert consumer.take().message.priority == priority


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


def test_annotations_of_routers_reach_only_those_who_want_them(span: Span, address: str) -> None:
    address = f"multicast.{address}"
    client, listening = span.there().consumer(address), span.there("unstripped").consumer(address)
    theirs = {symbol("x-opt-ours"): "kept"}
    producer = span.here().producer(address)
    assert producer.send("one", annotations=theirs | ROUTERS_OWN).outcome() == "accepted"
    assert client.take().message.annotations == theirs
    seen = dict(listening.take().message.annotations)
    path = {"B": ["0/A"], "C": ["0/A", "0/B"]}[span.far]
    assert seen.pop("x-opt-qd.trace")[: len(path)] == path
    assert seen == theirs | {"x-opt-qd.ingress": "0/A", "x-opt-qd.to": address}


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


def test_a_producer_for_a_dynamic_address_elsewhere_has_credit_while_its_router_can_be_reached(span: Span) -> None:
    inbox = span.there().consumer(None)
    producer = span.here().producer(inbox.address)
    assert producer.send("one").outcome() == "accepted"
    inbox.close()
    assert producer.send("two").outcome() == "released"


def test_an_anonymous_producer_reaches_every_address(line: Mesh, address: str) -> None:
    consumers = {name: line.connect(name).consumer(f"{address}.{name}") for name in "ABC"}
    for name in "ABC":
        line.connect(name).producer(f"{address}.{name}")
    for start in "ABC":
        known = [line.connect(start).producer(f"{address}.{name}") for name in "ABC"]
        for one in known:
            one.wait_for_credit()
        producer = line.connect(start).producer(None)
        sent = [producer.send(start, address=f"{address}.{name}") for name in "ABC" for _ in range(5)]
        assert [one.outcome() for one in sent] == ["accepted"] * 15
    expected = [start for start in "ABC" for _ in range(5)]
    assert {name: one.bodies for name, one in consumers.items()} == dict.fromkeys("ABC", expected)
    assert producer.send("one", address=f"{address}.nobody").outcome() == "released"


@pytest.mark.parametrize("form", ["_topo/0/{}/{}", "amqp:/_topo/0/{}/{}"])
def test_an_address_of_a_certain_router_is_reached_from_all(line: Mesh, address: str, form: str) -> None:
    address = re.sub("[^a-z]", ".", address)
    consumers = {name: line.connect(name).consumer(f"_local/{address}") for name in "ABC"}
    for start in "ABC":
        client = line.connect(start)
        anonymous = client.producer(None)
        for name in "ABC":
            text = form.format(name, address)
            assert client.producer(text).send([start, "link"]).outcome() == "accepted"
            assert anonymous.send([start, "to"], address=text).outcome() == "accepted"
        assert anonymous.send("lost", address=form.format(name, f"{address}.nobody")).outcome() == "released"
        assert anonymous.send("lost", address=form.format("Nowhere", address)).outcome() == "released"
    expected = [[start, how] for start in "ABC" for how in ("link", "to")]
    assert {name: one.bodies for name, one in consumers.items()} == dict.fromkeys("ABC", expected)


@pytest.mark.parametrize("at", ["A", "B", "C"])
def test_a_message_passes_a_waypoint_on_its_way(line: Mesh, address: str, at: str) -> None:
    address = f"waypoint.{address}"
    capabilities = (Symbol("qd.waypoint"),)
    consumer = line.connect("C").consumer(address)
    with RawClient(line.port(at)) as waypoint:
        waypoint.open()
        waypoint.attach_consumer(address, credit=10, source=Source(address=address, capabilities=capabilities))
        answer = waypoint.attach_producer(address, handle=1, target=Target(address=address, capabilities=capabilities))
        waypoint.wait_for_credit(handle=answer.handle)
        producer = line.connect("A").producer(address)
        sent = [producer.send(number, settled=True) for number in range(3)]
        assert len(sent) == 3
        payloads = []
        while len(payloads) < 3:
            frame = waypoint.frame()
            assert not isinstance(frame.performative, Attach)
            if frame.payload:
                payloads.append(frame.payload)
        assert consumer.received == []
        for payload in payloads:
            waypoint.transfer(payload, handle=1, settled=True)
        assert consumer.wait_for(3) == [0, 1, 2]


def test_tenants_are_among_themselves(line: Mesh, address: str) -> None:
    def tenant(name: str, router: str) -> Any:
        return line.connect(router, "tenants", hostname=name)

    red, blue = tenant("red", "C").consumer(address), tenant("blue", "B").consumer(address)
    outside = line.connect("C").consumer(address)
    named = line.connect("C").consumer(f"green/{address}")
    for name, router, sent_by in (("red", "A", "link"), ("blue", "A", "link"), ("green", "B", "link")):
        assert tenant(name, router).producer(address).send([name, sent_by]).outcome() == "accepted"
        assert tenant(name, router).producer(None).send([name, "to"], address=address).outcome() == "accepted"
    assert line.connect("A").producer(address).send("outside").outcome() == "accepted"
    assert line.connect("A").producer(f"red/{address}").send("named").outcome() == "accepted"
    assert red.bodies == [["red", "link"], ["red", "to"], "named"]
    assert blue.bodies == [["blue", "link"], ["blue", "to"]]
    assert named.bodies == [["green", "link"], ["green", "to"]]
    assert outside.bodies == ["outside"]


def test_large_and_small_frames_are_the_same_to_a_message(span: Span, address: str) -> None:
    size = 100_000
    body = bytes(number % 251 for number in range(size))
    consumer = span.there(max_frame_size=512).consumer(address)
    producer = span.here(max_frame_size=2048).producer(address)
    assert [one.outcome() for one in producer.send_all([body] * 5)] == ["accepted"] * 5
    assert consumer.bodies == [body] * 5
