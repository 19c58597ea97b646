"""The rules of RFC 6455 one by one, with every value that they speak of, and every way to cut what is sent."""

import struct

import pytest

from tests.unit.io.websocket.test_filter import (
    BINARY,
    CLOSE,
    CONTINUATION,
    KEY,
    PING,
    PONG,
    TEXT,
    Line,
    answer,
    frame,
)

CUTS = {"at once": 1 << 20, "in pieces": 7, "by octets": 1}
PROTOCOL_ERROR, UNSUPPORTED, INVALID_TEXT = 1002, 1003, 1007
UNSENDABLE = (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)
ALL_OCTETS = bytes(range(125))
TEN = [b"%d" % one for one in range(10)]


def close(status: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack(">H", status) + reason)


def sent(octets: bytes, cut: int = CUTS["at once"], *, is_client: bool = False) -> Line:
    """Return a filter that has received octets, cut into pieces of a size."""
    line = Line(is_client=is_client)
    line.send(*(octets[at : at + cut] for at in range(0, len(octets), cut)))
    return line


def part(opcode: int, octets: bytes = b"") -> bytes:
    """Return a frame with more of its message to come."""
    return frame(opcode, octets, is_final=False)


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize(
    ("stream", "delivered", "written"),
    [
        (frame(BINARY), b"", b""),
        (part(BINARY) + part(CONTINUATION) + frame(CONTINUATION), b"", b""),
        (part(BINARY) + part(CONTINUATION, b"in the middle") + frame(CONTINUATION), b"in the middle", b""),
        (part(BINARY, b"one, ") + frame(CONTINUATION, b"two"), b"one, two", b""),
        (frame(PING), b"", answer(PONG)),
        (frame(PING, ALL_OCTETS), b"", answer(PONG, ALL_OCTETS)),
        (frame(PING, b"\x00\xff\xfe\xfd\xfc\x00"), b"", answer(PONG, b"\x00\xff\xfe\xfd\xfc\x00")),
        (b"".join(frame(PING, one) for one in TEN), b"", b"".join(answer(PONG, one) for one in TEN)),
        (frame(PONG) + frame(PONG, ALL_OCTETS) + frame(PING, b"one"), b"", answer(PONG, b"one")),
        (part(BINARY, b"one, ") + frame(PING, b"?") + frame(CONTINUATION, b"two"), b"one, two", answer(PONG, b"?")),
        (
            part(BINARY, b"one, ") + frame(PING, b"1") + part(CONTINUATION, b"two, ") + frame(PONG) + frame(PING, b"2")
            + frame(CONTINUATION, b"three"),
            b"one, two, three",
            answer(PONG, b"1") + answer(PONG, b"2"),
        ),
        # A close may come within a message, too.
        (part(BINARY, b"one") + close(1000), b"one", answer(CLOSE, struct.pack(">H", 1000))),
        # What is behind a close is not looked at, whatever it is.
        (close(1000) + close(1001) + frame(PING, b"?"), b"", answer(CLOSE, struct.pack(">H", 1000))),
        (close(1000) + frame(TEXT, b"text") + b"\xff\xff", b"", answer(CLOSE, struct.pack(">H", 1000))),
    ],
    ids=[
        *("an empty message", "an empty message in fragments", "an empty fragment first and last", "two fragments"),
        *("an empty ping", "the longest ping", "a ping with any octets", "ten pings", "pongs that nobody asked for"),
        *("a ping in a message", "pings and pongs in a message", "a close in a message", "more behind a close"),
        "nonsense behind a close",
    ],
)  # fmt: skip
def test_what_follows_the_rules_is_taken(stream: bytes, delivered: bytes, written: bytes, cut: int) -> None:
    line = sent(stream, cut)
    assert (bytes(line.stack.delivered), bytes(line.stack.written), line.stack.failure) == (delivered, written, "")
    assert line.stack.is_finished is (written[:1] == answer(CLOSE)[:1])


WRONG = {
    **{f"opcode {one}": frame(one, b"x") for one in (*range(3, 8), *range(11, 16))},
    **{f"opcode {one} in a message": part(BINARY) + frame(one) for one in (3, 7, 11, 15)},
    **{
        f"reserved bits {bits} of opcode {opcode}": bytes([0x80 | bits << 4 | opcode]) + frame(opcode)[1:]
        for bits in range(1, 8)
        for opcode in (BINARY, CLOSE, PING, PONG)
    },
    "a reserved bit of a continuation": part(BINARY) + b"\xc0" + frame(CONTINUATION)[1:],
    "a ping in fragments": part(PING, b"one") + frame(CONTINUATION, b"two"),
    "a pong in fragments": part(PONG),
    "a close in fragments": part(CLOSE, struct.pack(">H", 1000)),
    "a ping of 126 octets": frame(PING, bytes(126)),
    "a pong of 126 octets": frame(PONG, bytes(126)),
    "a close of 126 octets": close(1000, b"x" * 124),
    "a ping of 65 536 octets": frame(PING, bytes(1 << 16)),
    "a continuation first": frame(CONTINUATION, b"x"),
    "a fragment of nothing first": part(CONTINUATION, b"x"),
    "a continuation behind a message": frame(BINARY) + frame(CONTINUATION),
    "a continuation behind fragments": part(BINARY) + frame(CONTINUATION) + part(CONTINUATION),
    "a message in a message": part(BINARY) + frame(BINARY),
    "fragments in a message": part(BINARY) + part(CONTINUATION) + part(BINARY),
    "two octets for 125": b"\x82\xfe\x00\x7d" + KEY,
    "eight octets for 125": b"\x82\xff" + struct.pack(">Q", 125) + KEY,
    "eight octets for 65 535": b"\x82\xff" + struct.pack(">Q", 0xFFFF) + KEY,
    "a size with the highest bit": b"\x82\xff" + struct.pack(">Q", 1 << 63) + KEY,
    "no mask": b"\x82\x01x",
    "no mask on a ping": b"\x89\x00",
    "no mask on a close": b"\x88\x00",
    "no mask on a continuation": part(BINARY) + b"\x80\x01x",
    "a close of one octet": frame(CLOSE, b"\x03"),
    **{f"a close with {one}": close(one) for one in UNSENDABLE},
}  # fmt: skip


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("name", WRONG)
def test_what_breaks_a_rule_is_a_protocol_error(name: str, cut: int) -> None:
    line = sent(WRONG[name], cut)
    assert line.closed_with == PROTOCOL_ERROR
    assert line.stack.failure.startswith("WebSocket: ")


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize(
    "octets",
    [frame(TEXT), frame(TEXT, "κόσμε".encode()), frame(TEXT, b"\xce\xba\xff"), part(TEXT, b"x"), b"\x81\xfe"],
    ids=["empty", "UTF-8", "not UTF-8", "in fragments", "its beginning"],
)
def test_text_is_refused_as_soon_as_it_begins(octets: bytes, cut: int) -> None:
    line = sent(octets, cut)
    assert (line.closed_with, bytes(line.stack.delivered)) == (UNSUPPORTED, b"")
    assert line.stack.failure == "WebSocket: AMQP goes in binary messages, and this is text"


@pytest.mark.parametrize("status", [*range(1000, 1004), *range(1007, 1015), 3000, 3999, 4000, 4999])
def test_a_status_that_may_be_sent_is_answered_with_the_same(status: int) -> None:
    line = sent(close(status, b"why"))
    assert (line.closed_with, line.stack.is_finished, line.stack.failure) == (status, True, "")


def test_the_longest_reason_of_a_close_is_taken() -> None:
    assert sent(close(1000, "é".encode() * 61 + b"!")).closed_with == 1000


@pytest.mark.parametrize(
    "reason",
    [b"\xff", b"so\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xce\xba\xe1\xbd\xed\xa0\x80edited"],
    ids=["no beginning", "half a character", "overlong", "a surrogate", "above U+10FFFF", "in the middle"],
)
def test_a_reason_has_to_be_text(reason: bytes) -> None:
    assert sent(close(1000, reason)).closed_with == INVALID_TEXT


@pytest.mark.parametrize(
    ("octets", "says"),
    [
        (b"\x83\x00", "there is no opcode 3"),
        (b"\xc2\x00", "a reserved bit is set, and no extension was agreed on"),
        (b"\x82\x80" + KEY, "a frame is masked"),
        (b"\x89\x7e\x00\x7e", "a control frame is in fragments, or too long"),
        (b"\x80\x00", "a continuation is where a message begins, or the other way round"),
        (b"\x82\x7e\x00\x7d", "a size of 125 octets has 2 octets"),
        (b"\x88\x02\x03\xed", "a close has the status 1005"),
        (b"\x81\x00", "AMQP goes in binary messages, and this is text"),
    ],
)
def test_a_client_holds_its_server_to_the_same_rules(octets: bytes, says: str) -> None:
    assert sent(octets, is_client=True).stack.failure == f"WebSocket: {says}"


def test_a_client_answers_a_ping_and_a_close_under_a_mask() -> None:
    line = sent(b"\x89\x01?" + b"\x88\x02\x03\xe8", is_client=True)
    pong, end = bytes(line.stack.written[:7]), bytes(line.stack.written[7:])
    assert (pong[:2], pong[6] ^ pong[2]) == (b"\x8a\x81", ord("?"))
    assert (end[:2], bytes(one ^ key for one, key in zip(end[6:], end[2:4], strict=True))) == (b"\x88\x82", b"\x03\xe8")
    assert (line.stack.is_finished, line.stack.failure) == (True, "")


def test_both_may_close_at_the_same_time() -> None:
    client, server = Line(is_client=True), Line()
    for one in (client, server):
        one.filter.close()
    from_client, from_server = bytes(client.stack.written), bytes(server.stack.written)
    client.send(from_server)
    server.send(from_client)
    # Each has taken the other's close for its answer.
    assert (bytes(client.stack.written), bytes(server.stack.written)) == (from_client, from_server)
    assert [(one.stack.is_finished, one.filter.is_awaiting_end) for one in (client, server)] == [(True, False)] * 2
