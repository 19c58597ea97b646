"""The transfer performative, composed and read in place."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.composite import encode_composite
from routerd.wire.decoder import Decoder
from routerd.wire.errors import DecodeError, InvalidField
from routerd.wire.output import Output
from routerd.wire.performatives import Transfer
from routerd.wire.transfer import TransferFields, write_abort, write_continuation, write_transfer
from tests.conformance.raw_peer import Frame, parsed
from tests.unit.wire.strategies import composites, likeness

uints = st.integers(0, 2**32 - 1) | st.sampled_from([0, 255, 256])
channels = st.integers(0, 65535)
tags = st.binary(max_size=32)


@st.composite
def payloads(draw):
    """Octets, and the part of them that is to be sent."""
    data = draw(st.binary(max_size=40) | st.integers(505, 2000).map(bytes))
    start = draw(st.integers(0, len(data)))
    return draw(st.sampled_from([bytes, bytearray]))(data), start, draw(st.integers(start, len(data)))


def body(performative):
    out = bytearray()
    encode_composite(out, performative)
    return bytes(out)


def fields_read(octets, payload=b""):
    """The fields of a transfer whose list is encoded so."""
    decoder = Decoder(octets + payload)
    fields = TransferFields()
    fields.read(decoder)
    assert (decoder.pos, fields.payload) == (len(octets), len(octets))
    return fields


def or_none(value):
    return None if value < 0 else value


def as_transfer(fields):
    return Transfer(
        handle=fields.handle,
        delivery_id=or_none(fields.delivery_id),
        delivery_tag=fields.tag_octets(),
        message_format=or_none(fields.message_format),
        settled=None if fields.settled < 0 else fields.settled == 1,
        more=fields.more,
        rcv_settle_mode=or_none(fields.rcv_settle_mode),
        state=fields.state,
        resume=fields.resume,
        aborted=fields.aborted,
        batchable=fields.batchable,
    )


def framed(out):
    octets = bytes(out.take())
    assert int.from_bytes(octets[:4], "big") == len(octets)
    return parsed(octets)


@given(composites(Transfer), st.binary(max_size=8))
def test_every_field_of_a_transfer_is_read(transfer, payload):
    assert likeness(as_transfer(fields_read(body(transfer)[3:], payload))) == likeness(transfer)


def test_fields_that_were_read_are_cleared_for_the_next_transfer():
    fields = TransferFields()
    full = Transfer(
        handle=1,
        delivery_id=2,
        delivery_tag=b"3",
        message_format=4,
        settled=True,
        more=True,
        rcv_settle_mode=1,
        resume=True,
        aborted=True,
        batchable=True,
    )
    for transfer in (full, Transfer(handle=0)):
        fields.read(Decoder(body(transfer)[3:]))
        assert as_transfer(fields) == transfer
    fields.clear()
    assert (fields.handle, fields.payload) == (-1, 0)


encoded_uints = st.sampled_from(["43", "40", "5205", "52ff", "7000000100", "70ffffffff"])
encoded_tags = st.sampled_from(
    ["a000", "a0017f", "a004fffefdfc", "a00400000001", "a008" + "07" * 8, "a020" + "09" * 32, "40"]
)
encoded_booleans = st.sampled_from(["40", "41", "42", "5601", "5600"])


@st.composite
def field_lists(draw):
    """The fields of a transfer, in one of the encodings that they may have, and how many; some are not right."""
    kinds = [encoded_uints, encoded_uints, encoded_tags, encoded_uints, encoded_booleans, encoded_booleans]
    values = [draw(kind) for kind in kinds[: draw(st.integers(0, 6))]]
    fields = bytearray.fromhex("".join(values))
    if fields and draw(st.booleans()):
        fields[draw(st.integers(0, len(fields) - 1))] = draw(st.integers(0, 255))
    return bytes(fields), len(values)


def outcome_of_reading(octets):
    try:
        return as_transfer(fields_read(octets, bytes(64)))
    except (DecodeError, InvalidField) as error:
        return type(error)


@given(field_lists())
def test_short_and_long_lists_of_fields_are_read_alike(drawn):
    fields, count = drawn
    short = bytes([0xC0, len(fields) + 1, count]) + fields
    long = bytes([0xD0]) + (len(fields) + 4).to_bytes(4, "big") + count.to_bytes(4, "big") + fields
    assert outcome_of_reading(short) == outcome_of_reading(long)


def test_whatever_encoding_fields_have_they_are_read():
    encodings = {
        "handle": {"43": 0, "5201": 1, "7000000001": 1},
        "delivery_id": {"43": 0, "5202": 2, "7000000100": 256, "40": None},
        "delivery_tag": {"a00107": b"\7", "a00400000007": b"\0\0\0\7", "b00000000107": b"\7"},
        "message_format": {"43": 0, "5201": 1},
        "settled": {"41": True, "42": False, "40": None, "5601": True},
        "more": {"41": True, "42": False, "5600": False},
    }
    for values in product(*(each.items() for each in encodings.values())):
        fields = bytes.fromhex("".join(octets for octets, _ in values))
        read = fields_read(bytes([0xC0, len(fields) + 1, 6]) + fields, bytes(64))
        assert as_transfer(read) == Transfer(**dict(zip(encodings, (value for _, value in values), strict=True)))


@pytest.mark.parametrize("size", ["0b", "0d"])
def test_a_list_that_its_fields_do_not_fill_is_refused_before_a_payload_too(size):
    fields = "05 43 5201 a00400000001 43 41"
    assert fields_read(bytes.fromhex(f"c0 0c {fields}"), bytes(64)).settled == 1
    with pytest.raises(DecodeError):
        fields_read(bytes.fromhex(f"c0 {size} {fields}"), bytes(64))


@given(channels, uints, uints, tags, uints, st.booleans(), st.booleans(), payloads())
def test_a_first_transfer_is_composed_as_it_is_read(channel, handle, number, tag, form, settled, more, payload):
    out = Output()
    data, start, end = payload
    write_transfer(out, channel, handle, number, tag, 0, form, settled, more, data, start, end)
    expected = Transfer(
        handle=handle, delivery_id=number, delivery_tag=tag, message_format=form, settled=settled, more=more
    )
    assert framed(out) == Frame(expected, channel, bytes(data[start:end]))


@given(channels, uints, st.booleans(), payloads())
def test_a_continuation_has_a_handle_and_more_alone(channel, handle, more, payload):
    out = Output()
    data, start, end = payload
    write_continuation(out, channel, handle, more, data, start, end)
    assert framed(out) == Frame(Transfer(handle=handle, more=more), channel, bytes(data[start:end]))


@given(channels, uints)
def test_an_abort_has_a_handle_and_aborted_alone(channel, handle):
    out = Output()
    write_abort(out, channel, handle)
    assert framed(out) == Frame(Transfer(handle=handle, aborted=True), channel, b"")


@pytest.mark.parametrize(
    ("octets", "error", "words"),
    [
        ("c0 0d 0c" + "40" * 12, DecodeError, "a transfer has 11 fields at most, not 12"),
        ("45", DecodeError, "a transfer without a handle"),
        ("c0 02 01 40", DecodeError, "a transfer without a handle"),
        ("c0 03 01 43 43", DecodeError, "the fields of a transfer do not fill its list"),
        ("c0 26 03 43 43 a0 21" + "00" * 33, InvalidField, "a delivery-tag has 32 octets at most"),
        ("c0 09 07 43 40 40 40 40 40 50 02", InvalidField, "rcv-settle-mode is 0 or 1, not 2"),
    ],
)
def test_a_list_that_is_no_transfer_is_refused(octets, error, words):
    with pytest.raises(error, match=words) as caught:
        fields_read(bytes.fromhex(octets))
    assert caught.type is error
