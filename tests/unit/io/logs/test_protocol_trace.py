from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.logs.protocol_trace import KEPT_OCTETS, FrameTracer
from routerd.wire import Error, Source, Symbol, Target, UInt
from routerd.wire.sasl import AnonymousServer, PlainClient, SaslClient, SaslServer
from tests.endpoints import Pair, Recorder

TRANSFER = b"\x00\x53\x14\xc0\x08\x05\x43\x43\xa0\x01t\x43\x42"
TRANSFER_TEXT = '@transfer(20) [handle=0, delivery-id=0, delivery-tag=b"t", message-format=0, settled=false]'
AMQP = b"AMQP\x00\x01\x00\x00"


def frame(body: bytes, channel: int = 0, kind: int = 0) -> bytes:
    return (len(body) + 8).to_bytes(4, "big") + bytes([2, kind]) + channel.to_bytes(2, "big") + body


def traced(*portions: bytes, begun: bytes = b"") -> list[str]:
    """The texts of what was received in these portions, without what they all begin with."""
    texts: list[str] = []
    tracer = FrameTracer(1, texts.append, begun)
    for portion in portions:
        tracer.received(memoryview(portion))
    assert all(text.startswith("[C1]:FRAME: ") for text in texts)
    return [text.removeprefix("[C1]:FRAME: ") for text in texts]


class Traced(Pair):
    """Two ends, and the trace of the server's connection."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.texts: list[str] = []
        self.tracer = FrameTracer(7, self.texts.append)

    def pump(self) -> None:
        """Carry octets both ways, past the tracer."""
        while True:
            upward = self.client.data_to_send(0.0)
            self.to_server += upward
            self.tracer.received(memoryview(upward))
            self.server.receive_data(upward, 0.0)
            downward = self.server.data_to_send(0.0)
            self.tracer.sent(memoryview(downward))
            self.client.receive_data(downward, 0.0)
            if not upward and not downward:
                return


def conversation() -> Traced:
    """A connection from its header to its close."""
    pair = Traced()
    recorder = pair.at_server
    assert isinstance(recorder, Recorder)
    pair.server.start(0.0)
    pair.client.start(0.0)
    pair.client.open()
    pair.pump()
    session = pair.client.session()
    session.begin()
    link = session.sender("link")
    link.attach(source=Source(), target=Target(address="orders"))
    pair.pump()
    recorder.links["link"].grant(10)
    pair.pump()
    link.send(b"\x00Sw\xa1\x05hello", tag=b"tag")
    pair.pump()
    recorder.deliveries[0].accept()
    pair.pump()
    link.detach(error=Error(condition=Symbol("x:y"), description="two\nlines", info={Symbol("k"): UInt(3)}))
    session.end()
    pair.client.close()
    pair.pump()
    return pair


WINDOWS = "next-outgoing-id=0, incoming-window=2048, outgoing-window=2048"
FLOW = "next-incoming-id=0, incoming-window=2048, next-outgoing-id=0, outgoing-window=2048, handle=0, delivery-count=0"
CONVERSATION = f"""
[C7]:FRAME:  <- AMQP
[C7]:FRAME: 0 <- @open(16) [container-id="client", max-frame-size=65536, channel-max=32767]
[C7]:FRAME:  -> AMQP
[C7]:FRAME: 0 -> @open(16) [container-id="server", max-frame-size=65536, channel-max=32767]
[C7]:FRAME: 0 <- @begin(17) [{WINDOWS}, handle-max=65535]
[C7]:FRAME: 0 <- @attach(18) [name="link", handle=0, role=false, source=@source(40) [], \
target=@target(41) [address="orders"], initial-delivery-count=0]
[C7]:FRAME: 0 -> @begin(17) [remote-channel=0, {WINDOWS}, handle-max=65535]
[C7]:FRAME: 0 -> @attach(18) [name="link", handle=0, role=true, source=@source(40) [], \
target=@target(41) [address="orders"]]
[C7]:FRAME: 0 -> @flow(19) [{FLOW}, link-credit=10, drain=false, echo=false]
[C7]:FRAME: 0 <- @transfer(20) [handle=0, delivery-id=0, delivery-tag=b"tag", message-format=0, settled=false] \
(10) "\\x00Sw\\xa1\\x05hello"
[C7]:FRAME: 0 -> @disposition(21) [role=true, first=0, settled=true, state=@accepted(36) []]
[C7]:FRAME: 0 <- @detach(22) [handle=0, closed=true, \
error=@error(29) [condition=:"x:y", description="two\\nlines", info={{:k=3}}]]
[C7]:FRAME: 0 <- @end(23) []
[C7]:FRAME: 0 <- @close(24) []
[C7]:FRAME: 0 -> @detach(22) [handle=0, closed=true]
[C7]:FRAME: 0 -> @end(23) []
[C7]:FRAME: 0 -> @close(24) []
"""


def test_every_performative_is_shown_with_its_fields() -> None:
    assert conversation().texts == CONVERSATION.strip().split("\n")


def test_passwords_are_not_shown() -> None:
    client = SaslClient([PlainClient("user", "password")])
    pair = Traced(client_sasl=client, server_sasl=SaslServer([AnonymousServer()]))
    pair.server.start(0.0)
    pair.client.start(0.0)
    pair.pump()
    octets = b"\x00\x53\x41\xc0\x18\x02\xa3\x05PLAIN\xa0\x0e\x00user\x00password"
    pair.tracer.received(memoryview(frame(octets, kind=1)))
    assert pair.texts == [
        "[C7]:FRAME:  <- SASL",
        "[C7]:FRAME:  -> SASL",
        "[C7]:FRAME: 0 -> @sasl-mechanisms(64) [sasl-server-mechanisms=:ANONYMOUS]",
        "[C7]:FRAME: 0 <- @sasl-init(65) [mechanism=:PLAIN, initial-response=(14 octets)]",
    ]


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (frame(b"", 3), "3 <- (EMPTY FRAME)"),
        (b"\x00\x00\x00\x0c\x03\x00\x00\x05more", "5 <- (EMPTY FRAME)"),
        (b"AMQP\x02\x01\x00\x00", " <- TLS"),
        (b"AMQP\x00\x00\x09\x01", " <- AMQP (protocol 0, version 0.9.1)"),
        (frame(TRANSFER), f'0 <- {TRANSFER_TEXT} (0) ""'),
        (frame(TRANSFER + b"x" * 64), f'0 <- {TRANSFER_TEXT} (64) "{"x" * 64}"'),
        (frame(TRANSFER + b"x" * 65), f'0 <- {TRANSFER_TEXT} (65) "{"x" * 64}"...'),
        (frame(b"\x00\x53\x24\x45"), "0 <- @accepted(36) []"),
        (frame(b"\x00\x53\x18\x45more"), '0 <- @close(24) [] (4) "more"'),
        (frame(b"\x00\x53\x99\x45"), "0 <- @153 []"),
        (frame(b"\x41\x42"), '0 <- true (1) "B"'),
        (frame(b"\x00\x53"), '0 <- (malformed: a value is cut short (octet 9)) (2) "\\x00S"'),
        (frame(b"\xa1\x80password", kind=1), "0 <- (malformed: a value of 128 octets is cut short (octet 8)) (10)"),
        (frame(b"\xa1\x08password", kind=1), "0 <- (no SASL frame) (10)"),
        (frame(b"\x00\x53\x44\xc0\x03\x01\x50\x00password", kind=1), "0 <- @sasl-outcome(68) [code=0] (8)"),
        (b"GET / HTTP/1.1\r\n\r\n", ' <- (no AMQP) "GET / HTTP/1.1\\x0d\\x0a\\x0d\\x0a"'),
        (b"\x00\x00\x00\x07\x02\x00\x00\x00", ' <- (no AMQP) "\\x00\\x00\\x00\\x07\\x02\\x00\\x00\\x00"'),
        (b"\x00\x00\x00\x08\x03\x00\x00\x00", ' <- (no AMQP) "\\x00\\x00\\x00\\x08\\x03\\x00\\x00\\x00"'),
        (b"\x00\x00\x00\x08\x01\x00\x00\x00", ' <- (no AMQP) "\\x00\\x00\\x00\\x08\\x01\\x00\\x00\\x00"'),
        (b"\x00\x00\x00\x08\x02\x02\x00\x00", ' <- (no AMQP) "\\x00\\x00\\x00\\x08\\x02\\x02\\x00\\x00"'),
    ],
)
def test_what_peers_send_has_a_line(octets: bytes, text: str) -> None:
    assert traced(octets) == [text]


def test_behind_what_is_no_amqp_nothing_is_shown() -> None:
    assert traced(frame(b""), b"GET / HTTP/1.1", b" more", AMQP) == [
        "0 <- (EMPTY FRAME)",
        ' <- (no AMQP) "GET / HTTP/1.1"',
    ]


def test_each_direction_is_understood_by_itself() -> None:
    texts: list[str] = []
    tracer = FrameTracer(1, texts.append)
    tracer.received(memoryview(b"GET / HTTP/1.1"))
    tracer.sent(memoryview(AMQP))
    assert texts[1:] == ["[C1]:FRAME:  -> AMQP"]


def test_a_trace_may_begin_amid_a_frame() -> None:
    octets = frame(TRANSFER + b"hello")
    for at in range(len(octets)):
        assert traced(octets[at:] + AMQP, begun=octets[:at]) == [f'0 <- {TRANSFER_TEXT} (5) "hello"', " <- AMQP"]


@pytest.mark.parametrize("portion", [1 << 20, 4096, 17])
@pytest.mark.parametrize("begun", [0, KEPT_OCTETS + 10])
def test_of_a_long_frame_the_end_is_only_counted(portion: int, begun: int) -> None:
    octets = frame(TRANSFER + b"x" * (2 * KEPT_OCTETS)) + AMQP
    rest = octets[begun:]
    portions = [rest[at : at + portion] for at in range(0, len(rest), portion)]
    assert traced(*portions, begun=octets[:begun]) == [
        f'0 <- {TRANSFER_TEXT} ({2 * KEPT_OCTETS}) "{"x" * 64}"...',
        " <- AMQP",
    ]


@given(st.lists(st.integers(0, 400)))
def test_how_octets_are_cut_changes_nothing(cuts: list[int]) -> None:
    octets = bytes(conversation().to_server)
    places = sorted({0, len(octets), *(cut for cut in cuts if cut < len(octets))})
    portions = [octets[start:stop] for start, stop in pairwise(places)]
    assert traced(*portions) == traced(octets)


@given(st.lists(st.binary(max_size=40)), st.binary(max_size=20))
def test_no_octets_are_too_much(portions: list[bytes], begun: bytes) -> None:
    traced(*portions, begun=begun)
    for portion in portions:
        [text] = traced(frame(portion, kind=0))
        assert text.startswith("0 <- ")
