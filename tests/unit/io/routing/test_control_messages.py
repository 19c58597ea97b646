"""Messages of the routing protocol as octets: what we write, what we read, and what is no such message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.routing.control_messages import decoded, encoded
from routerd.mesh import (
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MalformedControl,
    MobileAddressRequest,
    MobileAddressUpdate,
    RouterAdvertisement,
)
from routerd.wire import AmqpValue, Array, Data, Described, Header, Int, Message, Properties, Symbol, ULong, encode

TO_ALL = "amqp:/_topo/0/all/qdrouter"
CONTROLS = [
    Hello("A", 1700000000, ("B", "C")),
    Hello("A"),
    RouterAdvertisement("A", 1, 7, 9),
    LinkStateRequest("A"),
    LinkStateUpdate("A", 1, 7, {"B": 1, "C": 5}),
    MobileAddressRequest("A", 3),
    MobileAddressUpdate("A", 4, ("M0a", "M0b"), ("M0c",), hints=(3, 1)),
    MobileAddressUpdate("A", 4, exist=("M0a", "Clr"), hints=(3, 4)),
]


def told(control, to=TO_ALL, trace=("0/A",)):
    return ControlMessage(to, control.OPCODE, control.to_body(), "0/A", trace)


def written(**sections):
    """A control message that another router might write: sections of a hello, but for those that are given."""
    whole = {
        "header": Header(durable=False),
        "message_annotations": {Symbol("x-opt-qd.ingress"): "0/N", Symbol("x-opt-qd.trace"): ["0/N"]},
        "properties": Properties(to=TO_ALL),
        "application_properties": {"opcode": "HELLO"},
        "body": AmqpValue({"id": "N"}),
    }
    return bytes(Message(**whole | sections).encode())


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.OPCODE)
def test_what_is_written_is_read_again(control):
    message = told(control)
    assert decoded(encoded(message)) == message
    assert type(control).from_body(decoded(encoded(message)).body) == control


def test_ingress_and_trace_may_be_missing():
    message = ControlMessage(TO_ALL, "RA", {"id": "A"})
    assert decoded(encoded(message)) == message


def test_sections_are_those_of_existing_routers_in_their_order():
    octets = encoded(ControlMessage(TO_ALL, "RA", {"id": "B", "pv": Int(1)}, "0/B", ("0/B",)))
    sections = [
        Described(ULong(0x70), [False]),
        Described(ULong(0x72), {Symbol("x-opt-qd.ingress"): "0/B", Symbol("x-opt-qd.trace"): ["0/B"]}),
        Described(ULong(0x73), [None, None, TO_ALL]),
        Described(ULong(0x74), {"opcode": "RA"}),
        Described(ULong(0x77), {"id": "B", "pv": Int(1)}),
    ]
    assert octets == b"".join(encode(section) for section in sections)
    assert b"\x54\x01" in octets


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.OPCODE)
def test_the_key_of_the_opcode_is_a_symbol_where_addresses_are_told(control):
    key = b"\xa3\x06opcode" if control.OPCODE in ("MAU", "MAR") else b"\xa1\x06opcode"
    octets = encoded(told(control))
    assert (octets.count(key), octets.count(b"opcode")) == (1, 1)


@pytest.mark.parametrize(
    "sections",
    [
        {"header": None},
        {"application_properties": {"opcode": "HELLO", "other": 1}},
        {"body": AmqpValue({Symbol("id"): "N"})},
        {"delivery_annotations": {Symbol("x"): 1}},
        {"footer": {Symbol("x"): 1}},
        {"message_annotations": {Symbol("x-opt-qd.ingress"): "0/N", Symbol("x-opt-qd.trace"): [Symbol("0/N")]}},
    ],
    ids=lambda sections: next(iter(sections)),
)
def test_what_others_may_write_otherwise_does_not_matter(sections):
    message = decoded(written(**sections))
    assert (message.to, message.opcode, message.ingress, message.trace) == (TO_ALL, "HELLO", "0/N", ("0/N",))
    assert [type(step) for step in message.trace] == [str]
    assert dict(message.body) == {"id": "N"}


def test_an_opcode_may_be_a_symbol():
    octets = written().replace(b"\xa1\x06opcode\xa1\x05HELLO", b"\xa3\x06opcode\xa3\x05HELLO")
    message = decoded(octets)
    assert (message.opcode, type(message.opcode)) == ("HELLO", str)


@pytest.mark.parametrize("annotations", [None, {}, {Symbol("x"): 1}, {Symbol("x-opt-qd.ingress"): 5}])
def test_where_it_entered_may_not_be_said(annotations):
    message = decoded(written(message_annotations=annotations))
    assert (message.ingress, message.trace) == (None, ())


@pytest.mark.parametrize(
    ("octets", "reason"),
    [
        (b"", "no opcode"),
        (b"\x00", "no message: "),
        (b"garbage", "no message: "),
        (written()[:-3], "no message: "),
        (written(application_properties=None), "no opcode"),
        (written(application_properties={}), "no opcode"),
        (written(application_properties={"opcode": 5}), "no opcode"),
        (written(application_properties={"Opcode": "RA"}), "no opcode"),
        (written(properties=None), "HELLO without a `to` or a map"),
        (written(properties=Properties(to=None)), "HELLO without a `to` or a map"),
        (written().partition(b"\x00\x53\x77")[0], "HELLO without a `to` or a map"),
        (written(body=AmqpValue([])), "HELLO without a `to` or a map"),
        (written(body=AmqpValue(None)), "HELLO without a `to` or a map"),
        (written(body=Data([b"x"])), "HELLO without a `to` or a map"),
        (written(message_annotations={Symbol("x-opt-qd.trace"): "0/N"}), "trace that is not a list of strings"),
        (written(message_annotations={Symbol("x-opt-qd.trace"): [1]}), "trace that is not a list of strings"),
        (
            written(message_annotations={Symbol("x-opt-qd.trace"): Array("string", ["0/N"])}),
            "trace that is not a list of strings",
        ),
    ],
)
def test_what_is_no_control_message_is_malformed(octets, reason):
    with pytest.raises(MalformedControl, match=reason):
        decoded(octets)


@given(octets=st.binary(max_size=80), at=st.integers(0, 140), cut=st.booleans())
def test_any_octets_are_read_or_malformed(octets, at, cut):
    whole = written()
    for damaged in (octets, whole[:at] + octets + whole[at if cut else at + len(octets) :]):
        try:
            message = decoded(damaged)
        except MalformedControl:
            continue
        assert isinstance(message, ControlMessage)
