"""A router of ours, B, connects to a qdrouterd 1.19, A: the conversation of tests/vectors/inter-router/listener.hex.

Sections in parentheses are those of the protocol's description: inter-router protocol of Apache Qpid Dispatch 1.19.
"""

import re
import socket
from collections.abc import Iterator

import pytest
from proton import symbol

from tests.interop.foreign_frames import ACCEPTED, AMQP_HEADER, CREDIT, DATA, SASL_HEADER, open_frame, open_properties
from tests.interop.foreign_frames import CONTROL as CONTROL_CAPABILITY
from tests.interop.foreign_mesh import connector_to, listening, running_router
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    HINT_BALANCED,
    advertisement,
    annotations_of,
    hello,
    link_state_update,
    mobile_changes,
    mobile_request,
)
from tests.interop.foreign_octets import (
    ATTACH,
    BEGIN,
    DISPOSITION,
    FLOW,
    INIT,
    OPEN,
    Frame,
    Typed,
    entries,
    int32,
    list8,
    map8,
    section_map,
    smallint,
    str8,
    sym8,
    terminus,
    written,
)
from tests.interop.foreign_recordings import filled, recording
from tests.interop.foreign_router import WITHIN_S, ForeignRouter
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter

CHANNELS = range(11)
VECTORS = recording("listener")


class Opening:
    """What B has said before control messages."""

    def __init__(self, foreign: ForeignRouter) -> None:
        self.security_header = foreign.hear_header()
        foreign.say(VECTORS["security"])
        self.init = foreign.hear_frame()
        foreign.say(VECTORS["outcome"])
        self.header = foreign.hear_header()
        self.open = foreign.hear_frame()
        foreign.say(VECTORS["open"])
        self.frames: list[Frame] = []
        while len(self.attaches) < 2 * len(CHANNELS):
            self.frames.append(foreign.hear_frame())
        foreign.say(VECTORS["begins"])
        foreign.say(filled(VECTORS["attaches"], [one["name"].encode() for one in self.attaches]))
        for one in self.attaches:
            if not one["role"]:
                foreign.receiving[one.channel, one["handle"]] = one["handle"]
        foreign.control_handle = 1
        foreign.say(VECTORS["flows"])
        self.flows = [foreign.wait_for(FLOW) for _ in CHANNELS]

    @property
    def attaches(self) -> list[Frame]:
        """The attaches in the order in which they came."""
        return [one for one in self.frames if one.code == ATTACH]


class Conversation:
    """What B has said until a message was sent each way."""

    def __init__(self, foreign: ForeignRouter, opening: Opening, router: RunningRouter) -> None:
        self.foreign, self.opening = foreign, opening
        self.first_hello = foreign.control("HELLO")
        foreign.play(VECTORS["hello 0"])
        self.second_hello = foreign.control("HELLO")
        foreign.play(VECTORS["hello 1"])
        self.question = foreign.control("LSR")
        self.advertisement = foreign.control("RA")
        foreign.play(VECTORS["question"] + VECTORS["advertisement"])
        self.links = foreign.control("LSU")
        self.second_question = foreign.control("LSR")
        foreign.play(VECTORS["links"] + VECTORS["advertisement of addresses"])
        self.request = foreign.control("MAR")
        foreign.play(VECTORS["addresses"])
        with ProtonClient(router.port) as client:
            consumer = client.consumer("foo")
            self.differential = foreign.control("MAU")
            producer = client.producer("there")
            sent = producer.send("ho", priority=9)
            self.arrival = foreign.arrival()
            foreign.settle(self.arrival)
            self.outcome = sent.outcome()
            foreign.play(VECTORS["message"])
            self.received = consumer.take().message
            self.disposition = foreign.wait_for(DISPOSITION, role=True)
        self.withdrawal = foreign.control("MAU")


@pytest.fixture(scope="module")
def foreign_and_router() -> Iterator[tuple[ForeignRouter, RunningRouter]]:
    with listening() as server, running_router("B", connector_to(server)) as router, accepted(server) as foreign:
        yield foreign, router


@pytest.fixture(scope="module")
def foreign(foreign_and_router: tuple[ForeignRouter, RunningRouter]) -> ForeignRouter:
    return foreign_and_router[0]


@pytest.fixture(scope="module")
def opening(foreign: ForeignRouter) -> Opening:
    return Opening(foreign)


@pytest.fixture(scope="module")
def conversation(foreign_and_router: tuple[ForeignRouter, RunningRouter], opening: Opening) -> Conversation:
    return Conversation(foreign_and_router[0], opening, foreign_and_router[1])


# --- the opening


def test_the_connector_begins_with_the_security_layer(opening: Opening) -> None:
    # 1.2
    assert (opening.security_header, opening.header) == (SASL_HEADER, AMQP_HEADER)
    assert (opening.init.code, opening.init["mechanism"]) == (INIT, "ANONYMOUS")
    assert re.fullmatch(rb"anonymous@[^@]+", opening.init["initial-response"])


def test_the_open_says_what_connectors_say(opening: Opening) -> None:
    # 1.3
    one = opening.open
    assert (one.code, one.channel) == (OPEN, 0)
    assert (one.typed("container-id"), one.typed("hostname")) == (str8("B"), str8("127.0.0.1"))
    assert (one["max-frame-size"], one["channel-max"], one["idle-time-out"]) == (16384, 32767, 8000)
    assert one["offered-capabilities"] == one["desired-capabilities"] == ["ANONYMOUS-RELAY", "qd.streaming-links"]
    properties = entries(one.typed("properties"))
    assert {key.code for key, _ in properties} == {0xA3}
    values = {key.value: value for key, value in properties}
    number = values.pop("qd.conn-id")
    assert number in (smallint(number.value), int32(number.value))
    assert values.pop("qd.annotations-version") == smallint(1)
    assert {name: value.code for name, value in values.items()} == {"product": 0xA1, "version": 0xA1}


def test_eleven_sessions_are_begun_at_once(opening: Opening) -> None:
    # 1.4: no begin was answered before all attaches were here.
    begins = [one for one in opening.frames if one.code == BEGIN]
    assert [(one.channel, one["remote-channel"], one["next-outgoing-id"]) for one in begins] == [
        (channel, None, 0) for channel in CHANNELS
    ]
    assert all(one["incoming-window"] >= CREDIT for one in begins)
    assert len(begins) + len(opening.attaches) == len(opening.frames)


def test_receiver_and_sender_of_control_come_first_and_then_of_each_priority(opening: Opening) -> None:
    # 1.5, 1.6
    assert [(one.channel, one["handle"], one["role"]) for one in opening.attaches] == [
        (channel, handle, handle == 0) for channel in CHANNELS for handle in (0, 1)
    ]
    names = [one["name"] for one in opening.attaches]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"qdlink\.[\w+/-]{15}", name) for name in names)


def test_the_capability_is_a_bare_symbol_in_both_termini(opening: Opening) -> None:
    # 1.5, 8.1: an array of one symbol makes an ordinary link of it, which is refused.
    for one in opening.attaches:
        capability = DATA if one.channel else CONTROL_CAPABILITY
        octets = b"\xa3" + bytes([len(capability)]) + capability.encode()
        for name in ("source", "target"):
            found = terminus(one.typed(name))["capabilities"]
            assert (found, written(found)) == (sym8(capability), octets)


def test_the_other_fields_of_attaches_are_as_described(opening: Opening) -> None:
    # 1.5; what is left out stands for its default: mixed, first, no size, not durable, no time-out, not dynamic.
    for one in opening.attaches:
        assert one["snd-settle-mode"] in (None, 2)
        assert one["rcv-settle-mode"] in (None, 0)
        assert one["max-message-size"] in (None, 0)
        assert one["initial-delivery-count"] == 0 or one["role"]
        assert not one["unsettled"]
        for name in ("source", "target"):
            said = terminus(one.typed(name))
            assert said.pop("expiry-policy") == sym8("link-detach")
            del said["capabilities"]
            assert {field: value.value for field, value in said.items() if value.value} == {}


def test_each_receiver_grants_250_credits_after_the_answer(opening: Opening) -> None:
    # 1.5, 1.7
    flows = [(one.channel, one["handle"], one["delivery-count"] or 0, one["link-credit"]) for one in opening.flows]
    assert sorted(flows) == [(channel, 0, 0, CREDIT) for channel in CHANNELS]


# --- control messages


def test_who_has_not_heard_us_is_greeted_at_once(conversation: Conversation) -> None:
    instance = conversation.first_hello.value["instance"]
    assert conversation.first_hello.body == hello("B", instance, [])
    assert conversation.second_hello.body == hello("B", instance, ["A"])


def test_the_higher_cost_of_the_two_ends_is_advertised(conversation: Conversation) -> None:
    # 1.3: nothing is configured here, and 3 there.
    instance = conversation.first_hello.value["instance"]
    assert conversation.links.body == link_state_update("B", instance, 1, {"A": 3})
    assert conversation.links.to == "amqp:/_topo/0/A/qdrouter"


def test_questions_and_advertisements_name_us_as_their_origin(conversation: Conversation) -> None:
    instance = conversation.first_hello.value["instance"]
    assert conversation.advertisement.body == advertisement("B", instance, 1, 0)
    assert (conversation.question.to, conversation.question.trace) == ("amqp:/_topo/0/A/qdrouter", ["0/B"])
    assert conversation.second_question == conversation.question


def test_addresses_that_are_advertised_are_asked_for(conversation: Conversation) -> None:
    # 3.2, 3.9
    found = conversation.request
    assert (found.opcode, found.to, found.trace) == ("MAR", "amqp:/_topo/0/A/qdrouter.ma", ["0/B"])
    assert found.body == mobile_request("B", 0)
    assert [key for key, _ in entries(found.body)] == [sym8(name) for name in ("id", "pv", "area", "have_seq")]


def test_consumers_that_come_and_go_are_told_to_all(conversation: Conversation) -> None:
    assert conversation.differential.to == conversation.withdrawal.to == "_topo/0/all/qdrouter.ma"
    assert conversation.differential.body == mobile_changes("B", 1, ["M0foo"], [], HINT_BALANCED)
    assert conversation.withdrawal.body == mobile_changes("B", 2, [], ["M0foo"])


# --- messages


def test_a_message_leaves_by_the_link_of_its_priority(conversation: Conversation) -> None:
    arrival = conversation.arrival
    # The tenth pair; our sender of each has handle 1.
    assert (arrival.channel, arrival.handle, arrival.settled) == (10, 1, False)
    assert annotations_of(arrival.octets) == [
        ("x-opt-qd.to", "there"),
        ("x-opt-qd.ingress", "0/B"),
        ("x-opt-qd.trace", ["0/B"]),
    ]
    assert section_map(arrival.octets)[AMQP_VALUE] == str8("ho")
    assert conversation.outcome == "accepted"


def test_a_message_that_arrives_is_given_to_the_consumer_and_settled(conversation: Conversation) -> None:
    assert (conversation.received.body, conversation.received.annotations) == ("hi", {symbol("x-user"): 5})
    told = conversation.disposition
    assert (told.channel, told["first"], told["settled"], told.typed("state")) == (5, 0, True, ACCEPTED)


# --- reconnecting


def accepted(server: socket.socket, router_id: str = "A") -> ForeignRouter:
    """Return the next connection of the connector."""
    server.settimeout(WITHIN_S)
    return ForeignRouter(server.accept()[0], router_id)


def opened(foreign: ForeignRouter, **properties: Typed) -> None:
    """Let the connector in, with these properties."""
    foreign.say(VECTORS["security"], VECTORS["outcome"])
    foreign.say(AMQP_HEADER, open_frame("A", properties=open_properties(**properties)))
    assert (foreign.hear_header(), foreign.hear_frame().code) == (SASL_HEADER, INIT)
    assert foreign.hear_header() == AMQP_HEADER
    foreign.wait_for(BEGIN)


def test_a_connector_comes_back_and_begins_anew() -> None:
    with listening() as server, running_router("B", connector_to(server)):
        for _ in range(3):
            with accepted(server) as foreign:
                opened(foreign)


def test_a_connector_goes_where_its_listener_has_said_when_that_is_gone() -> None:
    # 1.3: the port is a string.
    with listening() as server, listening() as other, running_router("B", connector_to(server)):
        place = map8(str8("network-host"), str8("127.0.0.1"), str8("port"), str8(str(other.getsockname()[1])))
        with accepted(server) as foreign:
            opened(foreign, **{"failover-server-list": list8(place)})
            server.close()
        with accepted(other) as foreign:
            opened(foreign)
