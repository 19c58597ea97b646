"""The flow performative, composed and read in place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.composite import encode_composite
from routerd.wire.decoder import Decoder
from routerd.wire.errors import DecodeError
from routerd.wire.flow import FlowFields, write_flow
from routerd.wire.output import Output
from routerd.wire.performatives import Flow
from routerd.wire.types import Symbol
from tests.conformance.raw_peer import parsed
from tests.unit.wire.strategies import composites, likeness

NAMES = (
    "next_incoming_id",
    "incoming_window",
    "next_outgoing_id",
    "outgoing_window",
    "handle",
    "delivery_count",
    "link_credit",
    "available",
)
uints = st.integers(0, 2**32 - 1) | st.sampled_from([0, 255, 256])
optional = st.none() | uints


def fields_read(octets):
    """The fields of a flow whose list is encoded so."""
    decoder = Decoder(octets)
    fields = FlowFields()
    fields.read(decoder)
    return fields


def as_flow(fields):
    numbers = {name: None if getattr(fields, name) < 0 else getattr(fields, name) for name in NAMES}
    return Flow(**numbers, drain=fields.drain, echo=fields.echo, properties=fields.properties)


def body(performative):
    out = bytearray()
    encode_composite(out, performative)
    return bytes(out)


@given(composites(Flow))
def test_every_field_of_a_flow_is_read(flow):
    assert likeness(as_flow(fields_read(body(flow)[3:]))) == likeness(flow)


@given(
    st.integers(0, 65535),
    st.tuples(optional, uints, uints, uints, uints, optional, optional, optional),
    st.booleans(),
    st.booleans(),
)
def test_a_flow_of_a_link_is_composed_as_it_is_read(channel, numbers, drain, echo):
    out = Output()
    write_flow(out, channel, *(-1 if value is None else value for value in numbers), drain, echo)
    octets = bytes(out.take())
    expected = Flow(**dict(zip(NAMES, numbers, strict=True)), drain=drain, echo=echo)
    assert parsed(octets) == (expected, channel, b"")
    assert int.from_bytes(octets[:4], "big") == len(octets)


@given(optional, uints, uints, uints, st.booleans())
def test_a_flow_of_the_session_has_no_fields_of_a_link(seen, incoming, following, outgoing, echo):
    out = Output()
    write_flow(out, 1, -1 if seen is None else seen, incoming, following, outgoing, -1, -1, -1, -1, False, echo)
    octets = bytes(out.take())
    expected = dict(zip(NAMES, (seen, incoming, following, outgoing), strict=False))
    assert parsed(octets) == (Flow(**expected, echo=echo), 1, b"")
    # The list ends with the last field that has a value: drain stays null (2.7.4).
    assert octets[8 + 5] == (10 if echo else 4)


def test_fields_that_were_read_are_cleared_for_the_next_flow():
    fields = FlowFields()
    full = Flow(
        next_incoming_id=1,
        incoming_window=2,
        next_outgoing_id=3,
        outgoing_window=4,
        handle=5,
        delivery_count=6,
        link_credit=7,
        available=8,
        drain=True,
        echo=True,
        properties={Symbol("a"): 1},
    )
    bare = Flow(incoming_window=0, next_outgoing_id=0, outgoing_window=0)
    for flow in (full, bare):
        fields.read(Decoder(body(flow)[3:]))
        assert as_flow(fields) == flow
    fields.clear()
    assert [getattr(fields, name) for name in NAMES] == [-1] * 8


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        ("c0 0d 0c" + "40" * 12, "a flow has 11 fields at most, not 12"),
        ("45", "a flow without one of its mandatory windows and ids"),
        ("c0 04 03 40 43 43", "a flow without one of its mandatory windows and ids"),
        ("c0 05 04 40 40 43 43", "a flow without one of its mandatory windows and ids"),
        ("c0 05 04 40 43 40 43", "a flow without one of its mandatory windows and ids"),
        ("c0 05 04 40 43 43 40", "a flow without one of its mandatory windows and ids"),
        ("c0 06 04 40 43 43 43 43", "the fields of a flow do not fill its"),
    ],
)
def test_a_list_that_is_no_flow_is_refused(octets, words):
    with pytest.raises(DecodeError, match=words):
        fields_read(bytes.fromhex(octets))
