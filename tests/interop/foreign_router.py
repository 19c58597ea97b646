"""The other end of a trunk: a qdrouterd 1.19 that is told each thing it says, on a socket that waits with deadlines.

It answers nothing by itself but two things: it gives a credit back for whatever arrives, and it sends an empty frame
when it has waited for a second. What it reads is kept until a test asks for it.
"""

import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from tests.interop.foreign_frames import (
    ACCEPTED,
    AMQP_HEADER,
    CONTROL,
    DATA,
    PRIORITIES,
    RECEIVER,
    RECEIVING,
    SASL_HEADER,
    SENDER,
    SENDING,
    attach_frame,
    begin_frame,
    disposition_frame,
    flow_frame,
    link_name,
    open_frame,
    transfer_frames,
)
from tests.interop.foreign_messages import (
    HINT_BALANCED,
    Control,
    advertisement,
    control_message,
    hello,
    link_state_request,
    link_state_update,
    mobile_changes,
    mobile_request,
    read_control,
)
from tests.interop.foreign_octets import (
    ATTACH,
    BEGIN,
    DISPOSITION,
    INIT,
    MECHANISMS,
    OPEN,
    OUTCOME,
    TRANSFER,
    Frame,
    Typed,
    frame,
    read_frame,
    sasl_frame,
    str8,
    sym8,
    vbin8,
)

WITHIN_S = 20.0
SILENT_S = 1.0

T = TypeVar("T")


class Arrival(NamedTuple):
    """A message that the router under test sent on a data link."""

    channel: int
    handle: int
    number: int
    tag: bytes
    settled: bool
    octets: bytes
    frames: int


@dataclass
class Pair:
    """A receiver and a sender of the foreign router."""

    channel: int
    receiving: int = RECEIVING
    sending: int = SENDING


class ForeignRouter:
    """One connection."""

    def __init__(self, connection: socket.socket, router: str = "B", instance: int = 1795176293) -> None:
        self.socket = connection
        self.socket.settimeout(SILENT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self.id = router
        self.instance = instance
        self.mark = f"0/{router}"
        self.mobile_seq = 0
        self.frames: deque[Frame] = deque()
        """All that came but transfers, flows of which no test asks included."""
        self.controls: deque[Control] = deque()
        self.arrivals: deque[Arrival] = deque()
        self.pairs: list[Pair] = []
        self.control_pair = Pair(0)
        self.control_handle = 0
        """The router's own, of the link by which control messages come."""
        self.receiving: dict[tuple[int, int], int] = {}
        """By channel and the router's own handle: our handles of links by which messages come."""
        self.channels: dict[int, int] = {}
        """By the router's channel ours, where they differ: those are sessions that the router began."""
        self._received: dict[tuple[int, int], int] = {}
        self._arrived: dict[int, int] = {}
        self._sent: dict[int, int] = {}
        self._partial: dict[tuple[int, int], list[Frame]] = {}
        self._numbers: dict[int, int] = {}
        self._octets = bytearray()

    @classmethod
    def to(cls, port: int, router: str = "B", **options: Any) -> Self:
        """Connect to a router."""
        return cls(socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S), router, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    # --- octets

    def say(self, *octets: bytes) -> None:
        """Write octets."""
        self.socket.sendall(b"".join(octets))

    def play(self, octets: bytes) -> None:
        """Write recorded frames, and count what they transfer as ours."""
        self.say(octets)
        while octets:
            size = int.from_bytes(octets[:4], "big")
            one, octets = read_frame(octets[:size]), octets[size:]
            if one.code == TRANSFER:
                self._sent[one.channel] = self._sent.get(one.channel, 0) + 1
                self._numbers[one.channel] = self._numbers.get(one.channel, 0) + (not one["more"])

    def hear(self, count: int, deadline: float) -> bytes:
        """Read octets; raises EOFError when the router has closed."""
        while len(self._octets) < count:
            assert time.monotonic() < deadline, f"not within {WITHIN_S:g} s: {count} octets; {self._state()}"
            try:
                octets = self.socket.recv(1 << 16)
            except TimeoutError:
                self.say(frame(0))
                continue
            if not octets:
                raise EOFError
            self._octets += octets
        taken = bytes(self._octets[:count])
        del self._octets[:count]
        return taken

    def hear_header(self) -> bytes:
        """Read a protocol header."""
        return self.hear(8, time.monotonic() + WITHIN_S)

    def hear_frame(self, deadline: float | None = None) -> Frame:
        """Read a frame that is not empty, and do nothing about it."""
        deadline = deadline or time.monotonic() + WITHIN_S
        while True:
            size = self.hear(4, deadline)
            octets = size + self.hear(int.from_bytes(size, "big") - 4, deadline)
            if len(octets) > 8:
                return read_frame(octets)

    # --- frames

    def until(self, find: Callable[[], T | None], what: str) -> T:
        """Return what is found among what has come, or comes."""
        deadline = time.monotonic() + WITHIN_S
        while (found := find()) is None:
            assert time.monotonic() < deadline, f"not within {WITHIN_S:g} s: {what}; {self._state()}"
            self.take(self.hear_frame(deadline))
        return found

    def wait_for(self, code: int, **fields: Any) -> Frame:
        """Return the first frame of a kind that has come and says this; it is asked for once."""

        def says(one: Frame) -> bool:
            said = [one.channel if name == "channel" else one[name.replace("_", "-")] for name in fields]
            return said == list(fields.values())

        return self.until(
            lambda: _pick(self.frames, lambda one: one.code == code and says(one)), f"{code:#x} that says {fields}"
        )

    def control(self, opcode: str) -> Control:
        """Return the next control message of a kind."""
        return self.until(lambda: _pick(self.controls, lambda one: one.opcode == opcode), opcode)

    def arrival(self) -> Arrival:
        """Return the next message on a data link."""
        return self.until(lambda: self.arrivals.popleft() if self.arrivals else None, "a message")

    def take(self, one: Frame) -> None:
        """Sort a frame, and give back the credit of a transfer."""
        if one.code != TRANSFER:
            self.frames.append(one)
            return
        key = one.channel, one["handle"]
        parts = self._partial.setdefault(key, [])
        parts.append(one)
        self._arrived[one.channel] = self._arrived.get(one.channel, 0) + 1
        if one["more"]:
            return
        del self._partial[key]
        octets = b"".join(part.payload for part in parts)
        if key == (self.control_pair.channel, self.control_handle):
            assert parts[0]["settled"] is True, "control messages are settled"
            self.controls.append(read_control(octets))
        else:
            first = parts[0]
            settled = any(part["settled"] for part in parts)
            details = first["delivery-id"], first["delivery-tag"], settled, octets, len(parts)
            self.arrivals.append(Arrival(*key, *details))
        received = self._received[key] = self._received.get(key, 0) + 1
        channel = self.channels.get(one.channel, one.channel)
        counts = {"arrived": self._arrived[one.channel], "sent": self._sent.get(channel, 0)}
        self.say(flow_frame(channel, self.receiving[key], received, **counts))

    def _state(self) -> str:
        controls, others = [one.opcode for one in self.controls], [(hex(one.code), one.channel) for one in self.frames]
        return f"there are {controls}, {others} and {len(self.arrivals)} messages"

    # --- the opening, as connector

    def open(self, *, security: bool = True, **options: Any) -> Frame:
        """Exchange headers and opens; return the router's."""
        if security:
            self.say(SASL_HEADER, sasl_frame(INIT, sym8("ANONYMOUS"), vbin8(b"anonymous@foreign")))
            assert self.hear_header() == SASL_HEADER
            assert "ANONYMOUS" in self.mechanisms(self.hear_frame())
            outcome = self.hear_frame()
            assert (outcome.code, outcome["code"]) == (OUTCOME, 0)
        self.say(AMQP_HEADER, open_frame(self.id, hostname=str8("127.0.0.1"), **options))
        assert self.hear_header() == AMQP_HEADER
        return self.wait_for(OPEN)

    @staticmethod
    def mechanisms(one: Frame) -> list[str]:
        """Return the mechanisms that a frame offers."""
        assert one.code == MECHANISMS
        offered = one["mechanisms"]
        return offered if isinstance(offered, list) else [offered]

    def attach_control(self, *capabilities: Typed) -> None:
        """Begin a session, and attach the control links on it."""
        self.say(begin_frame(0))
        self._attach(self.control_pair, 0, capabilities or (sym8(CONTROL),))
        self.control_handle = self._answered(self.control_pair)

    def attach_data(self, channel: int, *capabilities: Typed, begins: bool = True, first_handle: int = 0) -> Pair:
        """Attach a pair of data links, on a new session or on one that there is."""
        pair = Pair(channel, first_handle, first_handle + 1)
        self.pairs.append(pair)
        if begins:
            self.say(begin_frame(channel))
        self._attach(pair, 100 * channel + first_handle, capabilities or (sym8(DATA),))
        self._answered(pair)
        return pair

    def accept_stream(self, channel: int) -> Frame:
        """Answer a link that the router attaches on a new session; return its attach once a message has begun."""
        theirs = self.wait_for(BEGIN, remote_channel=None).channel
        attach = self.wait_for(ATTACH, channel=theirs)
        self.say(begin_frame(channel, theirs))
        self.say(attach_frame(channel, attach["name"], 0, RECEIVER, sym8(DATA), expiry="session-end"))
        self.receiving[theirs, attach["handle"]] = 0
        self.channels[theirs] = channel
        self.say(flow_frame(channel, 0))
        place = theirs, attach["handle"]
        self.until(lambda: place if place in self._partial else None, "a message begins")
        return attach

    def _attach(self, pair: Pair, at: int, capabilities: tuple[Typed, ...]) -> None:
        for handle, role in ((pair.receiving, RECEIVER), (pair.sending, SENDER)):
            self.say(attach_frame(pair.channel, link_name(at + handle), handle, role, *capabilities))

    def _answered(self, pair: Pair) -> int:
        """Wait for the answers to a pair, and grant credit; return the router's handle of its sender."""
        answer = self.wait_for(ATTACH, channel=pair.channel, role=False)
        self.wait_for(ATTACH, channel=pair.channel, role=True)
        handle: int = answer["handle"]
        self.receiving[pair.channel, handle] = pair.receiving
        self.say(flow_frame(pair.channel, pair.receiving, 0))
        return handle

    def join(self, *, pairs: int = PRIORITIES, neighbour: str = "A", **options: Any) -> Self:
        """Open, attach everything, and tell so much that messages can be routed."""
        self.open(**options)
        self.attach_control()
        for channel in range(1, 1 + pairs):
            self.attach_data(channel)
        self.greet(neighbour)
        self.control("LSR")
        self.send_links({neighbour: 1})
        self.advertise()
        return self

    def cost(self) -> int:
        """Return what the link to this router costs, once the router tells that it is a neighbour."""
        while self.id not in (peers := self.ask_links().value["ls"]["peers"]):
            self.control("RA")
        found: int = peers[self.id]
        return found

    # --- control messages

    def send_control(self, opcode: str, to: str, body: Typed, *, trace: Iterable[str] | None = None) -> None:
        """Send a control message, as this router spells it."""
        plain = control_message(opcode, to, body, trace=(self.mark,) if trace is None else trace)
        self.send(self.control_pair, self.spelled(opcode, plain), settled=True)

    def spelled(self, opcode: str, octets: bytes) -> bytes:
        """Return a control message in another spelling; a kind of router has its own."""
        return octets

    def greet(self, *seen: str) -> None:
        """Send HELLO."""
        self.send_control("HELLO", "amqp:/_local/qdhello", hello(self.id, self.instance, seen))

    def send_links(self, peers: Mapping[str, int], ls_seq: int = 1, router: str | None = None, to: str = "A") -> None:
        """Send LSU, of this router or of one behind it."""
        router = router or self.id
        body = link_state_update(router, self.instance, ls_seq, peers)
        trace = (self.mark,) if router == self.id else (f"0/{router}", self.mark)
        self.send_control("LSU", f"amqp:/_topo/0/{to}/qdrouter", body, trace=trace)

    def advertise(self, ls_seq: int = 1) -> None:
        """Send RA."""
        body = advertisement(self.id, self.instance, ls_seq, self.mobile_seq)
        self.send_control("RA", "amqp:/_topo/0/all/qdrouter", body)

    def announce(self, *addresses: str, delete: Iterable[str] = (), hint: int = HINT_BALANCED) -> None:
        """Tell what came to the addresses of this router, and what went, each with its class and phase; wait for it."""
        self.mobile_seq += 1
        body = mobile_changes(self.id, self.mobile_seq, addresses, delete, hint)
        self.send_control("MAU", "_topo/0/all/qdrouter.ma", body)
        self.ask_links()

    def ask_links(self, to: str = "A") -> Control:
        """Ask for the link state, and return the answer: all that was sent before has been taken by then."""
        self.send_control("LSR", f"amqp:/_topo/0/{to}/qdrouter", link_state_request(self.id))
        return self.control("LSU")

    def ask_addresses(self, have_seq: int = 0, to: str = "A") -> None:
        """Ask for the addresses."""
        self.send_control("MAR", f"amqp:/_topo/0/{to}/qdrouter.ma", mobile_request(self.id, have_seq))

    def told_of_addresses(self) -> Control:
        """Return the next message about addresses, and ask when the router only says that there is news."""
        while True:
            told = self.until(lambda: _pick(self.controls, lambda one: one.opcode in ("MAU", "RA")), "addresses")
            if told.opcode == "MAU":
                return told
            if told.value["mobile_seq"]:
                self.ask_addresses()

    def wait_until_told(self, key: str) -> None:
        """Wait until the router has told that it has an address."""
        told = self.told_of_addresses()
        while key not in [*told.value.get("add", ()), *told.value.get("exist", ())]:
            told = self.told_of_addresses()

    # --- messages

    def send(self, pair: Pair, octets: bytes, *, settled: bool = False, **options: Any) -> int:
        """Send a message on the sender of a pair; return its delivery-id."""
        number = self._numbers.get(pair.channel, 0)
        self._numbers[pair.channel] = number + 1
        frames = transfer_frames(pair.channel, pair.sending, number, octets, settled=settled, **options)
        self._sent[pair.channel] = self._sent.get(pair.channel, 0) + len(frames)
        self.say(*frames)
        return number

    def begin_message(self, pair: Pair, octets: bytes, frame_size: int = 200) -> tuple[int, list[bytes]]:
        """Send the first frame of a message on the sender of a pair; return its delivery-id, and the other frames."""
        number = self._numbers.get(pair.channel, 0)
        self._numbers[pair.channel] = number + 1
        first, *rest = transfer_frames(pair.channel, pair.sending, number, octets, settled=False, frame_size=frame_size)
        self._sent[pair.channel] = self._sent.get(pair.channel, 0) + 1 + len(rest)
        self.say(first)
        return number, rest

    def outcome(self, pair: Pair, number: int) -> Typed:
        """Return the state that a message of ours is settled with."""

        def find() -> Typed | None:
            for one in self.frames:
                if (one.code, one.channel) == (DISPOSITION, pair.channel) and one["role"]:
                    last = one["first"] if one["last"] is None else one["last"]
                    if one["first"] <= number <= last and one["settled"]:
                        return one.typed("state")
            return None

        return self.until(find, f"an outcome of {number}")

    def settle(self, arrival: Arrival, state: Typed = ACCEPTED) -> None:
        """Settle a message that came."""
        self.say(disposition_frame(self.channels.get(arrival.channel, arrival.channel), arrival.number, state))


def _pick(queue: deque[T], claim: Callable[[T], bool]) -> T | None:
    """Take the first of which a claim holds out of a queue."""
    found = next((one for one in queue if claim(one)), None)
    if found is not None:
        queue.remove(found)
    return found
