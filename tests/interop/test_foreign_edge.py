"""A qdrouterd 1.19 in edge mode, X, at a router of ours, A.

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
    LOOKUP,
    TRACKING,
    ForeignEdge,
    edges,
    link_frame,
    source,
    target,
)
from tests.interop.foreign_frames import (
    ACCEPTED,
    RECEIVER,
    SENDER,
    begin_frame,
    flow_frame,
)
from tests.interop.foreign_mesh import running_router
from tests.interop.foreign_messages import (
    AMQP_VALUE,
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
    LIST0,
    NULL,
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
)
from tests.interop.foreign_router import Pair
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter
from tests.waiting import eventually

RELEASED = described(0x26, LIST0)
MODIFIED = 0x27


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


def test_a_link_route_is_made_and_everything_goes_on(
    edge: ForeignEdge, client: ProtonClient, address: str
) -> None:
    # 6.8
    number = edge.propose_link_route()
    assert edge.outcome(edge.requests, number) == ACCEPTED
    sections = section_map(edge.came_on(CORE, 2).octets)
    told = plain(sections[APPLICATION_PROPERTIES])
    assert (told["statusCode"], told["statusDescription"]) == (201, "Created")
    made = plain(sections[AMQP_VALUE])
    assert isinstance(made.pop("identity"), str)
    assert (made["pattern"], made["direction"], made["containerId"]) == ("lr/#", "in", edge.id)
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
    client.wait_until(lambda: consumer.partial_octets, "the message has begun to arrive")
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
        assert (detached["error"] is None) is (address_of_core != TRACKING)


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
