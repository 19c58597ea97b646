"""What a link of the load does: produce, consume, request, respond, or nothing but be attached.

A role is the context of its link. It attaches when its session has begun, is pumped when it may have something to
send, and takes what arrives. All that is done per message is here and compiled.
"""

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from routerd.cli.load.meter import UNMEASURED, Meter
from routerd.cli.load.stamps import (
    body_place,
    data_message,
    put_number,
    put_stamp,
    reply_head,
    request_message,
    stamp_in,
)
from routerd.wire import Source, Target
from routerd.wire.sections import Sections

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.receiver import Receiver
    from routerd.wire.sender import Sender
    from routerd.wire.session import Session

_SETTLED, _MIXED = 1, 2
_UNMEASURED = UNMEASURED
_NO_STAMP = -1


class Role:
    """What all roles have: a meter, and whether all their links are attached."""

    def __init__(self, meter: Meter, name: str, address: str) -> None:
        self.meter = meter
        self.name = name
        self.address = address
        self.is_ready = False

    def start(self, session: "Session") -> None:
        """Attach the links of the role on a session that has begun."""
        raise NotImplementedError

    def attached(self, link: "Link") -> None:
        """Take the answer to an attach."""
        self.is_ready = True

    def pump(self, limit: int) -> bool:
        """Send what may be sent, until the output holds `limit` octets; say whether more could be sent then."""
        return False

    def take(self, link: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int) -> None:
        """Take octets of a message that arrived."""

    def due_ns(self) -> int:
        """Return when the role wants to be pumped though nothing happens; 0 for never."""
        return 0


class Producing(Role):
    """Sends messages as fast as credit allows, or at a rate."""

    def __init__(
        self, meter: Meter, name: str, address: str, size: int, is_settled: bool, interval_ns: int = 0
    ) -> None:
        Role.__init__(self, meter, name, address)
        self.link: Any = None
        self._message, self._stamp_at = data_message(size)
        self._is_settled = is_settled
        self._interval_ns = interval_ns
        self._next_ns = 0

    def start(self, session: "Session") -> None:
        """Attach a sender."""
        self.link = session.sender(self.name)
        self.link.context = self
        self.link.attach(
            source=Source(address=self.name),
            target=Target(address=self.address),
            snd_settle_mode=_SETTLED if self._is_settled else _MIXED,
        )

    def schedule(self, first_ns: int) -> None:
        """Say when the first message is due, when sending at a rate."""
        self._next_ns = first_ns

    def due_ns(self) -> int:
        """Return when the next message is due, if it could be sent."""
        if self._interval_ns == 0 or not self.is_ready or not self.meter.is_sending or self.link.credit <= 0:
            return 0
        return self._next_ns

    def pump(self, limit: int) -> bool:
        """Send until credit, the peer's window, the rate or the end of the measurement forbid it."""
        link = self.link
        meter = self.meter
        if not meter.is_sending or not self.is_ready or not link.is_attached:
            return False
        session = link.session
        output = session.output
        is_settled = self._is_settled
        message = self._message
        while link.credit > 0 and not session.has_backlog:
            if output.end >= limit:
                return True
            stamp = time.monotonic_ns()
            if self._interval_ns > 0:
                if self._next_ns > stamp:
                    return False
                # What is late counts from when it was due: a stall shows in the latency of all that it delayed.
                stamp = self._next_ns
                self._next_ns += self._interval_ns
            if not meter.may_send(stamp):
                return False
            put_stamp(message, self._stamp_at, stamp)
            link.send(message, None, is_settled, 0, None if stamp >= meter.measure_from_ns else _UNMEASURED)
            if not is_settled:
                meter.outstanding += 1
        return False


class Consuming(Role):
    """Receives messages and accepts them; tops up the credit when half of it is used."""

    def __init__(self, meter: Meter, name: str, address: str, credit: int) -> None:
        Role.__init__(self, meter, name, address)
        self._credit = credit
        self._is_inside = False
        self._stamp = _NO_STAMP

    def start(self, session: "Session") -> None:
        """Attach a receiver, with its credit."""
        receiver = session.receiver(self.name)
        receiver.context = self
        receiver.attach(source=Source(address=self.address), target=Target(address=self.name))
        receiver.grant(self._credit)

    def take(self, link: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int) -> None:
        """Measure, accept, and grant."""
        if not self._is_inside:
            self._stamp = stamp_in(data, start, end)
        self._is_inside = delivery.is_partial
        if self._is_inside:
            return
        if not delivery.is_aborted:
            self.meter.receive(self._stamp)
            if not delivery.remote_settled:
                delivery.accept()
        if link.credit <= self._credit >> 1:
            link.grant(self._credit - link.credit)


class Requesting(Role):
    """Sends requests, a number of them in flight, and measures until their replies arrive."""

    def __init__(
        self, meter: Meter, name: str, address: str, size: int, is_settled: bool, in_flight: int, credit: int
    ) -> None:
        Role.__init__(self, meter, name, address)
        self.link: Any = None
        self._size = size
        self._is_settled = is_settled
        self._in_flight = in_flight
        self._credit = max(credit, in_flight)
        self._open_requests = 0
        self._is_inside = False
        self._stamp = _NO_STAMP

    def start(self, session: "Session") -> None:
        """Attach a receiver with a dynamic source; its address is told in the answer."""
        replies = session.receiver(f"{self.name}-replies")
        replies.context = self
        replies.attach(source=Source(dynamic=True), target=Target(address=self.name))
        replies.grant(self._credit)

    def attached(self, link: "Link") -> None:
        """With the reply address at hand, attach the sender; with both, be ready."""
        if link.is_sender:
            self.is_ready = True
            return
        reply_to = link.remote_source.address
        self._message, self._stamp_at, self._number_at = request_message(self._size, reply_to)
        self.link = link.session.sender(self.name)
        self.link.context = self
        self.link.attach(
            source=Source(address=self.name),
            target=Target(address=self.address),
            snd_settle_mode=_SETTLED if self._is_settled else _MIXED,
        )

    def pump(self, limit: int) -> bool:
        """Send requests as long as fewer than the given number are open."""
        link = self.link
        meter = self.meter
        if not meter.is_sending or not self.is_ready or not link.is_attached:
            return False
        while self._open_requests < self._in_flight and link.credit > 0 and not link.session.has_backlog:
            if link.session.output.end >= limit:
                return True
            stamp = time.monotonic_ns()
            if not meter.may_send(stamp):
                return False
            put_stamp(self._message, self._stamp_at, stamp)
            put_number(self._message, self._number_at, stamp)
            link.send(self._message, None, self._is_settled, 0, None if stamp >= meter.measure_from_ns else _UNMEASURED)
            self._open_requests += 1
            if not self._is_settled:
                meter.outstanding += 1
        return False

    def take(self, link: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int) -> None:
        """Measure a reply, and accept it."""
        if not self._is_inside:
            self._stamp = stamp_in(data, start, end)
        self._is_inside = delivery.is_partial
        if self._is_inside:
            return
        if not delivery.is_aborted:
            self._open_requests -= 1
            self.meter.receive(self._stamp)
            if not delivery.remote_settled:
                delivery.accept()
        if link.credit <= self._credit >> 1:
            link.grant(self._credit - link.credit)


class Responding(Role):
    """Answers requests to the address that they name, over one sender for all addresses or the link it belongs to."""

    def __init__(
        self,
        meter: Meter,
        name: str,
        address: str,
        is_settled: bool,
        credit: int,
        reply_links: "dict[str, Sender] | None" = None,
    ) -> None:
        Role.__init__(self, meter, name, address)
        self.link: Any = None
        self._is_settled = is_settled
        self._credit = credit
        self._reply_links = reply_links
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._partial = bytearray()
        self._sections = Sections(b"")

    def start(self, session: "Session") -> None:
        """Attach a sender to no address in particular, and the receiver of the requests."""
        self.link = session.sender(f"{self.name}-replies")
        self.link.context = self
        self.link.attach(
            source=Source(address=self.name),
            target=Target(address=None),
            snd_settle_mode=_SETTLED if self._is_settled else _MIXED,
        )
        requests = session.receiver(self.name)
        requests.context = self
        requests.attach(source=Source(address=self.address), target=Target(address=self.name))
        requests.grant(self._credit)

    def attached(self, link: "Link") -> None:
        """Be ready once the requests can come."""
        if not link.is_sender:
            self.is_ready = True

    def pump(self, limit: int) -> bool:
        """Send the replies for which there was no credit."""
        while self._waiting:
            if not self._send(self._waiting[0][0], self._waiting[0][1]):
                return False
            self._waiting.popleft()
        return False

    def take(self, link: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int) -> None:
        """Reply with the correlation-id and the body of the request."""
        if delivery.is_partial or len(self._partial) > 0:
            self._partial += data[start:end]
            if delivery.is_partial:
                return
            data = bytes(self._partial)
            self._partial.clear()
            start = 0
            end = len(data)
        if not delivery.is_aborted:
            self.meter.answered += 1
            self._reply(data, start, end)
            if not delivery.remote_settled:
                delivery.accept()
        if link.credit <= self._credit >> 1:
            link.grant(self._credit - link.credit)

    def _reply(self, data: bytes | bytearray, start: int, end: int) -> None:
        body_at = body_place(data, start, end)
        self._sections.reset(data, start, end, False)
        reply_to: Any = self._sections.reply_to
        if body_at < 0 or reply_to is None:
            self.meter.fail("a request without reply-to or without a body was not answered")
            return
        reply = reply_head(reply_to, self._sections.correlation_id) + data[body_at:end]
        if self._waiting or not self._send(reply_to, reply):
            self._waiting.append((reply_to, reply))

    def _send(self, reply_to: str, reply: bytes) -> bool:
        link = self.link if self._reply_links is None else self._reply_links.get(reply_to)
        if link is None or not link.is_attached:
            self.meter.fail(f"a reply to {reply_to!r} could not be sent: its link is not attached")
            return True
        if link.credit <= 0 or link.session.has_backlog:
            return False
        link.send(reply, None, self._is_settled, 0, _UNMEASURED)
        if not self._is_settled:
            self.meter.outstanding += 1
        return True


class Standing(Role):
    """Is attached as a receiver, and takes no messages: the load is the attach itself, or that the link is there."""

    def __init__(self, meter: Meter, name: str, address: str) -> None:
        Role.__init__(self, meter, name, address)
        self._asked_ns = 0

    def start(self, session: "Session") -> None:
        """Attach a receiver."""
        receiver = session.receiver(self.name)
        receiver.context = self
        self._asked_ns = time.monotonic_ns()
        receiver.attach(source=Source(address=self.address), target=Target(address=self.name))

    def attached(self, link: "Link") -> None:
        """Measure how long the answer took."""
        self.is_ready = True
        self.meter.time_attach(self._asked_ns)
