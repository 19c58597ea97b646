"""The messages of the load, and the stamps in them."""

from hypothesis import given
from hypothesis.strategies import binary, integers, text

from routerd.cli.load.stamps import (
    body_place,
    data_message,
    put_number,
    put_stamp,
    reply_head,
    request_message,
    stamp_in,
)
from routerd.wire import AmqpValue, Data, Header, Message, Properties, Symbol, ULong

STAMPS = integers(0, 2**63 - 1)


@given(STAMPS, integers(8, 5_000))
def test_a_message_is_a_data_section_of_the_size_with_the_stamp_first(stamp: int, size: int) -> None:
    message, at = data_message(size)
    put_stamp(message, at, stamp)
    assert Message.decode(message) == Message(body=Data([stamp.to_bytes(8, "little") + b"x" * (size - 8)]))
    assert stamp_in(message, 0, len(message)) == stamp


@given(STAMPS, text(max_size=300))
def test_a_request_has_its_reply_address_correlation_id_and_stamp(stamp: int, reply_to: str) -> None:
    message, stamp_at, number_at = request_message(20, reply_to)
    put_stamp(message, stamp_at, stamp)
    put_number(message, number_at, stamp)
    assert Message.decode(message) == Message(
        properties=Properties(reply_to=reply_to, correlation_id=ULong(stamp)),
        body=Data([stamp.to_bytes(8, "little") + b"x" * 12]),
    )
    assert stamp_in(message, 0, len(message)) == stamp


@given(text(max_size=300), text() | binary(max_size=40) | STAMPS.map(ULong))
def test_a_reply_has_the_address_the_correlation_id_and_the_body_of_the_request(
    to: str, correlation_id: object
) -> None:
    request, _ = data_message(8)
    assert Message.decode(reply_head(to, correlation_id) + request) == Message(
        properties=Properties(to=to, correlation_id=correlation_id), body=Data([b"x" * 8])
    )


@given(STAMPS, integers(0, 20))
def test_a_stamp_is_found_behind_the_sections_that_a_router_adds(stamp: int, start: int) -> None:
    octets = Message(
        header=Header(durable=True),
        message_annotations={Symbol("x-opt-trace"): ["0/A", "0/B" * 100]},
        properties=Properties(to="there"),
        application_properties={},
        body=Data([stamp.to_bytes(8, "little") + b"rest"]),
    ).encode()
    data = b"?" * start + octets
    assert stamp_in(data, start, len(data)) == stamp


def test_a_stamp_is_found_in_a_binary_of_either_width_and_kind_of_section() -> None:
    body = (12345).to_bytes(8, "little")
    short, value = b"\x00\x53\x75\xa0\x08" + body, b"\x00\x53\x77\xb0\x00\x00\x00\x08" + body
    assert [stamp_in(octets, 0, len(octets)) for octets in (short, value)] == [12345, 12345]
    assert body_place(b"\x00\x53\x70\x45" + short, 0, 4 + len(short)) == 4


def test_a_message_without_a_stamp_has_none() -> None:
    messages = [
        b"",
        b"\x00\x53\x75\xa0\x04four",
        Message(body=AmqpValue("a text")).encode(),
        Message(body=AmqpValue(2**40)).encode(),
        Message(properties=Properties(to="there"), body=Data([b"short"])).encode(),
        b"\x00\x53\x73\xa1\x02no" + data_message(8)[0],
    ]
    assert [stamp_in(message, 0, len(message)) for message in messages] == [-1] * 6
