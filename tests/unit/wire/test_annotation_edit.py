"""Edits of message annotations: what is asked for changes, and not one other octet."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.annotation_edit import AnnotationEdit, edit_message_annotations
from routerd.wire.decoder import Decoder
from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError, EncodeError, ValueRangeError
from routerd.wire.message import Message
from routerd.wire.sections import NeedsMore, Sections
from routerd.wire.types import Int, Symbol, ULong
from tests.unit.wire.messages import damaged_messages, encoded_messages, sections_of

HEADER = b"\x00\x53\x70" + encode([True])
BODY = b"\x00\x53\x75" + encode(b"body")


def annotated(annotations):
    return b"\x00\x53\x72" + encode({Symbol(key): value for key, value in annotations.items()})


def edited(octets, **edit):
    head, resume = edit_message_annotations(octets, 0, len(octets), **edit)
    return bytes(head) + octets[resume:]


def test_entries_go_by_key_and_by_prefix_and_new_ones_come_last():
    octets = HEADER + annotated({"x-a": 1, "x-opt-qd.to": "q", "b": 2, "x-opt-qd.trace": ["0/A"], "c": 3}) + BODY
    assert edited(
        octets, drop={"b", "none"}, drop_prefix="x-opt-qd.", put={"x-opt-qd.ingress": "0/B", "d": Int(4)}
    ) == (HEADER + annotated({"x-a": 1, "c": 3, "x-opt-qd.ingress": "0/B", "d": Int(4)}) + BODY)


def test_a_new_entry_replaces_the_one_of_its_key():
    octets = annotated({"a": 1, "b": 2}) + BODY
    assert edited(octets, put={"a": 9}) == annotated({"b": 2, "a": 9}) + BODY


def test_a_section_is_inserted_behind_header_and_delivery_annotations():
    before = HEADER + b"\x00\x53\x71" + encode({Symbol("hop"): 1})
    assert edited(before + BODY, put={"a": 1}) == before + annotated({"a": 1}) + BODY
    assert edited(BODY, put={"a": 1}) == annotated({"a": 1}) + BODY
    assert edited(HEADER, put={"a": 1}) == HEADER + annotated({"a": 1})


def test_a_section_that_becomes_empty_is_left_out():
    assert edited(HEADER + annotated({"a": 1}) + BODY, drop=["a"]) == HEADER + BODY


def test_a_section_that_was_empty_stays():
    octets = HEADER + annotated({}) + BODY
    assert edited(octets, drop=["a"]) == octets


@pytest.mark.parametrize("octets", [HEADER + BODY, HEADER + annotated({"a": 1}) + BODY])
def test_without_anything_to_change_the_message_goes_on_from_its_start(octets):
    assert edit_message_annotations(b"?" + octets, 1, 1 + len(octets), drop=["z"]) == (b"", 1)


def test_the_head_ends_where_the_rest_goes_on():
    octets = b"??" + HEADER + annotated({"a": 1, "b": 2}) + BODY
    head, resume = edit_message_annotations(bytearray(octets), 2, len(octets), drop=["a"])
    assert (head, octets[resume:]) == (HEADER + annotated({"b": 2}), BODY)


def test_keys_in_any_encoding_are_recognised():
    entries = b"\xb3\0\0\0\x01a\x54\x01" + b"\xa3\x01b\x54\x02" + b"\x53\x07\x54\x03"
    octets = b"\x00\x53\x72\xd1" + (len(entries) + 4).to_bytes(4, "big") + b"\0\0\0\x06" + entries + BODY
    assert edited(octets, drop=["a"]) == b"\x00\x53\x72\xc1" + bytes((len(entries) - 8 + 1, 4)) + entries[8:] + BODY
    assert edited(octets, drop_prefix="a") == edited(octets, drop=["a"])


def test_the_octets_of_an_entry_that_stays_are_not_encoded_anew():
    entry = b"\xb3\0\0\0\x01a" + b"\xd0\0\0\0\x09\0\0\0\x01\x71\0\0\0\x01"
    octets = b"\x00\x80\0\0\0\0\0\0\0\x72\xc1" + bytes((len(entry) + 1, 2)) + entry + BODY
    assert edited(octets, put={"b": True}) == (
        b"\x00\x53\x72\xc1" + bytes((len(entry) + 5, 4)) + entry + b"\xa3\x01b\x41" + BODY
    )


@pytest.mark.parametrize(("length", "is_wide"), [(245, False), (246, True)])
def test_a_section_is_as_narrow_as_it_can_be(length, is_wide):
    value = bytes(length)
    octets = edited(BODY, put={"a": value, "b": None})
    assert octets == annotated({"a": value, "b": None}) + BODY
    assert octets[3] == (0xD1 if is_wide else 0xC1)


def test_a_section_of_many_entries_is_wide():
    put = {str(number): None for number in range(1000)}
    assert edited(BODY, put=put) == annotated(put) + BODY


def test_an_edit_serves_many_messages():
    edit = AnnotationEdit(drop_prefix="x-", put={"x-n": 1})
    octets = annotated({"x-n": 0, "a": 2})
    assert edit.apply(BODY, 0, len(BODY)) == (annotated({"x-n": 1}), 0)
    assert edit.apply(octets, 0, len(octets)) == (annotated({"a": 2, "x-n": 1}), len(octets))
    assert edit.apply(BODY, 0, len(BODY)) == (annotated({"x-n": 1}), 0)


def test_a_beginning_without_the_end_of_the_annotations_needs_more():
    octets = HEADER + annotated({"a": 1}) + BODY
    edit = AnnotationEdit(drop=["a"])
    whole = edit.apply(octets, 0, len(octets))
    end = len(HEADER + annotated({"a": 1}))
    assert edit.apply(octets, 0, end, True) == whole
    with pytest.raises(NeedsMore, match=r"^the message-annotations are not all there$"):
        edit.apply(octets, 0, end - 1, True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"\xc1\x02\x01\x40", "the map of message-annotations is not filled by its entries (octet 6)"),
        (b"\xc1\x04\x02\x40\x40\x40", "the map of message-annotations is not filled by its entries (octet 6)"),
        (b"\xc1\x03\x04\x40\x40", "an entry of the message-annotations is malformed (octet 8)"),
        (b"\xc1\x02\x02\x40", "an entry of the message-annotations is malformed (octet 6)"),
        (b"\xc1\x04\x02\xa3\x05a", "an entry of the message-annotations is malformed (octet 6)"),
        (b"\xc1\x03\x02\x3f\x40", "an entry of the message-annotations is malformed (octet 6)"),
        (b"\xd1\x00\x00\x00\x05\x00\x00\x00\x03\x40", "an entry of the message-annotations is malformed (octet 12)"),
    ],
)
def test_a_malformed_map_is_refused(value, message):
    octets = b"\x00\x53\x72" + value + BODY
    with pytest.raises(DecodeError) as caught:
        edited(octets, put={"a": 1})
    assert str(caught.value) == message


@pytest.mark.parametrize(("put", "error"), [({"é": 1}, ValueRangeError), ({"a": object()}, EncodeError)])
def test_what_cannot_be_encoded_is_refused_when_the_edit_is_made(put, error):
    with pytest.raises(error):
        AnnotationEdit(put=put)


def entries_of(value):
    """Return the octets of each entry of an encoded map, by the octets of its key."""
    decoder = Decoder(value)
    entries = []
    for _ in range(decoder.read_map_start()):
        start = decoder.pos
        key = decoder.value()
        decoder.skip()
        entries.append((key, value[start : decoder.pos]))
    return entries


KEYS = st.sampled_from(["x-opt-qd.to", "x-opt-qd.", "x-user", "new"])


@given(
    encoded=encoded_messages(),
    drop=st.sets(KEYS),
    prefix=st.sampled_from(["", "x", "x-opt-qd.", "x-opt-qd.to", "x-opt-qd.to."]),
    put=st.dictionaries(KEYS, st.integers(-9, 9), max_size=3),
)
@settings(deadline=None)
def test_an_edit_leaves_all_other_octets_as_they_were(encoded, drop, prefix, put):
    octets = encoded[1]
    result = edited(octets, drop=drop, drop_prefix=prefix, put=put)
    before, after = sections_of(octets), sections_of(result)
    assert [s.octets for s in after if s.code != 0x72] == [s.octets for s in before if s.code != 0x72]
    old = [entry for s in before if s.code == 0x72 for entry in entries_of(s.value)]
    new = [entry for s in after if s.code == 0x72 for entry in entries_of(s.value)]
    kept = [
        (key, entry)
        for key, entry in old
        if not isinstance(key, Symbol) or not (key in drop or key in put or (prefix and key.startswith(prefix)))
    ]
    assert new == kept + [(key, encode(Symbol(key)) + encode(value)) for key, value in put.items()]
    if len(kept) == len(old) and not put:
        assert result == octets
    else:
        assert [s.code for s in after if s.code == 0x72] == ([0x72] if new else [])
    Message.decode(result)


@given(encoded=encoded_messages(), data=st.data())
@settings(deadline=None)
def test_a_beginning_needs_more_or_is_edited_as_the_whole_is(encoded, data):
    octets = encoded[1]
    edit = AnnotationEdit(drop_prefix="x-opt-qd.", put={"x-opt-qd.to": "q"})
    end = data.draw(st.integers(0, len(octets)))
    try:
        result = edit.apply(octets, 0, end, True)
    except NeedsMore:
        assert Sections(octets, 0, end, True).find(0x72) == 2
    else:
        assert result == edit.apply(octets, 0, len(octets))


@given(octets=damaged_messages() | st.binary(max_size=30))
@settings(deadline=None)
def test_whatever_the_octets_are_they_are_edited_or_refused(octets):
    try:
        result = edited(octets, drop_prefix="x-", drop=["a"], put={"b": ULong(1)})
    except DecodeError:
        return
    assert annotated({"b": ULong(1)})[6:] in result
