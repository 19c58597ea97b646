"""A qdrouterd 1.19 in edge mode, X, at a router of ours, A; and one of ours in edge mode, E, at a qdrouterd 1.19, I.

Sections in parentheses are those of the protocol's description: inter-router protocol of Apache Qpid Dispatch 1.19.
"""

import re
from collections.abc import Iterator
from itertools import count

import pytest
from proton import symbol

from tests.interop.foreign_edge import (
    CORE,
    DOWNLINK,
    ENDPOINTS,
    HEARTBEAT,
    LOOKUP,
    TRACKING,
    ForeignEdge,
    ForeignInterior,
    edges,
    error_detach,
    link_frame,
    running_edge,
    source,
    target,
)
from tests.interop.foreign_frames import (
    ACCEPTED,
    AMQP_HEADER,
    RECEIVER,
    SASL_HEADER,
    SENDER,
    begin_frame,
    detach_frame,
    flow_frame,
)
from tests.interop.foreign_mesh import connector_to, listening, running_router
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    ANNOTATIONS,
    APPLICATION_PROPERTIES,
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
    DISPOSITION,
    FLOW,
    LIST0,
    NULL,
    OPEN,
    Frame,
    described,
    entries,
    list8,
    map8,
    plain,
    section_map,
    smallint,
    str8,
    sym8,
    terminus,
    written,
)
from tests.interop.foreign_router import Pair
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter
from tests.waiting import eventually

RELEASED = described(0x26, LIST0)
MODIFIED = 0x27
_names = count(1)


@pytest.fixture
def address() -> str:
    """An address that no other test uses."""
    return f"foo{next(_names)}"


# --- a foreign edge router


@pytest.fixture(scope="module")
def router() -> Iterator[RunningRouter]:
    with running_router("A", sections=[edges()]) as router:
        yield router


@pytest.fixture(scope="module")
def hanging(router: RunningRouter) -> Iterator[ForeignEdge]:
    with ForeignEdge.to(router.port_of("edges"), "X") as foreign:
        yield foreign.hang()


@pytest.fixture
def edge(hanging: ForeignEdge) -> ForeignEdge:
    """X, heard of just now, which has nothing in its hands."""
    hanging.beat(0)
    hanging.arrivals.clear()
    return hanging


def keys(router: RunningRouter) -> set[str]:
    with ManagementClient(router.port) as management:
        return {row["key"] for row in management.query("router.address", "key")}


def test_the_open_says_what_listeners_for_edge_routers_say(router: RunningRouter) -> None:
    # 6.1
    with ForeignEdge.to(router.port_of("edges"), "Y") as foreign:
        opened = foreign.open()
    assert opened.typed("container-id") == str8("A")
    assert opened["offered-capabilities"] == opened["desired-capabilities"] == ["ANONYMOUS-RELAY", "qd.streaming-links"]
    properties = {key.value: value for key, value in entries(opened.typed("properties"))}
    assert properties["qd.annotations-version"] == smallint(1)


def test_all_eight_links_are_answered_in_the_other_role(edge: ForeignEdge) -> None:
    # 6.2
    roles = {place: answer["role"] for place, answer in edge.answers.items() if place in LINKS}
    assert roles == {place: role == SENDER for place, role in LINKS.items()}
    down = edge.answers[ENDPOINTS, 1]
    said = terminus(down.typed("source"))
    assert (said["address"], said["capabilities"]) == (str8("X"), sym8(DOWNLINK))
    assert terminus(down.typed("target"))["capabilities"] == sym8(DOWNLINK)
    for handle in (2, 4):
        assert re.fullmatch(r"amqp:/_topo/0/A/temp\.\S+", edge.dynamic_address(handle))


LINKS = {
    (ENDPOINTS, 0): SENDER,
    (ENDPOINTS, 1): RECEIVER,
    (CORE, 0): RECEIVER,
    (CORE, 1): SENDER,
    (CORE, 2): RECEIVER,
    (CORE, 3): SENDER,
    (CORE, 4): RECEIVER,
    (CORE, 5): SENDER,
}


def test_every_link_that_it_sends_on_gets_credit(router: RunningRouter) -> None:
    with ForeignEdge.to(router.port_of("edges"), "Y") as foreign:
        foreign.hang()
        granted = {place: foreign.credit_of(*place) for place, role in LINKS.items() if role == SENDER}
    assert granted[ENDPOINTS, 0] == 250
    # 1.19 gives 32 for look-ups and 2 for heartbeats.
    assert all(credit >= 2 for credit in granted.values())


def test_the_place_of_the_edge_router_is_an_address_while_it_is_there(router: RunningRouter) -> None:
    with ForeignEdge.to(router.port_of("edges"), "Y") as foreign:
        foreign.hang()
        assert "HY" in keys(router)
    eventually(lambda: "HY" not in keys(router), "Y is forgotten")


def test_messages_without_ingress_and_trace_enter_the_network_here(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    # 6.5
    consumer = client.consumer(address)
    annotations = [sym8("x-user"), smallint(5), *routers_annotations(to=address)]
    number = edge.send(edge.uplink, message(str8("hi"), annotations=annotations))
    received = consumer.take().message
    assert (received.body, received.annotations) == ("hi", {symbol("x-user"): 5})
    assert edge.outcome(edge.uplink, number) == ACCEPTED


def test_what_nobody_gets_is_released(edge: ForeignEdge, address: str) -> None:
    octets = message(str8("hi"), properties=list8(NULL, NULL, str8(address)))
    assert edge.outcome(edge.uplink, edge.send(edge.uplink, octets)) == RELEASED


def test_messages_to_its_place_come_down_with_their_path(
    edge: ForeignEdge, client: ProtonClient, router: RunningRouter
) -> None:
    # 6.5
    sent = client.producer(None).send("hi", address="_edge/X/temp.1", annotations={symbol("x-user"): 5})
    arrival = edge.came_on(ENDPOINTS, 1)
    found = annotations_of(arrival.octets)
    assert found[0] == ("x-user", 5)
    assert found[-2:] == [("x-opt-qd.ingress", "0/A"), ("x-opt-qd.trace", ["0/A"])]
    assert plain(section_map(arrival.octets)[PROPERTIES])[2] == "_edge/X/temp.1"
    edge.settle(arrival)
    assert sent.outcome() == "accepted"


def test_consumers_at_the_edge_get_messages_by_their_own_link(
    edge: ForeignEdge, client: ProtonClient, router: RunningRouter, address: str
) -> None:
    # 6.3
    link = edge.attach(RECEIVER, address)
    assert f"M0{address}" in keys(router)
    producer = client.producer(address)
    sent = producer.send("hi", annotations={symbol("x-user"): 5})
    arrival = edge.came_on(ENDPOINTS, link.receiving)
    assert annotations_of(arrival.octets)[0] == ("x-user", 5)
    assert section_map(arrival.octets)[AMQP_VALUE] == str8("hi")
    edge.settle(arrival)
    assert sent.outcome() == "accepted"
    edge.detach(link)
    assert edge.wait_for(DETACH, channel=ENDPOINTS)["closed"] is True
    producer.wait_for_no_credit()


def test_producers_at_the_edge_are_told_of_consumers(edge: ForeignEdge, client: ProtonClient, address: str) -> None:
    # 6.4
    link = edge.attach(SENDER, address)
    for _ in range(2):
        consumer = client.consumer(address)
        check_notice(edge, f"M0{address}", is_reached=True)
        consumer.close()
        check_notice(edge, f"M0{address}", is_reached=False)
    client.consumer(address)
    check_notice(edge, f"M0{address}", is_reached=True)
    # A link that comes again is told again.
    edge.detach(link)
    edge.wait_for(DETACH, channel=ENDPOINTS)
    edge.detach(edge.attach(SENDER, address))
    check_notice(edge, f"M0{address}", is_reached=True)


def check_notice(edge: ForeignEdge, key: str, *, is_reached: bool) -> None:
    arrival = edge.came_on(CORE, 0)
    sections = section_map(arrival.octets)
    assert (plain(sections[AMQP_VALUE]), arrival.settled) == ([key, is_reached], True)
    assert sections.keys() == {HEADER, AMQP_VALUE}
    assert plain(sections[HEADER]) in ([], [False])


def test_the_consumers_of_the_edge_router_itself_are_not_told_of(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    edge.attach(RECEIVER, address)
    edge.attach(SENDER, address)
    consumer = client.consumer(address)
    check_notice(edge, f"M0{address}", is_reached=True)
    consumer.close()
    check_notice(edge, f"M0{address}", is_reached=False)


def test_first_credit_waits_for_a_consumer(edge: ForeignEdge, client: ProtonClient, address: str) -> None:
    # 6.3 b
    link = edge.attach(SENDER, address)
    client.consumer(address)
    assert edge.credit_of(ENDPOINTS, link.sending) == 250


def test_messages_on_the_link_of_an_address_arrive(edge: ForeignEdge, client: ProtonClient, address: str) -> None:
    consumer = client.consumer(address)
    link = edge.attach(SENDER, address)
    for octets in (message(str8("to"), annotations=routers_annotations(to=address)), message(str8("bare"))):
        assert edge.outcome(link, edge.send(link, octets)) == ACCEPTED
    assert consumer.wait_for(2) == ["to", "bare"]


def test_phases_are_said_by_capabilities(edge: ForeignEdge, router: RunningRouter, address: str) -> None:
    # 4.3, 6.3
    edge.attach(RECEIVER, address, sym8("qd.waypoint.3"))
    edge.attach(SENDER, f"{address}a", sym8("qd.waypoint.3"))
    assert {f"M2{address}", f"M3{address}a"} <= keys(router)


def test_multicast_messages_do_not_come_back(edge: ForeignEdge, client: ProtonClient, address: str) -> None:
    # 5.3
    address = f"multicast.{address}"
    link = edge.attach(RECEIVER, address)
    consumer = client.consumer(address)
    number = edge.send(edge.uplink, message(str8("up"), annotations=routers_annotations(to=address)))
    assert edge.outcome(edge.uplink, number) == ACCEPTED
    client.producer(address).send("down", settled=True)
    assert section_map(edge.came_on(ENDPOINTS, link.receiving).octets)[AMQP_VALUE] == str8("down")
    assert consumer.wait_for(2) == ["up", "down"]


def test_a_link_without_address_may_be_opened_for_large_messages(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    # 1.8
    consumer = client.consumer(address)
    channel = 2
    edge.say(begin_frame(channel), link_frame(channel, 0, SENDER, source(), target()))
    edge.answered(channel, 0, SENDER, 0)
    assert edge.credit_of(channel, 0) == 250
    stream = Pair(channel, 0, 0)
    body = "x" * 200
    octets = message(str8(body), annotations=routers_annotations(to=address))
    number = edge.send(stream, octets, frame_size=100)
    assert (consumer.take().body, edge.outcome(stream, number)) == (body, ACCEPTED)


def test_a_look_up_is_answered_by_not_found(edge: ForeignEdge) -> None:
    # 6.7
    for is_sender in (False, True):
        edge.ask_whether_routed("foo", is_sender, f"client-{is_sender}")
        arrival = edge.came_on(CORE, 4)
        sections = section_map(arrival.octets)
        properties = plain(sections[PROPERTIES])
        assert (properties[2], properties[5]) == (edge.dynamic_address(4), f"client-{is_sender}")
        assert plain(sections[APPLICATION_PROPERTIES]) == {"version": 1, "opcode": 1, "status": 3}
        codes = {value.code for _, value in entries(sections[APPLICATION_PROPERTIES])}
        assert codes <= {0x43, 0x52, 0x70}, "they are uints"
        assert (plain(sections[AMQP_VALUE]), arrival.settled) == ([False, False], True)


def test_the_proposal_of_a_link_route_is_answered_with_an_error_and_everything_goes_on(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    # 6.8
    number = edge.propose_link_route()
    assert edge.outcome(edge.requests, number) == ACCEPTED
    sections = section_map(edge.came_on(CORE, 2).octets)
    told = plain(sections[APPLICATION_PROPERTIES])
    assert told["statusCode"] >= 400
    assert isinstance(told["statusDescription"], str)
    assert plain(sections[PROPERTIES])[5] == "1"
    consumer = client.consumer(address)
    edge.send(edge.uplink, message(str8("hi"), annotations=routers_annotations(to=address)), settled=True)
    assert consumer.take().body == "hi"


def test_it_may_ask_the_management_of_its_router(edge: ForeignEdge) -> None:
    about = {"operation": "QUERY", "entityType": "org.apache.qpid.dispatch.router", "type": "org.amqp.management"}
    octets = message(
        map8(str8("attributeNames"), list8(str8("id"))),
        properties=list8(NULL, NULL, NULL, NULL, str8(edge.dynamic_address(2)), str8("7")),
        application_properties=map8(*(str8(part) for pair in (about | {"name": "self"}).items() for part in pair)),
    )
    edge.send(edge.requests, octets)
    sections = section_map(edge.came_on(CORE, 2).octets)
    assert plain(sections[AMQP_VALUE])["results"] == [["A"]]


def test_a_large_message_comes_on_a_link_of_its_own_and_holds_up_no_other(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    # 1.8
    consuming = edge.attach(RECEIVER, address)
    begun = client.producer(address).begin()
    octets = message(str8("x"))[:-3] + bytes.fromhex("b1") + (100_000).to_bytes(4, "big")
    begun.write(octets + b"x" * 50_000)
    theirs = edge.wait_for(BEGIN, remote_channel=None).channel
    attach = edge.wait_for(ATTACH, channel=theirs)
    for name in ("source", "target"):
        assert terminus(attach.typed(name)).keys() <= {"durable", "expiry-policy", "timeout", "dynamic"}
    channel = 100
    edge.say(begin_frame(channel, theirs), link_frame(channel, 0, RECEIVER, source(), target(), attach["name"]))
    edge.receiving[theirs, attach["handle"]] = 0
    edge.answers[theirs, 0] = attach
    edge.channels[theirs] = channel
    edge.say(flow_frame(channel, 0, credit=250))
    small = client.producer(address).send("small")
    edge.settle(edge.came_on(consuming.channel, consuming.receiving))
    assert small.outcome() == "accepted"
    begun.write(b"x" * 50_000)
    begun.end()
    arrival = edge.came_on(theirs, 0)
    assert annotations_of(arrival.octets) == [
        ("x-opt-qd.to", address),
        ("x-opt-qd.ingress", "0/A"),
        ("x-opt-qd.trace", ["0/A"]),
    ]
    edge.settle(arrival)
    assert begun.sent.outcome() == "accepted"
    edge.detach(consuming)


def test_an_outcome_that_comes_early_is_settled_with_the_end_of_the_message(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    # A qdrouterd keeps what is settled in the middle of a message.
    consumer = client.consumer(address)
    octets = message(str8("x" * 250), annotations=routers_annotations(to=address))
    number, rest = edge.begin_message(edge.uplink, octets)
    consumer.close()
    early = edge.wait_for(DISPOSITION, channel=edge.uplink.channel, first=number)
    assert (early["settled"], early["state"][0]) == (False, MODIFIED)
    edge.say(*rest)
    late = edge.wait_for(DISPOSITION, channel=edge.uplink.channel, first=number)
    assert (late["settled"], late["state"]) == (True, early["state"])


@pytest.mark.parametrize("address_of_core", [TRACKING, HEARTBEAT, LOOKUP])
def test_links_of_the_wrong_direction_are_refused(router: RunningRouter, address_of_core: str) -> None:
    # 6.2
    role = SENDER if address_of_core == TRACKING else RECEIVER
    with ForeignEdge.to(router.port_of("edges"), "Y") as foreign:
        foreign.open()
        foreign.say(begin_frame(0))
        termini = (source(address_of_core), target()) if role == RECEIVER else (source(), target(address_of_core))
        foreign.say(link_frame(0, 0, role, *termini))
        detached = foreign.wait_for(DETACH)
        assert detached["closed"] is True
        assert detached["error"] is not None


@pytest.mark.parametrize("address_of_core", [TRACKING, LOOKUP])
def test_they_are_refused_to_clients(router: RunningRouter, address_of_core: str) -> None:
    # 6.2
    role = RECEIVER if address_of_core == TRACKING else SENDER
    with ForeignEdge.to(router.port, "Y") as foreign:
        foreign.open()
        foreign.say(begin_frame(0))
        termini = (source(address_of_core), target()) if role == RECEIVER else (source(), target(address_of_core))
        foreign.say(link_frame(0, 0, role, *termini))
        assert foreign.wait_for(DETACH)["closed"] is True


def test_each_heartbeat_has_its_credit_back(edge: ForeignEdge) -> None:
    # 6.6: one flow lets a qdrouterd beat once.
    for beats in range(3):
        edge.beat(beats)
        assert edge.credit_of(edge.heartbeat.channel, edge.heartbeat.sending) == 2


# --- a foreign interior router


class Uplink:
    """What E has said before there were clients."""

    def __init__(self, foreign: ForeignInterior, router: RunningRouter) -> None:
        self.foreign, self.router = foreign, router
        self.said = foreign.accept()
        self.channels = [foreign.answer_begin() for _ in range(2)]
        attaches = [foreign.answer_attach() for _ in range(4)]
        self.up, self.down, self.tracking, self.heartbeat = self.attaches = attaches
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
    # 6.2, but for those of link routes
    assert uplink.channels == [ENDPOINTS, CORE]
    assert [(one.channel, one["handle"], one["role"]) for one in uplink.attaches] == [
        (ENDPOINTS, 0, False),
        (ENDPOINTS, 1, True),
        (CORE, 0, True),
        (CORE, 1, False),
    ]
    addresses = [
        tuple(terminus(one.typed(name)).get("address", NULL) for name in ("source", "target"))
        for one in uplink.attaches
    ]
    assert addresses == [(NULL, NULL), (str8("E"), NULL), (str8(TRACKING), NULL), (NULL, str8(HEARTBEAT))]
    names = [one["name"] for one in uplink.attaches]
    assert len(set(names)) == 4
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
