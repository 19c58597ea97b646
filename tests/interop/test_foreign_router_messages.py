"""Messages between a router of ours and a qdrouterd 1.19: links, annotations, outcomes, credit (1.6 to 2.6, 5)."""

from collections.abc import Callable, Iterator

import pytest
from proton import Message, symbol

from routerd.wire import Symbol, Target
from tests.interop.foreign_frames import ACCEPTED, CREDIT, DATA, SENDER, attach_frame, begin_frame, detach_frame
from tests.interop.foreign_mesh import Join, joining, running_router
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    HEADER,
    annotations_of,
    map32,
    message,
    routers_annotations,
)
from tests.interop.foreign_octets import (
    ATTACH,
    DETACH,
    DISPOSITION,
    FLOW,
    LIST0,
    NULL,
    TRUE,
    Typed,
    array8,
    described,
    list8,
    map8,
    plain,
    section_map,
    smallint,
    smalllong,
    smallulong,
    str8,
    sym8,
    terminus,
    ubyte,
    uint,
    written,
)
from tests.interop.foreign_router import ForeignRouter, Pair
from tests.system.proton_client import ProtonClient
from tests.system.raw_client import RawClient
from tests.system.routers import RunningRouter, section

RELEASED = described(0x26, LIST0)
REJECTED = described(0x25, list8(described(0x1D, list8(sym8("amqp:not-allowed"), str8("no")))))
FAILED = described(0x27, list8(TRUE))


@pytest.fixture(scope="module")
def router() -> Iterator[RunningRouter]:
    with running_router("A", sections=[section("address", prefix="waypoint", waypoint="yes")]) as router:
        yield router


@pytest.fixture
def foreign(join: Join) -> ForeignRouter:
    return join()


# --- priorities


@pytest.mark.parametrize(("priority", "channel"), [(0, 1), (3, 4), (4, 5), (8, 9), (9, 10), (200, 10)])
def test_a_message_leaves_by_the_link_of_its_priority(
    foreign: ForeignRouter, client: ProtonClient, address: str, priority: int, channel: int
) -> None:
    # 2.6; the header stays as it is.
    foreign.announce(f"M0{address}")
    client.producer(address).send("one", priority=priority, settled=True)
    arrival = foreign.arrival()
    assert (arrival.channel, arrival.settled) == (channel, True)
    assert (plain(section_map(arrival.octets)[HEADER]) + [None] * 2)[1] == (None if priority == 4 else priority)


def test_a_message_without_a_header_has_priority_4(foreign: ForeignRouter, client: ProtonClient, address: str) -> None:
    foreign.announce(f"M0{address}")
    octets = message(str8("one"), header=None, properties=None)
    client.producer(address).send_encoded(octets, settled=True)
    assert foreign.arrival().channel == 5


@pytest.mark.parametrize(("pairs", "priority", "channel"), [(1, 0, 1), (1, 9, 1), (3, 9, 3), (3, 1, 2)])
def test_the_next_lower_link_is_taken_where_there_is_none_of_a_priority(
    join: Join, client: ProtonClient, address: str, pairs: int, priority: int, channel: int
) -> None:
    # 1.6
    foreign = join(pairs=pairs)
    foreign.announce(f"M0{address}")
    client.producer(address).send("one", priority=priority, settled=True)
    assert foreign.arrival().channel == channel


def test_a_data_link_that_is_detached_leaves_a_hole(foreign: ForeignRouter, client: ProtonClient, address: str) -> None:
    foreign.announce(f"M0{address}")
    foreign.say(detach_frame(6, 0))
    foreign.wait_for(DETACH, channel=6)
    producer = client.producer(address)
    for priority in (5, 6):
        producer.send(priority, priority=priority, settled=True)
    assert {foreign.arrival().channel, foreign.arrival().channel} == {5, 7}


# --- what messages to the neighbour say


def test_the_target_of_the_link_overrides_the_address_of_the_message(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    foreign.announce(f"M0{address}")
    client.producer(address).send("one", address="elsewhere", settled=True)
    annotations = [("x-opt-qd.to", address), ("x-opt-qd.ingress", "0/A"), ("x-opt-qd.trace", ["0/A"])]
    assert annotations_of(foreign.arrival().octets) == annotations


def test_an_anonymous_producer_leaves_the_address_to_the_message(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 2.5
    foreign.announce(f"M0{address}")
    sent = client.producer(None).send("one", address=address)
    arrival = foreign.arrival()
    assert annotations_of(arrival.octets) == [("x-opt-qd.ingress", "0/A"), ("x-opt-qd.trace", ["0/A"])]
    foreign.settle(arrival)
    assert sent.outcome() == "accepted"


def test_a_phase_is_an_int_before_all_others(router: RunningRouter, foreign: ForeignRouter, address: str) -> None:
    # 2.1, 4.3
    foreign.announce(f"M1{address}")
    with RawClient(router.port) as raw:
        raw.open()
        raw.attach_producer(None, target=Target(address=address, capabilities=(Symbol("qd.waypoint"),)))
        raw.wait_for_credit()
        raw.transfer(Message(body="one", annotations={symbol("x-user"): True}).encode(), settled=True)
        sections = section_map(foreign.arrival().octets)
    assert sections[0x72] == map8(
        *(sym8("x-user"), TRUE),
        *(sym8("x-opt-qd.phase"), smallint(1)),
        *(sym8("x-opt-qd.to"), str8(address)),
        *(sym8("x-opt-qd.ingress"), str8("0/A")),
        *(sym8("x-opt-qd.trace"), list8(str8("0/A"))),
    )


# --- what messages from the neighbour may say


def from_neighbour(foreign: ForeignRouter, to: str) -> list[Typed]:
    """Return the annotations of a message from a client of the neighbour."""
    return routers_annotations(to=to, ingress=foreign.mark, trace=[foreign.mark])


FORMS: dict[str, Callable[[list[Typed]], Typed]] = {
    "map8": lambda entries: map8(*entries),
    "map32": lambda entries: map32(*entries),
    "sym32": lambda entries: map32(*(Typed(0xB3, one.value) if one.code == 0xA3 else one for one in entries)),
    "str32": lambda entries: map32(*(Typed(0xB1, one.value) if one.code == 0xA1 else one for one in entries)),
    "list32": lambda entries: map8(*(Typed(0xD0, one.value) if one.code == 0xC0 else one for one in entries)),
    "other order": lambda entries: map8(*entries[4:6], *entries[0:2], *entries[2:4]),
    "obsolete": lambda entries: map8(sym8("x-opt-qd.class"), smallint(1), sym8("x-opt-qd."), str8("?"), *entries),
    "phase": lambda entries: map8(*entries, sym8("x-opt-qd.phase"), ubyte(0)),
    "stream": lambda entries: map8(*entries, sym8("x-opt-qd.stream"), smallint(1)),
}


@pytest.mark.parametrize("form", FORMS)
def test_annotations_may_be_written_in_many_ways(
    foreign: ForeignRouter, client: ProtonClient, address: str, form: str
) -> None:
    consumer = client.consumer(address)
    section = described(0x72, FORMS[form](from_neighbour(foreign, address)))
    octets = message(str8("one"), header=None, properties=None)
    number = foreign.send(foreign.pairs[4], written_before(section, octets))
    assert foreign.outcome(foreign.pairs[4], number) == ACCEPTED
    received = consumer.take().message
    assert (received.body, received.annotations) == ("one", None)


def written_before(section: Typed, octets: bytes) -> bytes:
    """Return octets with a section before them."""
    return written(section) + octets


def test_keys_of_users_behind_those_of_routers_do_no_harm(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 2.2: 1.19 loses them; here they are kept.
    consumer = client.consumer(address)
    annotations = [*from_neighbour(foreign, address), sym8("x-user"), smallint(5)]
    foreign.send(foreign.pairs[4], message(str8("one"), annotations=annotations), settled=True)
    assert consumer.take().message.annotations == {symbol("x-user"): 5}


@pytest.mark.parametrize("phase", [ubyte(1), smallint(1), smalllong(1), uint(1)], ids=["ubyte", "int", "long", "uint"])
def test_a_phase_is_a_number_of_any_type(
    foreign: ForeignRouter, client: ProtonClient, address: str, phase: Typed
) -> None:
    consumer = client.consumer(f"waypoint.{address}")
    annotations = [sym8("x-opt-qd.phase"), phase, *from_neighbour(foreign, f"waypoint.{address}")]
    foreign.send(foreign.pairs[4], message(str8("one"), annotations=annotations), settled=True)
    assert consumer.take().body == "one"


def test_a_trace_of_other_routers_within_the_radius_is_no_matter(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    consumer = client.consumer(address)
    annotations = routers_annotations(to=address, ingress="0/X", trace=["0/X", foreign.mark])
    foreign.send(foreign.pairs[4], message(str8("one"), annotations=annotations), settled=True)
    assert consumer.take().body == "one"


WRONG: dict[str, tuple[list[Typed], str]] = {
    "trace of symbols": ([sym8("x-opt-qd.trace"), list8(sym8("0/B"))], "amqp:invalid-field"),
    "trace an array": ([sym8("x-opt-qd.trace"), array8(0xA1, "0/B")], "amqp:invalid-field"),
    "trace a string": ([sym8("x-opt-qd.trace"), str8("0/B")], "amqp:invalid-field"),
    "ingress a symbol": ([sym8("x-opt-qd.ingress"), sym8("0/B")], "amqp:invalid-field"),
    "to a symbol": ([sym8("x-opt-qd.to"), sym8("there")], "amqp:invalid-field"),
    "phase a string": ([sym8("x-opt-qd.phase"), str8("1")], "amqp:invalid-field"),
    "no address": ([sym8("x-opt-qd.ingress"), str8("0/B")], "amqp:precondition-failed"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_annotations_that_are_wrong_have_the_message_rejected(foreign: ForeignRouter, wrong: str) -> None:
    # 2.2, 2.5
    annotations, condition = WRONG[wrong]
    to = NULL if wrong == "no address" else str8("nowhere")
    pair = foreign.pairs[4]
    number = foreign.send(pair, message(str8("one"), annotations=annotations, properties=list8(NULL, NULL, to)))
    descriptor, fields = plain(foreign.outcome(pair, number))
    assert (descriptor, fields[0][1][0]) == (0x25, condition)


def test_a_message_that_has_come_too_far_is_released(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 2.3: the farthest router is one hop away.
    consumer = client.consumer(address)
    trace = [f"0/{name}" for name in "VWXYZ"]
    pair = foreign.pairs[4]
    annotations = routers_annotations(to=address, ingress=trace[0], trace=trace)
    number = foreign.send(pair, message(str8("far"), annotations=annotations))
    assert foreign.outcome(pair, number) == RELEASED
    foreign.send(pair, message(str8("near"), annotations=from_neighbour(foreign, address)), settled=True)
    assert consumer.take().body == "near"


@pytest.mark.parametrize(
    "to",
    ["nowhere", "amqp:/_topo/0/all/qdrouter", "_topo/0/A/qdrouter.ma", "amqp:/_local/qdhello", "amqp:/_topo/0/Z/x"],
)
def test_what_nobody_takes_on_data_links_is_released(foreign: ForeignRouter, to: str) -> None:
    # 3.1, 5.5
    pair = foreign.pairs[4]
    number = foreign.send(pair, message(str8("one"), annotations=from_neighbour(foreign, to)))
    assert foreign.outcome(pair, number) == RELEASED


def test_octets_that_are_no_message_are_rejected(foreign: ForeignRouter) -> None:
    pair = foreign.pairs[4]
    number = foreign.send(pair, b"\x00\x53\x72\xc1\x05\x02\xa3\x7f\x00\x00")
    descriptor, fields = plain(foreign.outcome(pair, number))
    assert (descriptor, fields[0][1][0]) == (0x25, "amqp:decode-error")


def test_clients_reach_no_engine_of_the_routing_protocol(client: ProtonClient) -> None:
    producer = client.producer(None)
    for to in ("amqp:/_topo/0/all/qdrouter", "amqp:/_topo/0/A/qdrouter", "_topo/0/all/qdrouter.ma"):
        assert producer.send({"id": "X", "pv": 1}, address=to, properties={"opcode": "RA"}).outcome() == "released"


def test_management_answers_other_routers(foreign: ForeignRouter) -> None:
    # 4.5
    annotations = routers_annotations(ingress=foreign.mark, trace=[foreign.mark])
    reply_to = f"amqp:/_topo/0/{foreign.id}/temp.000000000000001"
    properties = list8(NULL, NULL, str8("amqp:/_topo/0/A/$management"), NULL, str8(reply_to), smallulong(7))
    application = map8(*(str8("operation"), str8("GET-MGMT-NODES")), *(str8("type"), str8("org.amqp.management")))
    octets = message(NULL, annotations=annotations, properties=properties, application_properties=application)
    pair = foreign.pairs[4]
    number = foreign.send(pair, octets)
    arrival = foreign.arrival()
    answer = Message()
    answer.decode(arrival.octets)
    assert (answer.address, answer.correlation_id, answer.properties["statusCode"]) == (reply_to, 7, 200)
    assert f"amqp:/_topo/0/{foreign.id}/$management" in answer.body
    assert annotations_of(arrival.octets)[-2:] == [("x-opt-qd.ingress", "0/A"), ("x-opt-qd.trace", ["0/A"])]
    assert foreign.outcome(pair, number) == ACCEPTED


# --- outcomes and credit


@pytest.mark.parametrize(
    ("state", "expected"),
    [(ACCEPTED, "accepted"), (REJECTED, "rejected"), (RELEASED, "released"), (FAILED, "modified")],
    ids=["accepted", "rejected", "released", "modified"],
)
def test_outcomes_of_the_neighbour_reach_the_client(
    foreign: ForeignRouter, client: ProtonClient, address: str, state: Typed, expected: str
) -> None:
    foreign.announce(f"M0{address}")
    sent = client.producer(address).send("one")
    foreign.settle(foreign.arrival(), state)
    assert sent.outcome() == expected
    assert (sent.condition, sent.is_failed) == ("amqp:not-allowed" if expected == "rejected" else None, state == FAILED)


@pytest.mark.parametrize("outcome", ["accepted", "rejected", "released", "modified"])
def test_outcomes_of_clients_reach_the_neighbour(
    foreign: ForeignRouter, client: ProtonClient, address: str, outcome: str
) -> None:
    client.consumer(address, outcome=outcome)
    pair = foreign.pairs[4]
    number = foreign.send(pair, message(str8("one"), annotations=from_neighbour(foreign, address)))
    codes = {"accepted": 0x24, "rejected": 0x25, "released": 0x26, "modified": 0x27}
    assert plain(foreign.outcome(pair, number))[0] == codes[outcome]


def test_a_neighbour_that_vanishes_leaves_messages_failed(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 5.5
    foreign.announce(f"M0{address}")
    sent = client.producer(address).send("one")
    foreign.arrival()
    foreign.socket.close()
    assert (sent.outcome(), sent.is_failed, sent.is_undeliverable) == ("modified", True, False)


def test_credit_comes_back_before_messages_are_settled(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 1.7
    consumer = client.consumer(address, credit=1000, outcome=None)
    pair = foreign.pairs[4]
    octets = message(str8("one"), annotations=from_neighbour(foreign, address))
    for _ in range(CREDIT):
        foreign.send(pair, octets)
    consumer.wait_for(CREDIT)

    def granted() -> bool | None:
        flows = [one for one in foreign.frames if (one.code, one.channel) == (FLOW, 5) and one["handle"] == 1]
        reached = [one["delivery-count"] + one["link-credit"] for one in flows]
        return True if any(one >= CREDIT + CREDIT // 2 for one in reached) else None

    assert foreign.until(granted, "credit comes back")
    assert not [one for one in foreign.frames if one.code == DISPOSITION]


def test_a_message_does_not_go_back_to_where_it_came_from(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    address = f"multicast.{address}"
    foreign.announce(f"M0{address}", hint=0)
    consumer = client.consumer(address)
    annotations = from_neighbour(foreign, address)
    foreign.send(foreign.pairs[4], message(str8("theirs"), annotations=annotations), settled=True)
    assert consumer.take().body == "theirs"
    client.producer(address).send("ours", settled=True)
    assert consumer.take().body == "ours"
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("ours")


# --- large messages

LARGE = bytes(range(256)) * 4000
"""About a megabyte: more than a message may have that is not streamed (1.8)."""


def data_section(octets: bytes) -> bytes:
    """Return a body of octets."""
    return b"\x00\x53\x75\xb0" + len(octets).to_bytes(4, "big") + octets


def large_message(foreign: ForeignRouter, to: str) -> bytes:
    """Return a large message of a client of the neighbour."""
    return message(NULL, annotations=from_neighbour(foreign, to))[:-4] + data_section(LARGE)


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "unsettled"])
def test_a_message_of_many_frames_may_come_by_any_data_link(
    foreign: ForeignRouter, client: ProtonClient, address: str, settled: bool
) -> None:
    consumer = client.consumer(address)
    pair = foreign.pairs[4]
    number = foreign.send(pair, large_message(foreign, address), settled=settled)
    assert consumer.take().body == LARGE
    if not settled:
        assert foreign.outcome(pair, number) == ACCEPTED


def test_streaming_links_may_be_attached_at_any_time_on_sessions_of_their_own_or_on_one(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 1.8, 1.4
    consumer = client.consumer(address)
    pairs = [
        foreign.attach_data(11),
        foreign.attach_data(12),
        foreign.attach_data(12, begins=False, first_handle=2),
        foreign.attach_data(12, begins=False, first_handle=4),
    ]
    for pair in pairs:
        number = foreign.send(pair, large_message(foreign, address))
        assert consumer.take().body == LARGE
        assert foreign.outcome(pair, number) == ACCEPTED


def test_a_streaming_link_without_its_other_direction_is_taken(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    consumer = client.consumer(address)
    foreign.say(begin_frame(11), attach_frame(11, "qdlink.streaming0000001", 0, SENDER, sym8(DATA)))
    foreign.wait_for(ATTACH, channel=11, role=True)
    assert foreign.wait_for(FLOW, channel=11)["link-credit"] == CREDIT
    pair = Pair(11, sending=0)
    number = foreign.send(pair, large_message(foreign, address))
    assert consumer.take().body == LARGE
    assert foreign.outcome(pair, number) == ACCEPTED


class Large:
    """A large message of a client that is on its way, and as long as it is."""

    def __init__(self, client: ProtonClient, address: str, *, settled: bool = False) -> None:
        self._octets = Message(body=LARGE, annotations={symbol("x-user"): 1}).encode()
        self._begun = client.producer(address).begin(settled=settled)
        self._begun.write(self._octets[: len(LARGE) // 2])
        self.sent = self._begun.sent

    def end(self) -> None:
        """Send the other half."""
        self._begun.write_all([self._octets[len(LARGE) // 2 :]])


def test_a_large_message_leaves_by_a_link_of_its_own(
    foreign: ForeignRouter, client: ProtonClient, address: str
) -> None:
    # 1.8: a new session, attached like a data link, frames of the size that the neighbour takes.
    foreign.announce(f"M0{address}")
    large = Large(client, address)
    attach = foreign.accept_stream(20)
    assert (attach["role"], attach["initial-delivery-count"]) == (False, 0)
    assert [terminus(attach.typed(name))["capabilities"] for name in ("source", "target")] == [sym8(DATA)] * 2
    large.end()
    arrival = foreign.arrival()
    assert (arrival.channel, arrival.handle) == (attach.channel, attach["handle"])
    assert arrival.frames > len(LARGE) // 16384
    assert annotations_of(arrival.octets) == [
        ("x-user", 1),
        ("x-opt-qd.to", address),
        ("x-opt-qd.ingress", "0/A"),
        ("x-opt-qd.trace", ["0/A"]),
    ]
    assert section_map(arrival.octets)[AMQP_VALUE].value == LARGE
    foreign.settle(arrival)
    assert large.sent.outcome() == "accepted"


def test_a_streaming_link_is_used_again(foreign: ForeignRouter, client: ProtonClient, address: str) -> None:
    foreign.announce(f"M0{address}")
    channels = set()
    for number in range(3):
        large = Large(client, address)
        if number == 0:
            foreign.accept_stream(20)
        large.end()
        arrival = foreign.arrival()
        channels.add((arrival.channel, arrival.handle))
        foreign.settle(arrival)
        assert large.sent.outcome() == "accepted"
    assert len(channels) == 1


def test_a_large_message_that_is_all_there_waits_for_no_link_of_its_own(address: str) -> None:
    # Nothing happens on the trunk meanwhile; the neighbour does not answer the link for large messages.
    with running_router("A", is_taciturn=True) as router, joining(router) as join, ProtonClient(router.port) as client:
        foreign = join()
        foreign.announce(f"M0{address}")
        producer = client.producer(address)
        for _ in range(3):
            producer.send(LARGE, settled=True)
            arrival = foreign.arrival()
            assert (arrival.channel, section_map(arrival.octets)[AMQP_VALUE].value) == (5, LARGE)


def test_small_messages_pass_large_ones(foreign: ForeignRouter, client: ProtonClient, address: str) -> None:
    foreign.announce(f"M0{address}")
    large = Large(client, address, settled=True)
    foreign.accept_stream(20)
    client.producer(address).send("small", settled=True)
    assert section_map(foreign.arrival().octets)[AMQP_VALUE] == str8("small")
    large.end()
    assert section_map(foreign.arrival().octets)[AMQP_VALUE].value == LARGE
