"""Composite types to octets and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.amqp_error import Error
from routerd.wire.composite import decode_composite, decode_state, encode_composite, encode_state
from routerd.wire.decoder import Decoder, decode
from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError, EncodeError, InvalidField
from routerd.wire.outcomes import ACCEPTED, RELEASED, Accepted, Modified, Received, Rejected, Released
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.sasl_frames import SaslInit, SaslMechanisms, SaslOutcome
from routerd.wire.terminus import Coordinator, Source, Target
from routerd.wire.types import Array, Described, FieldType, PairMap, Symbol, UInt, ULong, identity
from tests.unit.wire.strategies import (
    FIELD_VALUES,
    any_composite,
    damaged,
    encoded_composites,
    legal_encodings,
    likeness,
    outcome_of,
)


def encoded(value):
    out = bytearray()
    encode_composite(out, value)
    return bytes(out)


def decoded(text):
    decoder = Decoder(bytes.fromhex(text) if isinstance(text, str) else text)
    value = decode_composite(decoder)
    assert decoder.pos == decoder.end
    return value


def check_refused(text, error, message, offset):
    """The octets are refused with this error, message and offset."""
    with pytest.raises(error, match=message) as refused:
        decoded(text)
    assert refused.value.offset == offset


VECTORS = [
    (Open(container_id="a"), "00 53 10 c0 04 01 a10161"),
    (
        Open(container_id="a", hostname="b", max_frame_size=512, channel_max=0, idle_time_out=256),
        "00 53 10 c0 14 05 a10161 a10162 70 00000200 60 0000 70 00000100",
    ),
    (
        Open(container_id="a", offered_capabilities=("b",), desired_capabilities=("b", "c"), properties={"d": 1}),
        "00 53 10 c0 1d 0a a10161 40 40 40 40 40 40 a30162 e0 06 02 a3 01 62 01 63 c1 06 02 a30164 5501",
    ),
    (Begin(next_outgoing_id=0, incoming_window=1, outgoing_window=256), "00 53 11 c0 0a 04 40 43 52 01 70 00000100"),
    (
        Begin(remote_channel=7, next_outgoing_id=0, incoming_window=1, outgoing_window=2, handle_max=255),
        "00 53 11 c0 0b 05 60 0007 43 52 01 52 02 52 ff",
    ),
    (Attach(name="l", handle=0, role=True), "00 53 12 c0 06 03 a1016c 43 41"),
    (
        Attach(name="l", handle=1, role=False, snd_settle_mode=0, rcv_settle_mode=1, source=Source(), target=Target()),
        "00 53 12 c0 13 07 a1016c 52 01 42 50 00 50 01 00 53 28 45 00 53 29 45",
    ),
    (
        Attach(name="l", handle=1, role=False, unsettled={b"t": None, b"u": ACCEPTED}, initial_delivery_count=0),
        "00 53 12 c0 1b 0a a1016c 52 01 42 40 40 40 40 c1 0c 04 a00174 40 a00175 00 53 24 45 40 43",
    ),
    (
        Flow(next_incoming_id=0, incoming_window=1, next_outgoing_id=2, outgoing_window=3, handle=0, drain=True),
        "00 53 13 c0 0d 09 43 52 01 52 02 52 03 43 40 40 40 41",
    ),
    (Transfer(handle=0, delivery_id=0, delivery_tag=b"t", settled=True), "00 53 14 c0 08 05 43 43 a00174 40 41"),
    (Transfer(handle=0, settled=False, more=True), "00 53 14 c0 07 06 43 40 40 40 42 41"),
    (
        Disposition(role=True, first=1, settled=True, state=ACCEPTED),
        "00 53 15 c0 0a 05 41 52 01 40 41 00 53 24 45",
    ),
    (Detach(handle=2, closed=True), "00 53 16 c0 04 02 52 02 41"),
    (End(), "00 53 17 45"),
    (Close(error=Error(condition="a", description="b")), "00 53 18 c0 0d 01 00 53 1d c0 07 02 a30161 a10162"),
    (Rejected(), "00 53 25 45"),
    (Modified(delivery_failed=True, undeliverable_here=False), "00 53 27 c0 03 02 41 42"),
    (Received(section_number=1, section_offset=0), "00 53 23 c0 04 02 52 01 44"),
    (Source(address="a", durable=2, expiry_policy="never"), "00 53 28 c0 0d 03 a10161 52 02 a3 05 6e65766572"),
    (Source(default_outcome=RELEASED, outcomes=("a",)), "00 53 28 c0 10 0a" + "40" * 8 + "00 53 26 45 a30161"),
    (Coordinator(capabilities=("a",)), "00 53 30 c0 04 01 a30161"),
    (SaslMechanisms(sasl_server_mechanisms=("PLAIN",)), "00 53 40 c0 08 01 a3 05 504c41494e"),
    (SaslInit(mechanism="PLAIN", initial_response=b"\0"), "00 53 41 c0 0b 02 a3 05 504c41494e a0 01 00"),
    (SaslOutcome(code=1), "00 53 44 c0 03 01 50 01"),
]


@pytest.mark.parametrize(("value", "octets"), VECTORS)
def test_a_composite_is_these_octets(value, octets):
    assert encoded(value).hex() == bytes.fromhex(octets).hex()
    assert decoded(octets) == value


def test_composites_are_appended():
    out = bytearray(b"before")
    encode_composite(out, End())
    assert out == b"before\x00\x53\x17\x45"


@pytest.mark.parametrize(
    "octets",
    [
        "00 53 16 c0 03 02 43 42",
        "00 53 16 c0 04 03 43 42 40",
        "00 53 16 c0 03 02 43 40",
        "00 53 16 d0 00000005 00000001 43",
        "00 80 0000000000000016 c0 06 01 70 00000000",
        "00 a3 10 616d71703a6465746163683a6c697374 c0 04 02 43 56 00",
        "00 b3 00000010 616d71703a6465746163683a6c697374 c0 02 01 43",
    ],
)
def test_a_field_may_be_absent_null_or_its_default_in_any_encoding(octets):
    assert decoded(octets) == Detach(handle=0)


@pytest.mark.parametrize("several", ["40", "e0 02 00 a3", "e0 02 00 b3", "f0 00000005 00000000 a3"])
def test_a_multiple_field_without_values_may_be_null_or_an_empty_array(several):
    fields = bytes.fromhex("a10161" + "40" * 7 + several)
    octets = bytes((0x00, 0x53, 0x10, 0xC0, len(fields) + 1, 9)) + fields
    assert decoded(octets) == Open(container_id="a")


@pytest.mark.parametrize(
    "one", ["a30162", "b3 00000001 62", "e0 04 01 a3 01 62", "f0 0000000a 00000001 b3 00000001 62"]
)
def test_a_multiple_field_with_one_value_may_be_the_value_or_an_array_of_it(one):
    fields = bytes.fromhex("a10161" + "40" * 6 + one)
    octets = bytes((0x00, 0x53, 0x10, 0xC0, len(fields) + 1, 8)) + fields
    value = decoded(octets)
    assert value == Open(container_id="a", offered_capabilities=("b",))
    assert type(value.offered_capabilities[0]) is Symbol


def test_a_multiple_field_may_be_given_as_a_list():
    assert encoded(Coordinator(capabilities=[])) == bytes.fromhex("00 53 30 c0 02 01 40")
    assert encoded(Coordinator(capabilities=["a", "b"])) == encoded(Coordinator(capabilities=("a", "b")))


@pytest.mark.parametrize(
    ("octets", "message", "offset"),
    [
        ("53 10", "a described value is missing", 0),
        ("00 53 99 45", "not that of a composite type", 0),
        ("00 a3 01 61 45", "not that of a composite type", 0),
        ("00 53 75 a0 00", "not that of a composite type", 0),
        ("00 53 30 40", "0x40 is not the constructor of a list", 3),
        ("00 53 30 c1 01 00", "0xc1 is not the constructor of a list", 3),
        ("00 53 16 45", "handle of Detach is mandatory", 4),
        ("00 53 16 c0 02 01 40", "handle of Detach is mandatory", 6),
        ("00 53 16 c0 05 04 43 41 40 40", "4 fields are too many for Detach", 0),
        ("00 53 24 c0 02 01 40", "1 fields are too many for Accepted", 0),
        ("00 53 16 c0 03 01 43 41", "the fields of Detach do not fill their list", 0),
        ("00 53 16 c0 02 02 43 41", "2 elements do not fit", 3),
        ("00 53 16 c0 03 01 70 00000000", "the fields of Detach do not fill their list", 0),
        ("00 53 16 c0 03 01 53 00", "0x53 is not the constructor of a uint", 6),
        ("00 53 16 c0 03 02 43 43", "0x43 is not the constructor of a boolean", 7),
        ("00 53 16 c0 04 03 43 42 42", "a described value is missing", 8),
        ("00 53 16 c0 07 03 43 42 00 53 99 45", "error is described by another type's descriptor", 8),
        ("00 53 16 c0 07 03 43 42 00 53 24 45", "error is described by another type's descriptor", 8),
        ("00 53 40 c0 02 01 40", "sasl_server_mechanisms of SaslMechanisms is mandatory", 6),
        ("00 53 40 c0 05 01 e0 02 00 a3", "sasl_server_mechanisms needs one value at least", 6),
        ("00 53 28 c0 07 06 40 40 40 40 40 45", "0x45 is not the constructor of a map", 11),
    ],
)
def test_what_is_no_composite_is_a_decode_error_at_the_field(octets, message, offset):
    check_refused(octets, DecodeError, message, offset)


@pytest.mark.parametrize(
    ("octets", "message", "offset"),
    [
        ("00 53 12 c0 08 04 a1016c 43 42 50 03", "3 is not allowed for snd_settle_mode", 11),
        ("00 53 12 c0 09 05 a1016c 43 42 40 50 02", "2 is not allowed for rcv_settle_mode", 12),
        ("00 53 28 c0 04 02 40 52 03", "3 is not allowed for durable", 7),
        ("00 53 28 c0 08 03 40 40 a3 03 616263", "'abc'. is not allowed for expiry_policy", 8),
        ("00 53 44 c0 03 01 50 05", "5 is not allowed for code", 6),
        ("00 53 14 c0 26 03 43 43 a0 21" + "00" * 33, "a delivery tag has 33 octets", 8),
    ],
)
def test_a_value_that_is_not_allowed_is_an_invalid_field_at_the_field(octets, message, offset):
    check_refused(octets, InvalidField, message, offset)
    assert InvalidField.condition == "amqp:invalid-field"


def attach_of(*fields):
    body = bytes.fromhex("a1016c 43 42 40 40" + "".join(fields))
    return bytes((0x00, 0x53, 0x12, 0xC0, len(body) + 1, 5 + len(fields))) + body


def test_a_terminus_of_an_unknown_type_passes_untouched():
    octets = attach_of("00 53 99 c0 02 01 41", "00 a30161 a10162")
    source, target = Described(ULong(0x99), [True]), Described(Symbol("a"), "b")
    attach = Attach(name="l", handle=0, role=False, source=source, target=target)
    assert decoded(octets) == attach
    assert encoded(attach) == octets


def test_a_coordinator_may_stand_for_a_target():
    attach = Attach(name="l", handle=0, role=False, target=Coordinator(capabilities=("amqp:local-transactions",)))
    assert decoded(encoded(attach)) == attach


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (["00 53 29 45"], "source"),
        (["00 53 24 45"], "source"),
        (["40", "00 53 28 45"], "target"),
        (["00 53 28 c0 10 09" + "40" * 8 + "00 53 23 c0 03 02 43 44"], "default_outcome"),
    ],
)
def test_a_composite_of_another_kind_does_not_belong_in_a_field(fields, name):
    with pytest.raises(DecodeError, match=f"{name} is described by another type's descriptor"):
        decoded(attach_of(*fields))


def test_an_unsettled_map_holds_states_by_delivery_tag():
    unsettled = {
        b"": None,
        b"a": Received(section_number=1, section_offset=2),
        b"b": Described(ULong(0x34), [b"txn", Described(ULong(0x24), [])]),
        b"c": ACCEPTED,
    }
    attach = Attach(name="l", handle=0, role=True, unsettled=unsettled, incomplete_unsettled=True)
    again = decoded(encoded(attach))
    assert again == attach
    assert again.unsettled[b"c"] is ACCEPTED


@pytest.mark.parametrize(
    ("unsettled", "error", "message", "offset"),
    [
        ("c0 01 00", DecodeError, "not the constructor of a map", 15),
        ("c1 02 01 40", DecodeError, "a key without a value", 15),
        ("c1 03 02 40 40", DecodeError, "a delivery tag is null, or there twice", 18),
        ("c1 09 04 a00174 40 a00174 40", DecodeError, "a delivery tag is null, or there twice", 22),
        ("c1 05 02 a10174 40", DecodeError, "0xa1 is not the constructor of a binary", 18),
        ("c1 05 02 a00174 45", DecodeError, "a described value is missing", 21),
        ("c1 06 02 a00174 40 40", DecodeError, "a map is larger or smaller", 15),
        ("c1 25 02 a021" + "00" * 33 + "40", InvalidField, "a delivery tag has 33 octets", 18),
    ],
)
def test_what_is_no_unsettled_map_is_refused(unsettled, error, message, offset):
    check_refused(attach_of("40", "40", unsettled), error, message, offset)


def test_the_keys_of_a_fields_map_may_be_given_as_plain_text():
    given = {"a": 1, Symbol("b"): 2, ULong(3): 4, UInt(5): "x"}
    properties = decoded(encoded(Open(container_id="c", properties=given))).properties
    assert identity(properties) == identity({Symbol("a"): 1, Symbol("b"): 2, ULong(3): 4, UInt(5): "x"})


def test_a_fields_map_nests_as_deep_as_any_value():
    def nested(levels):
        value = None
        for _ in range(levels):
            value = [value]
        return Open(container_id="c", properties={"a": value})

    assert decoded(encoded(nested(31))) == nested(31)
    with pytest.raises(EncodeError, match="nested too deep"):
        encoded(nested(32))


def test_a_map_may_be_one_that_no_dict_can_hold():
    properties = PairMap([(Symbol("a"), 1), ("a", 2)])
    assert decoded(encoded(Open(container_id="a", properties=properties))).properties == properties


def test_an_address_may_be_of_any_type():
    for address in ("a", UInt(1), [1], Described(Symbol("a"), None)):
        assert identity(decoded(encoded(Source(address=address))).address) == identity(address)


# Values that the caller got wrong


def transfer(**fields):
    return Transfer(handle=0, **fields)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "object is not a composite type"),
        (Described(ULong(0x24), []), "Described is not a composite type"),
        (Detach(handle=None), "handle of Detach is mandatory"),
        (Detach(handle=-1), "-1 does not fit the field handle"),
        (Detach(handle=2**32), "4294967296 does not fit the field handle"),
        (Detach(handle="1"), "'1' does not fit the field handle"),
        (Detach(handle=1, closed=2), "2 does not fit the field closed"),
        (Detach(handle=1, error=ACCEPTED), "does not fit the field error"),
        (Detach(handle=1, error=Described(ULong(0x1D), [])), "does not fit the field error"),
        (Detach(handle=1, error="bad"), "does not fit the field error"),
        (transfer(rcv_settle_mode=2), "2 is not allowed for rcv_settle_mode"),
        (transfer(delivery_tag=b"x" * 33), "not a delivery tag of at most 32 octets"),
        (transfer(delivery_tag="tag"), "not a delivery tag of at most 32 octets"),
        (transfer(state=Source()), "does not fit the field state"),
        (transfer(state=End()), "does not fit the field state"),
        (Open(container_id=b"a"), "b'a' does not fit the field container_id"),
        (Open(container_id="\ud800"), "surrogate"),
        (Open(container_id="a", channel_max=65536), "65536 does not fit the field channel_max"),
        (Open(container_id="a", channel_max=-1), "-1 does not fit the field channel_max"),
        (Open(container_id="a", channel_max="1"), "'1' does not fit the field channel_max"),
        (Open(container_id="a", offered_capabilities="abc"), "'abc' does not fit the field offered_capabilities"),
        (Open(container_id="a", offered_capabilities=("é",)), "'é' is not a symbol"),
        (Open(container_id="a", offered_capabilities=("a", 1)), "1 is not a symbol"),
        (Open(container_id="a", properties=[]), "does not fit the field properties"),
        (Open(container_id="a", properties={"é": 1}), "'é' is not a symbol"),
        (Open(container_id="a", properties={"a": object()}), "object has no AMQP type"),
        (Received(section_number=1, section_offset=2**64), "does not fit the field section_offset"),
        (Received(section_number=1, section_offset=-1), "does not fit the field section_offset"),
        (Received(section_number=1, section_offset="1"), "does not fit the field section_offset"),
        (Error(condition=5), "5 does not fit the field condition"),
        (Error(condition="é"), "'é' is not a symbol"),
        (Source(durable=3), "3 is not allowed for durable"),
        (Source(expiry_policy=["never"]), "does not fit the field expiry_policy"),
        (Source(expiry_policy="soon"), "'soon' is not allowed for expiry_policy"),
        (
            Source(default_outcome=Received(section_number=0, section_offset=0)),
            "does not fit the field default_outcome",
        ),
        (Attach(name="l", handle=0, role=False, source=Target()), "does not fit the field source"),
        (Attach(name="l", handle=0, role=False, snd_settle_mode=256), "256 does not fit the field snd_settle_mode"),
        (Attach(name="l", handle=0, role=False, unsettled=[]), "does not fit the field unsettled"),
        (Attach(name="l", handle=0, role=False, unsettled={"t": None}), "'t' is not a delivery tag"),
        (Attach(name="l", handle=0, role=False, unsettled={b"t": "accepted"}), "does not fit the field state"),
        (SaslMechanisms(sasl_server_mechanisms=()), "sasl_server_mechanisms needs one value at least"),
        (SaslInit(mechanism="PLAIN", initial_response="secret"), "a str does not fit the field initial_response"),
        (SaslOutcome(code="1"), "'1' does not fit the field code"),
        (SaslOutcome(code=5), "5 is not allowed for code"),
    ],
)
def test_a_composite_with_a_wrong_field_is_an_encode_error_and_appends_nothing(value, message):
    out = bytearray(b"before")
    with pytest.raises(EncodeError, match=message):
        encode_composite(out, value)
    assert out == b"before"


def test_an_encode_error_never_shows_a_secret():
    with pytest.raises(EncodeError) as refused:
        encode_composite(bytearray(), SaslInit(mechanism="PLAIN", initial_response="sesame"))
    assert "sesame" not in str(refused.value)


# Delivery states


@pytest.mark.parametrize(
    ("state", "octets"),
    [
        (None, "40"),
        (ACCEPTED, "00 53 24 45"),
        (RELEASED, "00 53 26 45"),
        (Rejected(error=Error(condition="a")), "00 53 25 c0 0a 01 00 53 1d c0 04 01 a30161"),
        (Modified(), "00 53 27 45"),
        (Described(ULong(0x34), [b"t"]), "00 53 34 c0 04 01 a00174"),
        (Described(Symbol("a"), UInt(5)), "00 a30161 5205"),
    ],
)
def test_a_delivery_state_is_these_octets(state, octets):
    out = bytearray(b"before")
    encode_state(out, state)
    assert out == b"before" + bytes.fromhex(octets)
    decoder = Decoder(out, 6)
    assert decode_state(decoder) == state
    assert decoder.pos == len(out)


def test_states_without_fields_are_decoded_to_the_one_there_is():
    assert decoded("00 53 24 45") is decoded("00 53 24 c0 01 00") is ACCEPTED
    assert decoded("00 53 26 45") is decoded("00 53 26 d0 00000004 00000000") is RELEASED
    assert (Accepted(), Released()) == (ACCEPTED, RELEASED)


@pytest.mark.parametrize("octets", ["00 53 28 45", "00 53 17 45", "a1 01 61"])
def test_what_is_no_delivery_state_is_a_decode_error(octets):
    with pytest.raises(DecodeError):
        decode_state(Decoder(bytes.fromhex(octets)))


@pytest.mark.parametrize("state", [End(), "accepted", Source()])
def test_what_is_no_delivery_state_is_an_encode_error(state):
    out = bytearray()
    with pytest.raises(EncodeError, match="does not fit the field state"):
        encode_state(out, state)
    assert out == b""


def test_a_nested_list_leaves_the_end_of_the_outer_one():
    decoder = Decoder(bytes.fromhex("c0 09 02 00 53 27 c0 02 01 41 43") + b"\x41")
    assert decoder.read_list() == 2
    outer = decoder.list_end
    assert decode_state(decoder) == Modified(delivery_failed=True)
    assert decoder.list_end == outer


# Properties


@given(any_composite)
def test_every_composite_survives_encoding_and_decoding(value):
    assert likeness(decoded(encoded(value))) == likeness(value)


@given(st.data(), any_composite)
def test_every_legal_encoding_means_the_same_composite(data, value):
    octets = data.draw(legal_encodings(decode(encoded(value))))
    assert likeness(decoded(octets)) == likeness(value)


@given(st.data(), any_composite)
def test_a_composite_cut_short_at_any_octet_is_a_decode_error(data, value):
    octets = data.draw(legal_encodings(decode(encoded(value))))
    for cut in range(len(octets)):
        with pytest.raises(DecodeError):
            decode_composite(Decoder(octets, 0, cut))


@given(FIELD_VALUES[FieldType.STATE])
def test_every_delivery_state_survives(state):
    out = bytearray()
    encode_state(out, state)
    assert likeness(decode_state(Decoder(out))) == likeness(state)


@given(damaged(encoded_composites) | st.binary())
@settings(max_examples=300)
def test_any_octets_are_a_composite_or_the_peers_error(octets):
    for read in (decode_composite, decode_state):
        _, refused = outcome_of(lambda read=read: read(Decoder(octets)))
        if refused is not None:
            assert type(refused) in (DecodeError, InvalidField)
            assert 0 <= refused.offset <= len(octets)


def test_an_array_is_no_symbol_field():
    out = bytearray(encode(Array("symbol", [Symbol("a")])))
    check_refused(b"\x00\x53\x1d\xc0" + bytes((len(out) + 1, 1)) + out, DecodeError, "constructor of a symbol", 6)
