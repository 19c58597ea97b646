"""A client made of frames, which can do what no library does: send without credit, stop reading, break the protocol."""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

from routerd.wire import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Source, Target, Transfer
from tests.conformance.raw_peer import AMQP_HEADER, EMPTY_FRAME, Frame, framed, parsed
from tests.waiting import WITHIN_S

READ_SIZE = 1 << 16
WINDOW = 1 << 16
SIZE_SIZE = 4

Performative = TypeVar("Performative")


class RawClient:
    """One socket; frames are written when asked, and read when asked."""

    def __init__(self, port: int, *, receive_buffer: int = 0) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(WITHIN_S)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._octets = bytearray()
        self._deliveries = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket without a word."""
        self.socket.close()

    def reset(self) -> None:
        """Close the socket with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    # --- writing

    def send_octets(self, octets: bytes) -> None:
        """Write octets."""
        self.socket.sendall(octets)

    def send(self, *performatives: object, payload: bytes = b"") -> None:
        """Write frames on channel 0, each around one of these."""
        self.send_octets(b"".join(framed(one, payload) for one in performatives))

    def open(self, **fields: Any) -> Open:
        """Exchange headers and opens, and begin a session; return the router's open."""
        self.send_octets(AMQP_HEADER)
        self.send(Open(**{"container_id": "raw-client"} | fields))
        assert self.read_octets(len(AMQP_HEADER)) == AMQP_HEADER
        opened = self.wait_for(Open)
        self.begun = self.begin()
        return opened

    def begin(self) -> Begin:
        """Begin the session on channel 0; return the answer."""
        self.send(Begin(next_outgoing_id=0, incoming_window=WINDOW, outgoing_window=WINDOW))
        return self.wait_for(Begin)

    def attach_producer(self, address: str | None, *, handle: int = 0, **fields: Any) -> Attach:
        """Attach a sending link; return the answer."""
        link: dict[str, Any] = {"name": f"out-{handle}", "handle": handle, "role": False, "initial_delivery_count": 0}
        termini = {"source": Source(), "target": Target(address=address)}
        self.send(Attach(**link | termini | fields))
        return self.wait_for(Attach)

    def attach_consumer(self, address: str | None, *, handle: int = 0, credit: int = 0, **fields: Any) -> Attach:
        """Attach a receiving link with credit; return the answer."""
        link: dict[str, Any] = {"name": f"in-{handle}", "handle": handle, "role": True}
        termini = {"source": Source(address=address), "target": Target()}
        self.send(Attach(**link | termini | fields))
        if credit:
            self.grant(credit, handle=handle)
        return self.wait_for(Attach)

    def grant(self, credit: int, *, handle: int = 0, window: int = WINDOW, delivery_count: int = 0) -> None:
        """Write a flow with credit."""
        flow = Flow(
            next_incoming_id=0, incoming_window=window, next_outgoing_id=self._deliveries, outgoing_window=WINDOW,
            handle=handle, delivery_count=delivery_count, link_credit=credit,
        )  # fmt: skip
        self.send(flow)

    def transfer(self, payload: bytes, *, handle: int = 0, **fields: Any) -> int:
        """Write a first or only transfer; return its delivery-id."""
        number = self._deliveries
        self._deliveries += 1
        first: dict[str, Any] = {"delivery_id": number, "delivery_tag": b"%d" % number, "message_format": 0}
        self.send(Transfer(handle=handle, **first | fields), payload=payload)
        return number

    # --- reading

    def read_octets(self, count: int) -> bytes:
        """Return the next octets; raises EOFError when the router has closed."""
        while len(self._octets) < count:
            octets = self.socket.recv(READ_SIZE)
            if not octets:
                raise EOFError
            self._octets += octets
        taken = bytes(self._octets[:count])
        del self._octets[:count]
        return taken

    def frame(self) -> Frame:
        """Return the next frame that is not empty."""
        while True:
            size = self.read_octets(SIZE_SIZE)
            octets = size + self.read_octets(int.from_bytes(size, "big") - SIZE_SIZE)
            if octets != EMPTY_FRAME:
                return parsed(octets)

    def wait_for(self, kind: type[Performative]) -> Performative:
        """Return the next performative of a kind; others are passed over."""
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            found = self.frame().performative
            if isinstance(found, kind):
                return found
        raise TimeoutError(f"no {kind.__name__} within {WITHIN_S:g} s")

    def wait_for_error(self, kind: type[Detach] | type[End] | type[Close]) -> str:
        """Return the condition of the next performative of a kind."""
        error = self.wait_for(kind).error
        assert error is not None
        return str(error.condition)

    def wait_for_credit(self, *, handle: int | None = None) -> int:
        """Return the credit of the next flow for a link that grants some."""
        while True:
            flow = self.wait_for(Flow)
            if flow.handle is not None and handle in (None, flow.handle) and flow.link_credit:
                return int(flow.link_credit)

    def outcomes(self, count: int) -> dict[int, Any]:
        """Return the states of so many deliveries of ours, by delivery-id."""
        states: dict[int, Any] = {}
        while len(states) < count:
            found = self.wait_for(Disposition)
            if found.role:
                last = found.first if found.last is None else found.last
                states |= dict.fromkeys(range(found.first, last + 1), found.state)
        return states

    def rest(self) -> Iterator[Any]:
        """Yield the performatives until the router closes the socket."""
        with contextlib.suppress(EOFError, ConnectionResetError):
            while True:
                yield self.frame().performative
