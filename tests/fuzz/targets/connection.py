"""A whole connection: plausible frames with fuzzed fields, calls of the application between them, both roles."""

from tests.fuzz import octets as o
from tests.fuzz.choices import Choices
from tests.fuzz.peer import Peer, PeerSession
from tests.fuzz.play import CONFIGS, Step, play

MOST_STEPS = 120
MOST_OCTETS = 16_000
OPEN = o.framed(o.composite(o.OPEN, o.string("peer")))
SMALL_OPEN = o.framed(o.composite(o.OPEN, o.string("peer"), o.NULL, o.uint(512), o.ushort(3), o.uint(1000)))
BEGIN = o.framed(o.composite(o.BEGIN, o.NULL, o.uint(0), o.uint(100), o.uint(100), o.uint(7)))
BEGUN = o.framed(o.composite(o.BEGIN, o.ushort(0), o.uint(0), o.uint(100), o.uint(100), o.uint(7)))
TERMINI = (o.SOURCES[0], o.TARGETS[0], o.NULL, o.FALSE)
SENDER = o.framed(
    o.composite(o.ATTACH, o.string("a"), o.uint(0), o.FALSE, o.NULL, o.NULL, *TERMINI, o.uint(0))
)
RECEIVER = o.framed(o.composite(o.ATTACH, o.string("a"), o.uint(1), o.TRUE, o.NULL, o.NULL, *TERMINI))
CREDIT = o.framed(
    o.composite(o.FLOW, o.uint(0), o.uint(100), o.uint(0), o.uint(100), o.uint(1), o.uint(0), o.uint(10))
)
# Calls by their places in Calls._actions.
CALL_OPEN, CALL_SESSION = b"\x0b", b"\x05"
CALL_SENDER, CALL_RECEIVER = b"\x03\x00\x00", b"\x03\x00\x01"


def run(data: bytes) -> None:
    """Compose a run from the octets and play it."""
    choices = Choices(data)
    options = choices.octet()
    is_client = options & 1 == 1
    steps = compose(choices, is_client, options >> 3 & 7)
    play(CONFIGS[options >> 1 & 3], steps, data, is_client=is_client)


def compose(choices: Choices, is_client: bool, depth: int) -> list[Step]:
    """Return the steps of a run, of which the first few get the connection to a certain depth."""
    peer = Peer(choices, answers=is_client)
    peer.has_header = depth > 0
    peer.is_open = depth > (2 if is_client else 1)
    if depth > 3:
        peer.sessions[0] = PeerSession(handles={0: True, 1: False} if depth > 4 else {})
    steps = _client_beginning(depth) if is_client else _server_beginning(depth)
    size = 0
    while choices.left and len(steps) < MOST_STEPS and size < MOST_OCTETS:
        step = _step(choices, peer)
        size += len(step.octets)
        steps.append(step)
    return steps


def _step(choices: Choices, peer: Peer) -> Step:
    kind = choices.octet()
    holds = kind & 0x10 != 0
    if kind < 0xA0:
        return Step(octets=b"".join([peer.frame() for _ in range(1 + (kind & 3))]), holds=holds)
    if kind < 0xF0:
        return Step(call=choices.octets(6), holds=holds)
    return Step(seconds=choices.one_of((0.1, 0.5, 1.0, 5.0, 60.0)), holds=holds)


def _server_beginning(depth: int) -> list[Step]:
    first_open = SMALL_OPEN if depth & 1 else OPEN
    frames = (o.AMQP_HEADER, first_open, BEGIN, SENDER + RECEIVER, CREDIT)
    count = (0, 1, 2, 2, 3, 4, 5, 5)[depth]
    return [Step(octets=b"".join(frames[:count]))]


def _client_beginning(depth: int) -> list[Step]:
    first_open = SMALL_OPEN if depth & 1 else OPEN
    steps = [
        Step(octets=o.AMQP_HEADER),
        Step(call=CALL_OPEN),
        Step(octets=first_open),
        Step(call=CALL_SESSION),
        Step(octets=BEGUN),
        Step(call=CALL_SENDER),
        Step(call=CALL_RECEIVER),
        Step(octets=SENDER + RECEIVER),
        Step(octets=CREDIT),
    ]
    return steps[: (0, 1, 2, 3, 5, 8, 9, 9)[depth]]
