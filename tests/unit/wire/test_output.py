"""The buffer of what is to be sent, against a bytearray that does the same slowly."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.output import Output, take_back

uints = st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 255, 256, 2**32 - 1])
runs = st.binary(max_size=20) | st.integers(500, 3000).map(lambda size: bytes(range(256)) * (size // 256 + 1))
channels = st.integers(0, 65535)
fields = st.lists(uints | st.booleans(), max_size=20)


def put_field(out, value):
    if isinstance(value, bool):
        out.put_boolean(value)
    else:
        out.put_uint(value)


def encoded_field(value):
    if isinstance(value, bool):
        return b"\x41" if value else b"\x42"
    if value == 0:
        return b"\x43"
    return b"\x52" + bytes([value]) if value < 256 else b"\x70" + value.to_bytes(4, "big")


def put_octet(out, value):
    out.reserve(1)
    out.put_octet(value)


def put_word(out, value):
    out.reserve(4)
    out.put_word(value)


def put_part(out, part):
    data, start, end, is_bytearray = part
    out.reserve(end - start)
    out.put_octets(bytearray(data) if is_bytearray else data, start, end)


def put_performative(out, drawn):
    channel, code, values, payload = drawn
    frame = out.begin_performative(channel, code, len(payload))
    for value in values:
        put_field(out, value)
    out.end_fields(frame, len(values))
    out.put_octets(payload, 0, len(payload))
    out.end_frame(frame)


def encoded_performative(channel, code, values, payload):
    content = b"".join(map(encoded_field, values))
    head = bytes([0x00, 0x53, code, 0xC0, len(content) + 1, len(values)])
    return struct.pack(">IBBH", 14 + len(content) + len(payload), 2, 0, channel) + head + content + payload


@st.composite
def parts(draw):
    data = draw(runs)
    start = draw(st.integers(0, len(data)))
    return data, start, draw(st.integers(start, len(data))), draw(st.booleans())


OPERATIONS = {
    "octet": (st.integers(0, 255), put_octet, lambda value: bytes([value])),
    "word": (uints, put_word, lambda value: value.to_bytes(4, "big")),
    "field": (uints | st.booleans(), lambda out, value: (out.reserve(5), put_field(out, value)), encoded_field),
    "raw": (runs | runs.map(bytearray), Output.put_raw, bytes),
    "part": (parts(), put_part, lambda part: part[0][part[1] : part[2]]),
    "performative": (
        st.tuples(channels, st.integers(0, 255), fields, runs),
        put_performative,
        lambda drawn: encoded_performative(*drawn),
    ),
    "frame": (
        st.tuples(channels, st.integers(0, 1), runs),
        lambda out, drawn: out.put_frame(*drawn),
        lambda drawn: struct.pack(">IBBH", len(drawn[2]) + 8, 2, drawn[1], drawn[0]) + drawn[2],
    ),
    "take": (st.none(), None, None),
}
operations = st.sampled_from(sorted(OPERATIONS)).flatmap(
    lambda name: st.tuples(st.just(name), OPERATIONS[name][0]),
)


@given(st.lists(operations, max_size=30))
def test_what_is_taken_is_what_was_put_in_its_order(drawn):
    out, model, taken = Output(), bytearray(), []
    for name, value in drawn:
        if name == "take":
            taken.append((out.take(), bytes(model)))
            model.clear()
        else:
            OPERATIONS[name][1](out, value)
            model += OPERATIONS[name][2](value)
        assert out.end == len(model)
    taken.append((out.take(), bytes(model)))
    # Looked at after all was written: what was taken is not written to again.
    assert [bytes(octets) for octets, _ in taken] == [expected for _, expected in taken]


@pytest.mark.parametrize(
    ("value", "octets"),
    [(0, "43"), (1, "5201"), (255, "52ff"), (256, "7000000100"), (2**32 - 1, "70ffffffff")],
)
def test_an_uint_takes_its_shortest_encoding(value, octets):
    out = Output()
    out.reserve(5)
    out.put_uint(value)
    assert out.take().hex() == octets


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1023, 1024, 1025, 70_000])
def test_octets_of_any_number_are_appended(size):
    out = Output()
    data = bytes(number % 251 for number in range(size))
    out.put_raw(b"before")
    out.put_raw(bytearray(data))
    out.put_raw(data)
    assert out.take() == b"before" + data + data


def test_an_output_that_nothing_was_put_to_is_empty():
    out = Output()
    assert (out.end, out.take(), out.take()) == (0, bytearray(), bytearray())


def test_reserving_appends_nothing():
    out = Output()
    out.reserve(5000)
    assert (out.end, out.take()) == (0, bytearray())


def large(number):
    return bytes([number]) * 10_000


def test_memory_that_was_taken_back_serves_again_and_shows_nothing_of_before():
    first, second = Output(), Output()
    first.put_raw(large(1))
    data = first.take()
    assert take_back(data)
    second.put_raw(b"x" * 5)
    second.put_raw(large(2))
    assert second.take() == b"x" * 5 + large(2)


def test_octets_that_somebody_looks_at_are_left_alone():
    out = Output()
    out.put_raw(large(1))
    data = out.take()
    with memoryview(data) as view:
        assert not take_back(data)
        out.put_raw(large(2))
        assert bytes(view) == large(1)
    assert out.take() == large(2)


@given(st.lists(st.tuples(st.integers(1, 40_000), st.booleans(), st.booleans()), max_size=12))
def test_memory_goes_round_among_outputs_and_none_of_them_sees_the_others_octets(steps):
    outputs, kept = (Output(), Output()), []
    for number, (size, is_second, is_written) in enumerate(steps):
        out = outputs[is_second]
        octets = bytes([number + 1]) * size
        out.put_raw(octets[: size // 2])
        out.put_raw(octets[size // 2 :])
        data = out.take()
        assert data == octets
        if is_written:
            take_back(data)
        else:
            kept.append((data, octets))
    assert all(data == octets for data, octets in kept)
