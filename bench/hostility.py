"""A hostile peer made of frames: `python -m bench.hostility KIND HOST:PORT SECONDS`.

It does one thing, as fast as the router lets it, until its time is over, and prints how often it did. It is a separate
process, since its interpreter would be in the way of the requests that are measured meanwhile.
"""

import argparse
import contextlib
import itertools
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from routerd.wire import Accepted, Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Source, Target, Transfer
from routerd.wire.composite import encode_composite
from routerd.wire.types import Composite

AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
EMPTY_FRAME = bytes.fromhex("0000000802000000")
BODY = b"\x00\x53\x75\xa0\x01x"
WINDOW = 1 << 20
BLOCK = 1 << 16
"""Octets that are written at a time, about."""
READ_SIZE = 1 << 16
LINKS = 5000
UNSETTLED = 200
ALL_DELIVERIES = (1 << 31) - 1
HANDLES = 1000
"""Links that are attached before all of them are detached again."""
PATIENCE_S = 20.0
ATTACH, FLOW, TRANSFER, END = 0x12, 0x13, 0x14, 0x17


class Failed(Exception):
    """The router did not let it do what it is for."""


def frame(performative: Composite, payload: bytes = b"", channel: int = 0) -> bytes:
    """Return a frame around a performative."""
    body = bytearray()
    encode_composite(body, performative)
    return (len(body) + len(payload) + 8).to_bytes(4, "big") + b"\2\0" + channel.to_bytes(2, "big") + body + payload


def flow(handle: int | None, credit: int | None, **fields: Any) -> bytes:
    """Return a flow."""
    link = {} if handle is None else {"handle": handle, "link_credit": credit, "delivery_count": 0}
    windows = {"next_incoming_id": 0, "incoming_window": WINDOW, "next_outgoing_id": 0, "outgoing_window": WINDOW}
    return frame(Flow(**windows | link | fields))


def producer(handle: int, address: str | None) -> bytes:
    """Return the attach of a link that sends."""
    name = f"out-{handle}"
    target = Target(address=address)
    return frame(
        Attach(name=name, handle=handle, role=False, source=Source(), target=target, initial_delivery_count=0)
    )


def consumer(handle: int, address: str) -> bytes:
    """Return the attach of a link that receives."""
    return frame(
        Attach(name=f"in-{handle}", handle=handle, role=True, source=Source(address=address), target=Target())
    )


def transfer(handle: int, number: int, *, more: bool = False, settled: bool = False) -> bytes:
    """Return the first or only transfer of a delivery."""
    first = Transfer(
        handle=handle, delivery_id=number, delivery_tag=b"%d" % number, message_format=0, settled=settled, more=more
    )
    return frame(first, BODY)


class Peer:
    """One connection; what the router sends is read all the time, and counted by the codes of performatives."""

    def __init__(self, place: str, *, reads: bool = True) -> None:
        host, _, port = place.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        self._changed = threading.Condition()
        self._counts: Counter[int] = Counter()
        self._is_counting = True
        self._is_over = False
        self._reads = reads
        self.send(AMQP_HEADER + frame(Open(container_id="hostile", idle_time_out=60_000)))
        self.begin()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Go without a word."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def begin(self) -> None:
        """Begin the session."""
        self.send(frame(Begin(next_outgoing_id=0, incoming_window=WINDOW, outgoing_window=WINDOW)))

    def send(self, octets: bytes) -> None:
        """Write octets."""
        try:
            self._socket.sendall(octets)
        except OSError as error:
            raise Failed(f"the router takes nothing more: {error}") from error

    def wait(self, code: int, count: int = 1) -> None:
        """Wait for `count` performatives with this code, and count them no more."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._counts[code] >= count or self._is_over, PATIENCE_S):
                raise Failed(f"{self._counts[code]} of {count} performatives {code:#x} came in {PATIENCE_S:g} s")
            if self._counts[code] < count:
                raise Failed("the router closed the connection")
            self._counts[code] -= count

    def look_no_more(self) -> None:
        """Read what comes without a look at it, or nothing more."""
        self._is_counting = False

    def _read(self) -> None:
        octets = bytearray()
        with contextlib.suppress(OSError):
            while found := self._socket.recv(READ_SIZE):
                if not self._is_counting:
                    octets.clear()
                    if not self._reads:
                        return
                    continue
                octets += found
                codes, taken = codes_in(octets)
                del octets[:taken]
                with self._changed:
                    self._counts.update(codes)
                    self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


def codes_in(octets: bytearray) -> tuple[list[int], int]:
    """Return the codes of the performatives in a stream, and where its last whole frame ends."""
    codes, at = [], len(AMQP_HEADER) if octets.startswith(AMQP_HEADER) else 0
    while len(octets) - at >= 4:
        size = int.from_bytes(octets[at : at + 4], "big")
        if len(octets) - at < size:
            break
        if size > 10:
            codes.append(octets[at + 10])
        at += size
    return codes, at


Rounds = Iterator[int]
"""Yields how much was done, again and again."""


def nothing(place: str) -> Rounds:
    """Be connected, and do nothing."""
    with Peer(place):
        while True:
            yield 0
            time.sleep(0.01)


def _again_and_again(peer: Peer, one: bytes) -> Rounds:
    """Send one thing for ever, and read without a look."""
    peer.look_no_more()
    count = max(1, BLOCK // len(one))
    while True:
        peer.send(one * count)
        yield count


def empty_frames(place: str) -> Rounds:
    """Send frames without a performative."""
    with Peer(place) as peer:
        yield from _again_and_again(peer, EMPTY_FRAME)


def messages(place: str) -> Rounds:
    """Send settled messages to a receiver of one's own, by as many transfers as its credit allows."""
    with Peer(place) as peer:
        peer.send(consumer(0, "hostile") + flow(0, 1_000_000) + producer(1, "hostile"))
        peer.wait(ATTACH, 2)
        peer.wait(FLOW)
        number = 0
        while True:
            # Before credit or window are used up.
            renewal = flow(0, 1_000_000, delivery_count=number, next_incoming_id=number)
            peer.send(renewal + b"".join(transfer(1, number + one, settled=True) for one in range(UNSETTLED)))
            number += UNSETTLED
            yield UNSETTLED
            peer.wait(TRANSFER, UNSETTLED)


def empty_transfers(place: str) -> Rounds:
    """Go on with one message for ever, by transfers without an octet."""
    with Peer(place) as peer:
        peer.send(consumer(0, "hostile") + flow(0, 10) + producer(1, "hostile"))
        peer.wait(ATTACH, 2)
        peer.wait(FLOW)
        peer.send(transfer(1, 0, more=True))
        yield from _again_and_again(peer, frame(Transfer(handle=1, more=True)))


def flow_echoes(place: str) -> Rounds:
    """Ask for the state of a link."""
    with Peer(place) as peer:
        peer.send(consumer(0, "hostile"))
        peer.wait(ATTACH)
        yield from _again_and_again(peer, flow(0, 1, echo=True))


def unread_echoes(place: str) -> Rounds:
    """Ask for the state of a link, and never read it; a router that takes no more of it is left in peace."""
    with Peer(place, reads=False) as peer:
        peer.send(consumer(0, "hostile"))
        peer.wait(ATTACH)
        with contextlib.suppress(Failed):
            yield from _again_and_again(peer, flow(0, 1, echo=True))


def unread_sessions(place: str) -> Rounds:
    """Begin and end sessions, and read none of the answers."""
    with Peer(place, reads=False) as peer:
        peer.look_no_more()
        begin = Begin(next_outgoing_id=0, incoming_window=WINDOW, outgoing_window=WINDOW)
        with contextlib.suppress(Failed):
            yield from _again_and_again(peer, frame(begin, channel=1) + frame(End(), channel=1))


def drains(place: str) -> Rounds:
    """Have credit used up that there is nothing for."""
    with Peer(place) as peer:
        peer.send(consumer(0, "hostile"))
        peer.wait(ATTACH)
        yield from _again_and_again(peer, flow(0, 1000, drain=True))


def attaches(place: str) -> Rounds:
    """Attach links to addresses of their own, and detach them."""
    with Peer(place) as peer:
        peer.look_no_more()
        for turn in itertools.count():
            handles = range(HANDLES)
            peer.send(b"".join(consumer(handle, f"hostile.{turn % 100}.{handle}") for handle in handles))
            peer.send(b"".join(frame(Detach(handle=handle, closed=True)) for handle in handles))
            yield HANDLES


def all_handles(place: str) -> Rounds:
    """Attach one link after the other on one session, as many as handles allow, and end it."""
    while True:
        with Peer(place) as peer:
            peer.look_no_more()
            for first in range(0, 65_000, HANDLES):
                peer.send(b"".join(producer(handle, f"hostile.{handle}") for handle in range(first, first + HANDLES)))
                yield HANDLES
            peer.send(frame(End()))


def dispositions(place: str) -> Rounds:
    """Speak of all deliveries that there could be, with some unsettled."""
    with Peer(place) as peer:
        peer.send(consumer(0, "hostile") + flow(0, UNSETTLED) + producer(1, "hostile"))
        peer.wait(ATTACH, 2)
        peer.wait(FLOW)
        peer.send(b"".join(transfer(1, number) for number in range(UNSETTLED)))
        peer.wait(TRANSFER, UNSETTLED)
        yield from _again_and_again(peer, frame(Disposition(role=True, first=0, last=ALL_DELIVERIES)))


def settlements(place: str) -> Rounds:
    """Accept all deliveries that there could be, again and again."""
    with Peer(place) as peer:
        accepting = Disposition(role=True, first=0, last=ALL_DELIVERIES, settled=True, state=Accepted())
        yield from _again_and_again(peer, frame(accepting))


def connects(place: str) -> Rounds:
    """Connect, open and leave."""
    while True:
        with Peer(place) as peer:
            peer.send(frame(Close()))
        yield 1


def _with_unsettled_links(leave: Callable[[Peer], None]) -> Callable[[str], Rounds]:
    def rounds(place: str) -> Rounds:
        for turn in itertools.count():
            address = f"hostile.{turn}"
            with Peer(place) as peer:
                peer.send(b"".join(consumer(number, address) + flow(number, 1) for number in range(LINKS)))
                peer.wait(ATTACH, LINKS)
                for first in range(0, LINKS, UNSETTLED):
                    # Each has credit for its part of them.
                    handle = LINKS + first
                    peer.send(producer(handle, address))
                    peer.wait(FLOW)
                    peer.send(b"".join(transfer(handle, first + number) for number in range(UNSETTLED)))
                    peer.wait(TRANSFER, UNSETTLED)
                leave(peer)
                yield LINKS

    return rounds


def _end(peer: Peer) -> None:
    peer.send(frame(End()))
    peer.wait(END)


def _detach(peer: Peer) -> None:
    peer.send(b"".join(frame(Detach(handle=number, closed=True)) for number in range(LINKS)))
    _end(peer)


KINDS: dict[str, Callable[[str], Rounds]] = {
    "nothing": nothing,
    "empty-frames": empty_frames,
    "messages": messages,
    "empty-transfers": empty_transfers,
    "flow-echoes": flow_echoes,
    "unread-echoes": unread_echoes,
    "unread-sessions": unread_sessions,
    "drains": drains,
    "attaches": attaches,
    "all-handles": all_handles,
    "dispositions": dispositions,
    "settlements": settlements,
    "connects": connects,
    "end": _with_unsettled_links(_end),
    "close": _with_unsettled_links(lambda peer: peer.send(frame(Close()))),
    "detach": _with_unsettled_links(_detach),
    "disconnect": _with_unsettled_links(Peer.close),
}


def run(kind: str, place: str, seconds: float) -> int:
    """Do it until the time is over; return how often it was done."""
    end = time.monotonic() + seconds
    done = 0
    for count in KINDS[kind](place):
        done += count
        if time.monotonic() >= end:
            break
    return done


def main() -> int:
    """Parse the command line, be hostile, print how often."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostility", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("place", metavar="HOST:PORT")
    parser.add_argument("seconds", type=float)
    arguments = parser.parse_args()
    try:
        print(run(arguments.kind, arguments.place, arguments.seconds))
    except (Failed, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
