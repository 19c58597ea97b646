"""A router of ours in edge mode, E, at a qdrouterd 1.19, I.

Sections in parentheses are those of the protocol's description: inter-router protocol of Apache Qpid Dispatch 1.19.
"""

import re
from collections.abc import Iterator

import pytest
from proton import symbol

from tests.interop.foreign_edge import (
    CORE,
    DOWNLINK,
    ENDPOINTS,
    HEARTBEAT,
    TRACKING,
    ForeignInterior,
    error_detach,
    link_frame,
    running_edge,
    source,
    target,
)
from tests.interop.foreign_frames import (
    ACCEPTED,
    AMQP_HEADER,
    SASL_HEADER,
    SENDER,
    begin_frame,
    detach_frame,
)
from tests.interop.foreign_mesh import connector_to, listening
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    ANNOTATIONS,
    HEADER,
    PROPERTIES,
    annotations_of,
    message,
    routers_annotations,
)
from tests.interop.foreign_octets import (
    ATTACH,
    BEGIN,
    DETACH,
    FLOW,
    LIST0,
    NULL,
    OPEN,
    TRUE,
    Frame,
    described,
    entries,
    list8,
    plain,
    section_map,
    smallint,
    str8,
    sym8,
    terminus,
    written,
)
from tests.interop.foreign_router import Pair
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter

RELEASED = described(0x26, LIST0)


class Uplink:
    """What E has said before there were clients."""

    def __init__(self, foreign: ForeignInterior, router: RunningRouter) -> None:
        self.foreign, self.router = foreign, router
        self.said = foreign.accept()
        self.channels = [foreign.answer_begin() for _ in range(2)]
        attaches = [foreign.answer_attach() for _ in range(5)]
        # The answer to the last one has no address for replies, so E does not ask about the links of clients.
        self.up, self.down, self.tracking, self.heartbeat, self.replies = self.attaches = attaches
        self.granted = {
            name: foreign.wait_for(FLOW, channel=one.channel, handle=one["handle"])["link-credit"]
            for name, one in (("down", self.down), ("tracking", self.tracking))
        }


@pytest.fixture(scope="module")
def uplink() -> Iterator[Uplink]:
    with listening() as server, running_edge("E", connector_to(server, role="edge")) as router:
        server.settimeout(20)
        with ForeignInterior(server.accept()[0], "I") as foreign:
            yield Uplink(foreign, router)


@pytest.fixture
def interior(uplink: Uplink) -> ForeignInterior:
    """I, which has nothing in its hands."""
    uplink.foreign.arrivals.clear()
    return uplink.foreign


@pytest.fixture
def edge_client(uplink: Uplink) -> Iterator[ProtonClient]:
    with ProtonClient(uplink.router.port) as client:
        yield client


def address_link(interior: ForeignInterior, address: str, *, receives: bool, credit: int = 250) -> Frame:
    """Answer the link that E attaches for an address."""
    while True:
        attach = interior.answer_attach(credit=credit)
        terminus_name = "source" if receives else "target"
        if (attach["role"], terminus(attach.typed(terminus_name))["address"]) == (receives, str8(address)):
            return attach


def test_the_open_says_what_connectors_of_edge_routers_say(uplink: Uplink) -> None:
    # 6.1
    security_header, _, header, opened = uplink.said
    assert (security_header, header) == (SASL_HEADER, AMQP_HEADER)
    assert isinstance(opened, Frame)
    assert (opened.code, opened["container-id"]) == (OPEN, "E")
    properties = {key.value: value for key, value in entries(opened.typed("properties"))}
    assert properties["qd.annotations-version"] == smallint(1)
    assert "qd.inter-router-cost" not in properties


def test_the_links_come_in_order_on_two_sessions(uplink: Uplink) -> None:
    # 6.2, but for those of requests, which come with the first request
    assert uplink.channels == [ENDPOINTS, CORE]
    assert [(one.channel, one["handle"], one["role"]) for one in uplink.attaches] == [
        (ENDPOINTS, 0, False),
        (ENDPOINTS, 1, True),
        (CORE, 0, True),
        (CORE, 1, False),
        (CORE, 2, True),
    ]
    addresses = [
        tuple(terminus(one.typed(name)).get("address", NULL) for name in ("source", "target"))
        for one in uplink.attaches
    ]
    assert addresses == [(NULL, NULL), (str8("E"), NULL), (str8(TRACKING), NULL), (NULL, str8(HEARTBEAT)), (NULL, NULL)]
    assert terminus(uplink.replies.typed("source"))["dynamic"] == TRUE
    names = [one["name"] for one in uplink.attaches]
    assert len(set(names)) == 5
    assert all(re.fullmatch(r"qdlink\.[\w+/-]{15}", name) for name in names)


def test_the_capability_of_the_downlink_is_a_bare_symbol_in_both_termini(uplink: Uplink) -> None:
    # 6.2, 8.1
    octets = b"\xa3" + bytes([len(DOWNLINK)]) + DOWNLINK.encode()
    for name in ("source", "target"):
        assert written(terminus(uplink.down.typed(name))["capabilities"]) == octets
    for one in (uplink.up, uplink.tracking, uplink.heartbeat):
        for name in ("source", "target"):
            assert "capabilities" not in terminus(one.typed(name))


def test_the_links_that_it_receives_on_have_credit(uplink: Uplink) -> None:
    assert uplink.granted["down"] == 250
    assert uplink.granted["tracking"] >= 32


def test_heartbeats_are_counted(uplink: Uplink, interior: ForeignInterior) -> None:
    # 6.6
    beats = []
    for _ in range(2):
        arrival = interior.come_on(uplink.heartbeat)
        sections = section_map(arrival.octets)
        assert (sections.keys(), arrival.settled) == ({HEADER, AMQP_VALUE}, True)
        assert sections[AMQP_VALUE].code in (0x54, 0x71), "it is an int"
        beats.append(plain(sections[AMQP_VALUE]))
    assert beats == [beats[0], beats[0] + 1]


def test_a_consumer_brings_a_link_and_takes_it_away(
    interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 6.3
    consumer = edge_client.consumer(address)
    attach = address_link(interior, address, receives=True)
    assert "capabilities" not in terminus(attach.typed("source"))
    assert interior.wait_for(FLOW, channel=attach.channel, handle=attach["handle"])["link-credit"] == 250
    consumer.close()
    detached = interior.wait_for(DETACH, channel=attach.channel)
    assert (detached["handle"], detached["closed"], detached["error"]) == (attach["handle"], True, None)
    interior.say(detach_frame(attach.channel, attach["handle"]))


def test_what_comes_down_is_given_to_clients_without_its_path(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 6.5
    consumer = edge_client.consumer(address)
    attach = address_link(interior, address, receives=True)
    path = [f"0/{name}" for name in ("P", "Q", "S", "T", "U", "I")]
    annotations = [
        sym8("x-user"),
        smallint(5),
        *routers_annotations(to=address, ingress=path[0], trace=path),
    ]
    for link in (attach, uplink.down):
        number = interior.send(interior.on(link), message(str8("hi"), annotations=annotations))
        received = consumer.take().message
        assert (received.body, received.annotations) == ("hi", {symbol("x-user"): 5})
        assert interior.outcome(interior.on(link), number) == ACCEPTED


def test_what_nobody_here_gets_is_released(uplink: Uplink, interior: ForeignInterior) -> None:
    octets = message(str8("hi"), annotations=routers_annotations(to="_edge/E/temp.none", ingress="0/I", trace=["0/I"]))
    down = interior.on(uplink.down)
    assert interior.outcome(down, interior.send(down, octets)) == RELEASED


def test_replies_come_down_to_dynamic_addresses(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient
) -> None:
    consumer = edge_client.consumer(None)
    assert consumer.address.startswith("amqp:/_edge/E/temp.")
    octets = message(
        str8("hi"),
        annotations=routers_annotations(ingress="0/I", trace=["0/I"]),
        properties=list8(NULL, NULL, str8(consumer.address)),
    )
    down = interior.on(uplink.down)
    number = interior.send(down, octets)
    assert (consumer.take().body, interior.outcome(down, number)) == ("hi", ACCEPTED)


def test_a_producer_has_credit_while_it_is_told_of_consumers(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 6.4
    producer = edge_client.producer(address)
    attach = address_link(interior, address, receives=False, credit=0)
    assert "capabilities" not in terminus(attach.typed("target"))
    assert producer.credit == 0
    for _ in range(2):
        interior.tell(uplink.tracking, f"M0{address}", True)
        producer.wait_for_credit()
        interior.tell(uplink.tracking, f"M0{address}", False)
        producer.wait_for_no_credit()
    producer.close()
    detached = interior.wait_for(DETACH, channel=attach.channel, handle=attach["handle"])
    assert (detached["closed"], detached["error"]) == (True, None)
    interior.say(detach_frame(attach.channel, attach["handle"]))


def test_messages_go_up_without_ingress_and_trace(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 6.5
    producer = edge_client.producer(address)
    address_link(interior, address, receives=False)
    interior.tell(uplink.tracking, f"M0{address}", True)
    sent = producer.send("hi", annotations={symbol("x-user"): 5})
    arrival = interior.come_on(uplink.up)
    assert annotations_of(arrival.octets) == [("x-user", 5), ("x-opt-qd.to", address)]
    interior.settle(arrival)
    assert sent.outcome() == "accepted"
    anonymous = edge_client.producer(None).send("hi", address="elsewhere")
    arrival = interior.come_on(uplink.up)
    sections = section_map(arrival.octets)
    assert (ANNOTATIONS in sections, plain(sections[PROPERTIES])[2]) == (False, "elsewhere")
    interior.settle(arrival, RELEASED)
    assert anonymous.outcome() == "released"


def test_phases_are_said_by_capabilities_of_the_terminus(
    interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 4.3, 6.3: the other side of a waypoint; its own phases are what clients have there, too.
    address = f"waypoint.{address}"
    edge_client.consumer(address)
    edge_client.producer(address)
    consuming = address_link(interior, address, receives=True)
    producing = address_link(interior, address, receives=False)
    assert terminus(consuming.typed("source")).get("capabilities") in (None, sym8("qd.waypoint.2"))
    assert "capabilities" not in terminus(producing.typed("target"))


def test_multicast_messages_go_up_once(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    address = f"multicast.{address}"
    consumer = edge_client.consumer(address)
    producer = edge_client.producer(address)
    address_link(interior, address, receives=True)
    interior.tell(uplink.tracking, f"M0{address}", True)
    for body in ("one", "two"):
        sent = producer.send(body)
        arrival = interior.come_on(uplink.up)
        assert section_map(arrival.octets)[AMQP_VALUE] == str8(body)
        interior.settle(arrival, RELEASED)
        assert sent.outcome() == "accepted"
    assert consumer.bodies == ["one", "two"]


def test_large_messages_have_a_link_without_address_and_capability(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 1.8
    begun = edge_client.producer(None).begin()
    octets = message(str8("x"), properties=list8(NULL, NULL, str8(address)))[:-3]
    begun.write(octets + bytes.fromhex("b1") + (100_000).to_bytes(4, "big"))
    begun.write(b"x" * 50_000)
    while (attach := interior.answer_attach())["role"] or "address" in terminus(attach.typed("target")):
        pass
    for name in ("source", "target"):
        assert terminus(attach.typed(name)).keys() <= {"durable", "expiry-policy", "timeout", "dynamic"}
    begun.write(b"x" * 50_000)
    begun.end()
    arrival = interior.come_on(attach)
    assert arrival.frames > 1
    assert section_map(arrival.octets)[AMQP_VALUE].value == "x" * 100_000
    interior.settle(arrival)
    assert begun.sent.outcome() == "accepted"


def test_the_interior_router_may_attach_such_links(
    interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    # 1.8
    consumer = edge_client.consumer(address)
    address_link(interior, address, receives=True)
    channel = 100
    interior.say(begin_frame(channel), link_frame(channel, 0, SENDER, source(), target()))
    theirs = interior.wait_for(BEGIN, remote_channel=channel).channel
    assert interior.wait_for(ATTACH, channel=theirs)["role"] is True
    assert interior.wait_for(FLOW, channel=theirs)["link-credit"] == 250
    octets = message(str8("x" * 200), annotations=routers_annotations(to=address, ingress="0/I", trace=["0/I"]))
    stream = Pair(channel, 0, 0)
    interior.send(stream, octets, settled=True, frame_size=100)
    assert consumer.take().body == "x" * 200


def test_a_link_of_an_address_that_is_refused_changes_nothing_else(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    consumer = edge_client.consumer(address)
    attach = address_link(interior, address, receives=True)
    interior.say(error_detach(attach.channel, attach["handle"], "amqp:not-found"))
    octets = message(str8("hi"), annotations=routers_annotations(to=address))
    interior.send(interior.on(uplink.down), octets, settled=True)
    assert consumer.take().body == "hi"


def test_notices_that_say_nothing_do_no_harm(
    uplink: Uplink, interior: ForeignInterior, edge_client: ProtonClient, address: str
) -> None:
    producer = edge_client.producer(address)
    address_link(interior, address, receives=False)
    tracking = interior.on(uplink.tracking)
    for octets in (b"", b"\x00", message(NULL), message(list8(str8(f"M0{address}"))), message(str8("x"), header=None)):
        if octets:
            interior.send(tracking, octets, settled=True)
    interior.tell(uplink.tracking, f"M0{address}", True)
    producer.wait_for_credit()
