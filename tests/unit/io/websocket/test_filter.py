"""WebSocket on a connection: octets come through whatever the frames, and each rule of RFC 6455 is kept."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.websocket import filter as websocket_filter
from routerd.io.websocket import frames as websocket_frames
from routerd.io.websocket.filter import PINGS_PER_S, SENT_MAX, WebSocketFilter
from routerd.io.websocket.frames import CONTROL_MAX
from routerd.io.websocket.masking import unmasked
from tests.unit.io.http.stacks import Stack

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
KEY = b"\x37\xfa\x21\x3d"


def masked(octets: bytes, key: bytes = KEY) -> bytes:
    return bytes(octet ^ key[at % 4] for at, octet in enumerate(octets))


def frame(opcode: int, octets: bytes = b"", *, is_final: bool = True, key: bytes = KEY) -> bytes:
    """Return a frame as a client makes it."""
    first, size = 0x80 * is_final | opcode, len(octets)
    if size < 126:
        head = struct.pack(">BB", first, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", first, 0xFE, size)
    else:
        head = struct.pack(">BBQ", first, 0xFF, size)
    return head + key + masked(octets, key)


def answer(opcode: int, octets: bytes = b"") -> bytes:
    """Return a short frame of ours."""
    return struct.pack(">BB", 0x80 | opcode, len(octets)) + octets


class Line:
    """A filter that has begun."""

    def __init__(self, *, is_client: bool = False) -> None:
        self.stack = Stack()
        self.filter: WebSocketFilter = self.stack.put(WebSocketFilter(is_client=is_client))

    def send(self, *pieces: bytes) -> None:
        for one in pieces:
            self.filter.receive(memoryview(one))

    @property
    def closed_with(self) -> int | None:
        """The status of the close that was sent last."""
        opcode, size = self.stack.written[0] & 0xF, self.stack.written[1]
        assert (opcode, len(self.stack.written)) == (CLOSE, 2 + size)
        return int.from_bytes(self.stack.written[2:4], "big") if size else None


MESSAGES = st.lists(st.tuples(st.binary(max_size=300), st.binary(min_size=4, max_size=4)), max_size=8)


@given(messages=MESSAGES, cut=st.integers(1, 50), splits=st.integers(0, 3), pings=st.booleans())
def test_octets_come_through_however_they_are_framed_and_cut(
    messages: list[tuple[bytes, bytes]], cut: int, splits: int, pings: bool
) -> None:
    line = Line()
    stream = b""
    for octets, key in messages:
        parts = _parts(octets, splits) if splits else [octets]
        for number, part in enumerate(parts):
            opcode = CONTINUATION if number else BINARY
            stream += frame(opcode, part, is_final=number == len(parts) - 1, key=key)
            stream += frame(PING, b"?") if pings else b""
    line.send(*(stream[at : at + cut] for at in range(0, len(stream), cut)))
    assert line.stack.delivered == b"".join(octets for octets, _ in messages)
    assert line.stack.written == answer(PONG, b"?") * (stream.count(frame(PING, b"?")) if pings else 0)
    assert line.stack.failure == ""


def _parts(octets: bytes, splits: int) -> list[bytes]:
    size = len(octets) // (splits + 1) + 1
    return [octets[at : at + size] for at in range(0, len(octets), size)] or [b"", b""]


@given(octets=st.binary(max_size=2000), key=st.binary(min_size=4, max_size=4), at=st.integers(0, 1 << 40))
def test_a_mask_is_taken_off_wherever_a_piece_begins(octets: bytes, key: bytes, at: int) -> None:
    expected = bytes(octet ^ key[(at + place) % 4] for place, octet in enumerate(octets))
    assert unmasked(memoryview(octets), key, at) == expected


@pytest.mark.parametrize("size", [0, 1, 125, 126, 0xFFFF, 0x10000, 3 * 0x10000 + 7])
def test_frames_of_any_size_come_through_both_ways(size: int) -> None:
    line = Line()
    octets = bytes(range(256)) * (size // 256 + 1)
    octets = octets[:size]
    line.send(frame(BINARY, octets))
    assert line.stack.delivered == octets
    line.filter.send(octets)
    width = 0 if size < 126 else 2 if size < 1 << 16 else 8
    assert line.stack.written[0] == 0x82
    assert line.stack.written[1] == {0: size, 2: 126, 8: 127}[width]
    assert line.stack.written[2 + width :] == octets


def test_much_goes_out_in_several_messages() -> None:
    line = Line()
    line.filter.send(bytearray(2 * SENT_MAX + 1))
    assert line.stack.written.count(struct.pack(">BBQ", 0x82, 127, SENT_MAX)) == 2
    assert line.stack.written.endswith(b"\x82\x01\x00")


@pytest.mark.parametrize(
    ("octets", "status"),
    [
        (b"\x82\x00", 1002),
        (b"\x82\x05hello", 1002),
        (frame(TEXT, b"text"), 1003),
        (b"\xc2" + frame(BINARY)[1:], 1002),
        (frame(3), 1002),
        (frame(11), 1002),
        (frame(PING, b"x" * (CONTROL_MAX + 1)), 1002),
        (frame(PING, is_final=False), 1002),
        (frame(CONTINUATION, b"x"), 1002),
        (frame(BINARY, b"", is_final=False) + frame(BINARY), 1002),
        (b"\x82\xfe\x00\x7d" + KEY, 1002),
        (b"\x82\xff" + bytes(6) + b"\xff\xff" + KEY, 1002),
        (b"\x82\xff\x80" + bytes(7) + KEY, 1002),
        (b"\x82\xff" + struct.pack(">Q", websocket_frames.MESSAGE_MAX + 1) + KEY, 1009),
        (frame(CLOSE, b"x"), 1002),
        (frame(CLOSE, struct.pack(">H", 1005)), 1002),
        (frame(CLOSE, struct.pack(">H", 999)), 1002),
        (frame(CLOSE, struct.pack(">H", 1000) + b"\xff"), 1007),
    ],
    ids=[
        *("unmasked", "unmasked with octets", "text", "reserved bit", "opcode 3", "opcode 11", "long ping"),
        *("ping in fragments", "continuation of nothing", "message in a message", "wide size", "wider size"),
        *("negative size", "oversize", "close of one octet", "close 1005", "close 999", "close not UTF-8"),
    ],
)
def test_a_violation_is_answered_with_its_status_and_ends_the_connection(octets: bytes, status: int) -> None:
    line = Line()
    line.send(frame(BINARY, b"before") + octets)
    assert line.closed_with == status
    assert line.stack.failure.startswith("WebSocket: ")
    # What came before it counts, and nothing behind it.
    assert line.stack.delivered == b"before"
    line.send(frame(BINARY, b"behind"))
    line.filter.send(b"more")
    assert line.stack.delivered == b"before"
    assert line.closed_with == status


def test_the_fragments_of_a_message_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_frames, "MESSAGE_MAX", 100)
    line = Line()
    line.send(frame(BINARY, b"x" * 60, is_final=False), frame(CONTINUATION, b"x" * 40), frame(BINARY, b"x" * 100))
    assert (len(line.stack.delivered), line.stack.written) == (200, b"")
    line.send(frame(BINARY, b"x" * 60, is_final=False), frame(CONTINUATION, b"x" * 41))
    assert line.closed_with == 1009


@pytest.mark.parametrize(
    ("payload", "echoed"),
    [(b"", None), (struct.pack(">H", 1000) + "bye, señor".encode(), 1000), (struct.pack(">H", 4999), 4999)],
    ids=["empty", "with a reason", "private"],
)
def test_a_close_is_answered_and_ends_the_connection(payload: bytes, echoed: int | None) -> None:
    line = Line()
    line.send(frame(BINARY, b"last") + frame(CLOSE, payload) + frame(BINARY, b"behind"))
    assert line.closed_with == echoed
    assert (line.stack.delivered, line.stack.is_finished, line.stack.failure) == (b"last", True, "")


def test_the_end_is_told_once() -> None:
    line = Line()
    line.filter.close()
    line.filter.close()
    assert line.closed_with == 1000
    assert (line.closed_with, line.filter.is_awaiting_end, line.stack.is_finished) == (1000, True, False)


def test_the_answer_to_our_close_is_waited_for_and_what_comes_before_it_counts_for_nothing() -> None:
    line = Line()
    line.send(frame(BINARY, b"before, "), frame(BINARY, b"and the rest")[:10])
    line.filter.close()
    line.send(frame(BINARY, b"and the rest")[10:], frame(PING, b"?"), frame(BINARY, b"late"))
    assert (line.stack.delivered, line.closed_with) == (b"before, and ", 1000)
    line.send(frame(CLOSE, struct.pack(">H", 1000)), frame(BINARY, b"later"))
    assert (line.filter.is_awaiting_end, line.stack.is_finished, line.stack.failure) == (False, True, "")
    assert (line.stack.delivered, line.closed_with) == (b"before, and ", 1000)


def test_a_violation_instead_of_an_answer_is_the_end() -> None:
    line = Line()
    line.filter.close()
    line.send(frame(TEXT, b"text"))
    assert (line.closed_with, line.filter.is_awaiting_end, line.stack.is_finished) == (1000, False, True)
    assert line.stack.failure == ""


@given(octets=st.lists(st.binary(max_size=300), max_size=8), cut=st.integers(1, 50))
def test_what_a_client_sends_a_server_takes_and_the_other_way_round(octets: list[bytes], cut: int) -> None:
    client, server = Line(is_client=True), Line()
    for one, other in ((client, server), (server, client)):
        for piece in octets:
            one.filter.send(piece)
        stream = bytes(one.stack.written)
        one.stack.written.clear()
        other.send(*(stream[at : at + cut] for at in range(0, len(stream), cut)))
        assert other.stack.delivered == b"".join(octets)
    client.filter.close()
    server.send(bytes(client.stack.written))
    client.send(bytes(server.stack.written))
    assert (client.filter.is_awaiting_end, client.stack.is_finished, server.stack.is_finished) == (False, True, True)


def test_a_client_masks_each_frame_with_another_key() -> None:
    client = Line(is_client=True)
    client.filter.send(bytes(100))
    client.filter.send(bytes(100))
    first, second = bytes(client.stack.written[:106]), bytes(client.stack.written[106:])
    assert first[:2] == second[:2] == b"\x82\xe4"
    assert first[2:6] != second[2:6]
    assert unmasked(memoryview(first[6:]), first[2:6], 0) == bytes(100)


def test_a_client_takes_no_frame_that_is_masked() -> None:
    client = Line(is_client=True)
    client.send(frame(BINARY, b"masked"))
    assert client.stack.failure == "WebSocket: a frame is masked"


def test_pings_are_answered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [5.0]
    monkeypatch.setattr(websocket_filter, "time", _Clock(now))
    line = Line()
    line.send(frame(PING, b"one") * PINGS_PER_S, frame(PONG, b"unasked"))
    assert line.stack.written == answer(PONG, b"one") * PINGS_PER_S
    now[0] += 1.0
    line.send(frame(PING) * PINGS_PER_S)
    line.stack.written.clear()
    line.send(frame(PING))
    assert (line.closed_with, line.stack.failure) == (1008, "WebSocket: more than 100 pings came in a second")


class _Clock:
    def __init__(self, now: list[float]) -> None:
        self._now = now

    def monotonic(self) -> float:
        return self._now[0]


def test_small_messages_are_handed_on_together(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    sizes: list[int] = []
    deliver: Any = line.filter.deliver
    line.filter.deliver = lambda size: (sizes.append(size), deliver(size))[1]
    line.send(frame(BINARY, b"0123456789") * 5)
    assert sizes == [50]
