"""Messages as bytes, held against proton's own encoder and decoder."""

import uuid

import proton
import pytest

from oslo_messaging_amqp1.codec import Message, decoded, encoded
from oslo_messaging_amqp1.errors import Undecodable


def read_by_proton(data: bytes) -> proton.Message:
    message = proton.Message()
    message.decode(data)
    return message


@pytest.mark.parametrize("size", [0, 1, 255, 256, 70_000])
def test_proton_reads_a_request(size: int) -> None:
    data = encoded(
        Message("ä" * size, "id" * 16, "some/address", "amqp:/reply", None, expiry_time_ms=1_700_000_000_123, ttl_ms=60)
    )
    message = read_by_proton(data)
    assert (message.body, message.id, message.address) == ("ä" * size, "id" * 16, "some/address")
    assert (message.reply_to, message.correlation_id, message.ttl) == ("amqp:/reply", None, 0.06)
    assert message.expiry_time == 1_700_000_000.123
    assert (message.durable, message.priority, message.subject, message.properties) == (False, 4, None, None)


@pytest.mark.parametrize("correlation_id", ["s", 7, uuid.uuid4(), b"\x00\x01"])
def test_proton_reads_a_reply_with_an_id_of_any_type(correlation_id: object) -> None:
    message = read_by_proton(encoded(Message("r", to="x", correlation_id=correlation_id)))  # type: ignore[arg-type]
    assert (message.body, message.address) == ("r", "x")
    assert bytes(message.correlation_id) == correlation_id if isinstance(correlation_id, bytes) else (
        message.correlation_id == correlation_id
    )


def test_a_message_without_a_body_has_no_section_for_it() -> None:
    data = encoded(Message(None, to="x", correlation_id="c"))
    assert b"\x00\x53\x77" not in data
    assert read_by_proton(data).body is None
    assert decoded(data) == Message(None, to="x", correlation_id="c")


def test_properties_longer_than_a_short_list_are_read() -> None:
    message = Message("b", "i", "a" * 300, "r" * 300)
    assert decoded(encoded(message)) == message
    assert read_by_proton(encoded(message)).reply_to == "r" * 300


def test_a_message_of_proton_is_read() -> None:
    message = proton.Message(
        "text", id="i", address="a", reply_to="r", correlation_id=proton.ulong(9), ttl=2, durable=True, priority=9
    )
    message.subject, message.user_id, message.content_type = "s", b"u", "t"
    message.properties = {"k": [1, {"x": 2.5}]}
    message.annotations = {proton.symbol("x-opt"): "v"}
    message.instructions = {proton.symbol("x-do"): True}
    message.expiry_time = 12
    assert decoded(message.encode()) == Message("text", "i", "a", "r", 9, 12_000, 2000)


@pytest.mark.parametrize("ident", ["s", proton.ulong(7), proton.ulong(300), uuid.uuid4()])
def test_every_type_of_id_is_read(ident: object) -> None:
    assert decoded(proton.Message("b", id=ident).encode()).message_id == ident


def test_data_sections_are_one_body() -> None:
    assert decoded(b"\x00\x53\x75\xa0\x02{}\x00\x53\x75\xa0\x01 ").body == b"{} "


def test_a_sequence_is_a_body_that_is_no_text() -> None:
    assert decoded(b"\x00\x53\x76\x45").body == ()


@pytest.mark.parametrize(
    "data",
    [
        *(b"x", b"\x00", b"\x00\x53", b"\x00\x53\x10\x45", b"\x00\x53\x73\x41", b"\x00\x53\x77\xa1\x05abc"),
        *(b"\x00\x53\x77\xb1\xff\xff\xff\xffabc", b"\x00\x53\x73\xc0\xff\x01", b"\x00\x53\x77\x31", b"\x00" * 5000),
        *(b"\x00\x53\x77\xa1\x02\xff\xfe", b"\x00\xa3\x01x\x40", b"\x00\x53\x72\xd1\x00\x00\x00\xff"),
    ],
)
def test_what_is_no_message_is_undecodable(data: bytes) -> None:
    with pytest.raises(Undecodable, match="not an AMQP message"):
        decoded(data)


def test_every_beginning_of_a_message_is_a_message_or_undecodable() -> None:
    data = proton.Message("text", id="i", properties={"k": [1, 2.5]}, ttl=4).encode()
    for end in range(1, len(data)):
        try:
            decoded(bytes(data[:end]))
        except Undecodable:
            continue
