"""A qdrouterd 1.19, B, connects to a router of ours, A: the conversation of tests/vectors/inter-router/connector.hex.

Sections in parentheses are those of the protocol's description: inter-router protocol of Apache Qpid Dispatch 1.19.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from proton import Message, symbol

from tests.interop.foreign_frames import ACCEPTED, AMQP_HEADER, CREDIT, DATA, SASL_HEADER, link_name
from tests.interop.foreign_frames import CONTROL as CONTROL_CAPABILITY
from tests.interop.foreign_mesh import running_router
from tests.interop.foreign_messages import (
    AMQP_VALUE,
    ANNOTATIONS,
    APPLICATION_PROPERTIES,
    HEADER,
    HINT_BALANCED,
    PROPERTIES,
    Control,
    annotations_of,
    hello,
    link_state_request,
    link_state_update,
    mobile_all,
    mobile_changes,
)
from tests.interop.foreign_messages import advertisement as advertised
from tests.interop.foreign_octets import (
    ATTACH,
    BEGIN,
    DISPOSITION,
    FALSE,
    FLOW,
    LIST0,
    NULL,
    OPEN,
    OUTCOME,
    Frame,
    entries,
    int32,
    list8,
    map8,
    section_map,
    smallint,
    str8,
    sym8,
    terminus,
)
from tests.interop.foreign_recordings import recording
from tests.interop.foreign_router import ForeignRouter
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter

CHANNELS = range(11)
VECTORS = recording("connector")


class Opening:
    """What A has answered to all that comes before control messages."""

    def __init__(self, foreign: ForeignRouter) -> None:
        foreign.say(VECTORS["security"])
        self.security_header = foreign.hear_header()
        self.mechanisms = foreign.hear_frame()
        self.outcome = foreign.hear_frame()
        foreign.say(VECTORS["open"])
        self.header = foreign.hear_header()
        self.open = foreign.hear_frame()
        foreign.say(VECTORS["begins"])
        self.begins = [foreign.hear_frame() for _ in CHANNELS]
        foreign.say(VECTORS["attaches"])
        self.frames: list[Frame] = []
        while len(self.flows) < len(CHANNELS) or len(self.attaches) < 2 * len(CHANNELS):
            self.frames.append(foreign.hear_frame())
        for one in self.attaches:
            if not one["role"]:
                foreign.receiving[one.channel, one["handle"]] = 0
        foreign.say(VECTORS["flows"])

    @property
    def attaches(self) -> list[Frame]:
        """The answers to attaches in the order in which they came."""
        return [one for one in self.frames if one.code == ATTACH]

    @property
    def flows(self) -> list[Frame]:
        """The flows."""
        return [one for one in self.frames if one.code == FLOW]


class Conversation:
    """What A has said until a message was sent each way, and C has joined behind B."""

    def __init__(self, foreign: ForeignRouter, opening: Opening, router: RunningRouter) -> None:
        self.foreign, self.opening = foreign, opening
        self.first_hello = foreign.control("HELLO")
        foreign.play(VECTORS["hello"])
        self.question = foreign.control("LSR")
        self.advertisement = foreign.control("RA")
        foreign.play(VECTORS["links 0"] + VECTORS["question"])
        self.links = foreign.control("LSU")
        foreign.play(VECTORS["advertisement"])
        self.second_question = foreign.control("LSR")
        foreign.play(VECTORS["links 1"] + VECTORS["addresses"] + VECTORS["advertisement of addresses"])
        self.second_hello = self._hello_that_has_seen_us()
        with ProtonClient(router.port) as client:
            consumer = client.consumer("here")
            self.differential = foreign.control("MAU")
            self.told_before = [one.value["mobile_seq"] for one in foreign.controls if one.opcode == "RA"]
            self.advertisement_of_addresses = self._advertisement_of_addresses()
            producer = client.producer("foo")
            self.sent = producer.send("hi", annotations={symbol("x-user"): 5})
            self.arrival = foreign.arrival()
            foreign.play(VECTORS["accepted"])
            self.outcome = self.sent.outcome()
            foreign.play(VECTORS["advertisement of C"] + VECTORS["links 2"])
            self.third_question = foreign.control("LSR")
            foreign.play(VECTORS["links of C"] + VECTORS["question of C"])
            self.absolute = foreign.control("MAU")
            foreign.play(VECTORS["message"] + VECTORS["message from C"])
            self.received = [consumer.take().message, consumer.take().message]
            self.dispositions = foreign.until(self._outcomes, "two outcomes")
            foreign.play(VECTORS["addresses gone"])
            producer.wait_for_no_credit()
            self.credit_at_last = producer.credit
        self.withdrawal = foreign.control("MAU")
        self.left_over = [one.opcode for one in foreign.controls]

    def _hello_that_has_seen_us(self) -> Control:
        while True:
            found = self.foreign.control("HELLO")
            if found.value["seen"]:
                return found

    def _advertisement_of_addresses(self) -> Control:
        while True:
            found = self.foreign.control("RA")
            if found.value["mobile_seq"]:
                return found

    def _outcomes(self) -> list[Frame] | None:
        found = [one for one in self.foreign.frames if one.code == DISPOSITION and one["role"]]
        decided = sum((one["last"] or one["first"]) - one["first"] + 1 for one in found)
        return found if decided == 2 else None


@pytest.fixture(scope="module")
def router() -> Iterator[RunningRouter]:
    with running_router("A") as router:
        yield router


@pytest.fixture(scope="module")
def foreign(router: RunningRouter) -> Iterator[ForeignRouter]:
    with ForeignRouter.to(router.port_of("routers")) as foreign:
        yield foreign


@pytest.fixture(scope="module")
def opening(foreign: ForeignRouter) -> Opening:
    return Opening(foreign)


@pytest.fixture(scope="module")
def conversation(foreign: ForeignRouter, opening: Opening, router: RunningRouter) -> Conversation:
    return Conversation(foreign, opening, router)


# --- the opening


def test_the_security_layer_comes_first_and_anonymous_is_let_in(opening: Opening) -> None:
    assert (opening.security_header, opening.header) == (SASL_HEADER, AMQP_HEADER)
    assert ForeignRouter.mechanisms(opening.mechanisms) == ["ANONYMOUS"]
    assert (opening.outcome.code, opening.outcome["code"]) == (OUTCOME, 0)


def test_the_open_says_what_listeners_say(opening: Opening) -> None:
    # 1.3
    one = opening.open
    assert (one.code, one.channel) == (OPEN, 0)
    assert one.typed("container-id") == str8("A")
    assert one.typed("hostname") == NULL
    limits = one["max-frame-size"], one["channel-max"], one["idle-time-out"]
    assert limits == (16384, 32767, 8000)
    assert one["offered-capabilities"] == one["desired-capabilities"] == ["ANONYMOUS-RELAY", "qd.streaming-links"]
    properties = entries(one.typed("properties"))
    assert {key.code for key, _ in properties} == {0xA3}, "what comes after a key that is no symbol is not read"
    values = {key.value: value for key, value in properties}
    number = values.pop("qd.conn-id")
    assert number in (smallint(number.value), int32(number.value))
    assert values.pop("qd.annotations-version") == smallint(1)
    assert {name: value.code for name, value in values.items()} == {"product": 0xA1, "version": 0xA1}


def test_every_begin_is_answered_on_its_channel_in_order(opening: Opening) -> None:
    assert [(one.code, one.channel, one["remote-channel"]) for one in opening.begins] == [
        (BEGIN, channel, channel) for channel in CHANNELS
    ]
    assert [one["next-outgoing-id"] for one in opening.begins] == [0] * len(CHANNELS)
    assert all(one["incoming-window"] >= CREDIT for one in opening.begins)


def test_every_attach_is_answered_in_order_with_the_same_name_handle_and_termini(opening: Opening) -> None:
    # 1.5, 1.6: priority is the order in which attaches are answered.
    answers = [(one.channel, one["name"], one["handle"], one["role"]) for one in opening.attaches]
    assert answers == [
        (channel, link_name(2 * channel + handle), handle, handle == 1) for channel in CHANNELS for handle in (0, 1)
    ]
    for one in opening.attaches:
        capability = sym8(DATA if one.channel else CONTROL_CAPABILITY)
        assert [terminus(one.typed(name))["capabilities"] for name in ("source", "target")] == [capability] * 2
        # Mixed, first, and any size are what is meant when nothing is said.
        assert one["snd-settle-mode"] in (None, 2)
        assert (one["rcv-settle-mode"] or 0, one["max-message-size"] or 0) == (0, 0)
        for name in ("source", "target"):
            fields = {field: value for field, value in terminus(one.typed(name)).items() if value.value}
            assert fields.keys() <= {"expiry-policy", "capabilities"}


def test_a_sending_link_says_how_its_deliveries_are_counted(opening: Opening) -> None:
    counts = {one["role"]: one["initial-delivery-count"] for one in opening.attaches}
    assert counts[False] == 0


def test_each_link_from_the_neighbour_gets_250_credits(opening: Opening) -> None:
    # 1.5, 1.7
    flows = [(one.channel, one["handle"], one["delivery-count"] or 0, one["link-credit"]) for one in opening.flows]
    assert sorted(flows) == [(channel, 1, 0, CREDIT) for channel in CHANNELS]


# --- control messages


def check_control(found: Control, opcode: str, to: str, body: Any, *, opcode_key: Any = None) -> None:
    """Check every section of a control message of A (3.1)."""
    assert found.sections == {
        HEADER: list8(FALSE),
        ANNOTATIONS: map8(
            *(sym8("x-opt-qd.ingress"), str8("0/A")),
            *(sym8("x-opt-qd.trace"), list8(str8("0/A"))),
        ),
        PROPERTIES: list8(NULL, NULL, str8(to)),
        APPLICATION_PROPERTIES: map8(opcode_key or str8("opcode"), str8(opcode)),
        AMQP_VALUE: body,
    }


def test_the_first_hello_has_seen_nobody(conversation: Conversation) -> None:
    found = conversation.first_hello
    instance = found.value["instance"]
    # Others compare it for inequality only, and take 0 for none.
    assert 0 < instance <= 0x7FFFFFFF
    check_control(found, "HELLO", "amqp:/_local/qdhello", hello("A", instance, []))
    assert dict(entries(found.body))[str8("seen")] == LIST0


def test_a_later_hello_has_seen_the_neighbour(conversation: Conversation) -> None:
    instance = conversation.first_hello.value["instance"]
    check_control(conversation.second_hello, "HELLO", "amqp:/_local/qdhello", hello("A", instance, ["B"]))


def test_a_neighbour_is_asked_for_its_links(conversation: Conversation) -> None:
    check_control(conversation.question, "LSR", "amqp:/_topo/0/B/qdrouter", link_state_request("A"))


def test_links_of_sequence_0_are_not_taken_and_asked_for_again(conversation: Conversation) -> None:
    # 3.5
    assert conversation.second_question == conversation.question


def test_a_new_neighbour_is_advertised(conversation: Conversation) -> None:
    instance = conversation.first_hello.value["instance"]
    to = "amqp:/_topo/0/all/qdrouter"
    check_control(conversation.advertisement, "RA", to, advertised("A", instance, 1, 0))


def test_the_links_are_told_to_who_asks(conversation: Conversation) -> None:
    instance = conversation.first_hello.value["instance"]
    body = link_state_update("A", instance, 1, {"B": 1})
    check_control(conversation.links, "LSU", "amqp:/_topo/0/B/qdrouter", body)


def test_a_consumer_is_told_to_all_routers_and_then_advertised(conversation: Conversation) -> None:
    found = conversation.differential
    check_differential(found, 1, add=["M0here"], delete=[])
    # The other way round, everybody would ask for what is told anyway (3.3).
    assert set(conversation.told_before) <= {0}
    instance = conversation.first_hello.value["instance"]
    advertisement = conversation.advertisement_of_addresses
    check_control(advertisement, "RA", "amqp:/_topo/0/all/qdrouter", advertised("A", instance, 1, 1))


def test_a_consumer_that_has_gone_is_told_to_all_routers(conversation: Conversation) -> None:
    check_differential(conversation.withdrawal, 2, add=[], delete=["M0here"])


def check_differential(found: Control, mobile_seq: int, *, add: list[str], delete: list[str]) -> None:
    """Check a MAU: symbols for keys, long for numbers, int for hints, and this order (3.1, 3.2)."""
    body = mobile_changes("A", mobile_seq, add, delete, HINT_BALANCED)
    check_control(found, "MAU", "_topo/0/all/qdrouter.ma", body, opcode_key=sym8("opcode"))
    keys = [key for key, _ in entries(found.body)]
    assert keys == [sym8(name) for name in ("id", "pv", "area", "mobile_seq", "hints", "add", "del")]


def test_a_router_that_has_joined_is_asked_for_its_links_through_the_neighbour(conversation: Conversation) -> None:
    check_control(conversation.third_question, "LSR", "amqp:/_topo/0/C/qdrouter", link_state_request("A"))


def test_who_asks_for_addresses_is_told_all_of_them(conversation: Conversation) -> None:
    body = mobile_all("A", 1, ["M0here"], [HINT_BALANCED])
    to = "amqp:/_topo/0/C/qdrouter.ma"
    check_control(conversation.absolute, "MAU", to, body, opcode_key=sym8("opcode"))
    assert [key.value for key, _ in entries(conversation.absolute.body)][-2:] == ["exist", "hints"]


def test_addresses_that_came_in_sequence_are_not_asked_for(conversation: Conversation) -> None:
    assert "MAR" not in conversation.left_over


# --- messages


def test_a_message_leaves_by_the_link_of_its_priority(conversation: Conversation) -> None:
    arrival = conversation.arrival
    # Priority 4 is the fifth pair, on channel 5; handle 0 answers the receiver of B.
    assert (arrival.channel, arrival.handle, arrival.frames) == (5, 0, 1)
    assert not arrival.settled
    assert 1 <= len(arrival.tag) <= 32


def test_a_message_is_marked_behind_the_annotations_of_users(conversation: Conversation) -> None:
    # 2.1: user, to, ingress, trace
    sections = section_map(conversation.arrival.octets)
    assert sections[ANNOTATIONS] == map8(
        *(sym8("x-user"), sections[ANNOTATIONS].value[1]),
        *(sym8("x-opt-qd.to"), str8("foo")),
        *(sym8("x-opt-qd.ingress"), str8("0/A")),
        *(sym8("x-opt-qd.trace"), list8(str8("0/A"))),
    )
    assert annotations_of(conversation.arrival.octets)[0] == ("x-user", 5)
    assert sections[AMQP_VALUE] == str8("hi")


def test_the_rest_of_a_message_is_as_the_client_has_sent_it(conversation: Conversation) -> None:
    sections = section_map(conversation.arrival.octets)
    del sections[ANNOTATIONS]
    sent = section_map(Message(body="hi").encode())
    assert sections == sent


def test_the_outcome_finds_its_way_back_to_the_client(conversation: Conversation) -> None:
    assert conversation.outcome == "accepted"


def test_clients_see_the_annotations_of_users_only(conversation: Conversation) -> None:
    annotated, other = conversation.received
    assert (annotated.body, annotated.annotations) == ("back", {symbol("x-user"): 7})
    assert (other.body, other.annotations) == ("plain", None)


def test_messages_from_the_neighbour_are_accepted_and_settled(conversation: Conversation) -> None:
    told = {(one.channel, one["settled"], one.typed("state")) for one in conversation.dispositions}
    assert told == {(5, True, ACCEPTED)}


def test_an_address_that_nobody_has_any_more_gets_no_credit(conversation: Conversation) -> None:
    assert conversation.credit_at_last == 0
