"""The connection by which an exchange takes messages, and sends them on.

It is a connection of the router to itself, as a `LoopBack` is. At its far end is a consumer at the exchange's address,
and a producer for each next hop. So the router knows messages that enter or leave an exchange as those of any client.

```
 producer --> address of the exchange --> ExchangeLoop --> address of a next hop --> consumer
                      |                        |
              other consumers there            +---------> address of another
```

A message is sent on as it comes, frame by frame. A `Passing` is a message under way here. It has the copies that were
sent, and those that wait for credit. It is settled with its producer when all copies have an outcome, with the highest
one (`rank_of`). Each next hop has a session to itself, so a next hop that stands still does not close the window of
others. If a copy of an incomplete message cannot leave, the window of the exchange stays closed for its frames.
"""

from collections import deque
from typing import TYPE_CHECKING, Any

from routerd.core.inside.exchange import Exchange, NextHop
from routerd.core.inside.inner_connection import InnerConnection
from routerd.core.links.fan_out import MAYBE_SEEN, rank_of
from routerd.core.links.peer import INNER
from routerd.core.settings import DEFAULT_LINK_CAPACITY
from routerd.wire import (
    RELEASED,
    DecodeError,
    Error,
    NeedsMore,
    Rejected,
    Source,
    Symbol,
    Target,
    is_outcome,
)
from routerd.wire.connection import Connection
from routerd.wire.delivery import Delivery
from routerd.wire.link import Link
from routerd.wire.sections import Sections
from routerd.wire.session import Session

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.router import Router
    from routerd.wire.receiver import Receiver
    from routerd.wire.sender import Sender

CAPACITY = DEFAULT_LINK_CAPACITY
"""The limit of messages under way in an exchange, and of settled copies that wait for one next hop."""
FRAME_SIZE = 1 << 14
WINDOW_FRAMES = 256
"""Both limits together bound the octets of large messages whose copies wait."""
SUBJECT_WITHIN = 1 << 20
"""Octets of a message that must contain its subject."""

_CAPACITY = CAPACITY
_SUBJECT_WITHIN = SUBJECT_WITHIN
_RELEASED = RELEASED
_MAYBE_SEEN = MAYBE_SEEN
_NOTHING = b""
_UNKNOWN = object()
"""Stands for a subject that has not come yet."""
_TOO_FAR_BEHIND = Rejected(
    error=Error(
        condition="amqp:link:message-size-exceeded",
        description=f"the subject is not within the first {SUBJECT_WITHIN} octets",
    )
)


class Passing:
    """A message on its way through an exchange."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.is_settled = delivery.remote_settled
        self.is_complete = False
        self.is_aborted = False
        # The octets, while the subject has not come or a copy waits; and the number of octets for the next attempt.
        self.octets = bytearray()
        self.is_collecting = False
        self.due = 0
        # Copies that wait, all copies without an outcome, and copies that are being sent meanwhile.
        self.waiting = 0
        self.open_copies = 0
        self.under_way: list[Delivery] = []
        # Frames whose window stays closed while copies wait.
        self.frames = 0
        self.outcome: Any = None
        self.rank = -1

    def combine(self, outcome: Any) -> None:
        """Count the outcome of a copy."""
        self.open_copies -= 1
        rank = rank_of(outcome)
        if rank > self.rank:
            self.rank = rank
            self.outcome = outcome


class ExchangeLoop(InnerConnection):
    """The connection of one exchange."""

    receiver: "Receiver | None"

    def __init__(self, router: "Router", exchange: Exchange, now: float) -> None:
        peer: Peer = router.connections.new_peer(INNER, CAPACITY)
        # Messages go in and out here as on links of clients, and their way through the network begins anew.
        peer.is_followed = True
        peer.strips_in = True
        container_id = f"{router.settings.id}#exchange/{exchange.settings.name}"
        super().__init__(router, peer, container_id, now, frame_size=FRAME_SIZE, window=WINDOW_FRAMES)
        self.exchange = exchange
        self._addresses = router.directory.addresses
        self._sections = Sections(_NOTHING)
        self._names = 0
        # The consumer at the exchange's address, while there is any next hop; and earlier ones.
        self.receiver = None
        self._former: dict[Receiver, None] = {}
        # Next hops without a binding.
        self._former_hops: dict[NextHop, None] = {}
        # Settled messages with copies that wait; unsettled ones are deliveries anyway.
        self._held = 0
        self._session = self._far.session()
        self._session.begin()

    # --- links

    def on_opened(self, connection: Connection, performative: Any) -> None:
        """Attach the links. Until the near end is open, the connection has one session only."""
        for hop in self.exchange.hops.values():
            self.open_hop(hop)
        if self.exchange.alternate is not None:
            self.open_hop(self.exchange.alternate)
        self.look_for_ways()

    def look_for_ways(self) -> None:
        """Consume while messages have a destination. Without bindings the address is like any other."""
        if self._far.remote_open is None:
            return
        receiver = self.receiver
        if self.exchange.has_ways and receiver is None:
            settings = self.exchange.settings
            receiver = self.receiver = self._session.receiver(self._name())
            capability = Symbol(f"qd.waypoint.{settings.phase + 1}")
            receiver.attach(source=Source(address=settings.address, capabilities=(capability,)), target=Target())
        elif receiver is not None and not self.exchange.has_ways:
            self.retire()

    def retire(self) -> None:
        """Take no further messages; continue with those that were taken."""
        receiver, self.receiver = self.receiver, None
        if receiver is None:
            return
        self._former[receiver] = None
        for outlet in list(self.peer.outlets):
            if outlet.link.name == receiver.name:
                self._router.clients.retire(outlet)

    def open_hop(self, hop: NextHop) -> None:
        """Attach the link for a next hop that has none."""
        if self._far.remote_open is None or hop.link is not None:
            return
        session = self._far.session()
        session.begin()
        link = session.sender(self._name())
        link.context = session.context = hop
        hop.link = link
        capability = Symbol(f"qd.waypoint.{hop.phase}")
        link.attach(source=Source(), target=Target(address=hop.address, capabilities=(capability,)))

    def close_hop(self, hop: NextHop) -> None:
        """Detach the link of a next hop without a binding, once nothing is under way there."""
        self._former_hops[hop] = None
        self.tidy()

    def tidy(self) -> None:
        """Detach links that are not needed any more and have nothing under way."""
        for hop in list(self._former_hops):
            if hop.is_idle():
                del self._former_hops[hop]
                if hop.link is not None and hop.link.is_attached:
                    hop.link.detach()
        for receiver in list(self._former):
            if receiver.unsettled_count == 0 and self._held == 0:
                del self._former[receiver]
                if receiver.is_attached:
                    receiver.detach()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        if self.receiver is not None or self._former or self._former_hops:
            return False
        for hop in (*self.exchange.hops.values(), self.exchange.alternate):
            if hop is not None and not hop.is_idle():
                return False
        return True

    def _name(self) -> str:
        self._names += 1
        return f"exchange {self.exchange.settings.name} {self._names}"

    # --- the transport

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended, by a fault or with the router."""
        return self._far.is_finished

    def carry(self, now: float) -> bool:
        """Carry the output of either end to the other, once; return whether there was output."""
        had_output = self.carry_down(now)
        # Nothing more may come for now, so the credit for more leaves with this output.
        self._top_up()
        return self.carry_up(now) or had_output

    def _top_up(self) -> None:
        receiver = self.receiver
        if receiver is not None and receiver.is_attached:
            room = _CAPACITY - receiver.credit - receiver.unsettled_count - self._held
            if room >= _CAPACITY >> 1:
                receiver.grant(room)

    # --- messages that come

    def on_transfer(
        self, receiver: Link, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Send a message on, or wait for its subject."""
        passing: Passing | None = delivery.context
        if passing is not None:
            self._go_on(passing, data, start, end)
        elif delivery.size == end - start and delivery.state is None and not delivery.is_aborted:
            # Otherwise it is the rest of a message that was matched before.
            subject = self._subject_of(delivery, data, start, end)
            if subject is _UNKNOWN:
                passing = delivery.context = Passing(delivery)
                passing.is_collecting = True
                self._collect(passing, data, start, end)
            else:
                self._send(delivery, None, subject, data, start, end)

    def _subject_of(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int) -> Any:
        """Return the subject; None without one, or if the message cannot be read."""
        sections = self._sections
        sections.reset(data, start, end, delivery.is_partial)
        try:
            return sections.subject
        except NeedsMore:
            return _UNKNOWN
        except DecodeError:
            return None
        finally:
            sections.reset(_NOTHING, 0, 0, False)

    def _collect(self, passing: Passing, data: bytes | bytearray, start: int, end: int) -> None:
        octets = passing.octets
        octets += data[start:end]
        # Each attempt reads all octets again, and they may come one by one.
        passing.due = len(octets) + (len(octets) >> 4)

    def _go_on(self, passing: Passing, data: bytes | bytearray, start: int, end: int) -> None:
        """Take more of a message, its end, or its abort."""
        delivery = passing.delivery
        if delivery.is_aborted:
            self._abort(passing)
        elif passing.is_collecting:
            self._look_again(passing, data, start, end)
        else:
            self._send_more(passing, data, start, end)

    def _look_again(self, passing: Passing, data: bytes | bytearray, start: int, end: int) -> None:
        delivery = passing.delivery
        octets = passing.octets
        octets += data[start:end]
        if delivery.is_partial and len(octets) < passing.due:
            return
        if len(octets) > _SUBJECT_WITHIN:
            delivery.context = None
            self._decide(delivery, _TOO_FAR_BEHIND)
            return
        subject = self._subject_of(delivery, octets, 0, len(octets))
        if subject is _UNKNOWN:
            self._collect(passing, _NOTHING, 0, 0)
            return
        passing.is_collecting = False
        passing.octets = bytearray()
        delivery.context = None
        self._send(delivery, passing, subject, octets, 0, len(octets))

    # --- copies

    def _hops_for(self, subject: Any) -> tuple[NextHop, ...]:
        """Return the next hops of a message, and count it."""
        exchange = self.exchange
        exchange.received += 1
        if subject is not None:
            hops = exchange.match(subject).hops
            for hop in hops:
                if not self._has_destination(hop):
                    # This is rare: most next hops have a consumer.
                    hops = tuple([one for one in hops if self._has_destination(one)])
                    break
            if hops:
                exchange.forwarded += 1
                return hops
        alternate = exchange.alternate
        if alternate is not None and self._has_destination(alternate):
            exchange.forwarded += 1
            exchange.diverted += 1
            return (alternate,)
        exchange.dropped += 1
        return ()

    def _has_destination(self, hop: NextHop) -> bool:
        address = self._addresses.get(hop.key)
        return hop.link is not None and address is not None and address.has_outlet(False)

    def _send(
        self,
        delivery: Delivery,
        passing: Passing | None,
        subject: Any,
        data: bytes | bytearray,
        start: int,
        end: int,
    ) -> None:
        """Send a message, or its beginning, to all next hops."""
        hops = self._hops_for(subject)
        if not hops:
            self._decide(delivery, _RELEASED)
            return
        is_settled = delivery.remote_settled
        is_whole = not delivery.is_partial
        for hop in hops:
            can_send = hop.can_send()
            link: Any = hop.link
            if can_send and is_whole and is_settled and link.send_settled(data, start, end, delivery.message_format):
                continue
            if passing is None:
                passing = Passing(delivery)
            if can_send:
                self._begin_copy(passing, link, data, start, end)
            else:
                self._wait(passing, hop)
        if passing is None:
            return
        passing.is_complete = is_whole
        if not (is_settled and is_whole):
            delivery.context = passing
        if passing.waiting:
            self._keep(passing, data, start, end)
        if is_whole:
            self._check(passing)

    def _begin_copy(
        self, passing: Passing, link: "Sender", data: bytes | bytearray, start: int, end: int
    ) -> None:
        delivery = passing.delivery
        is_partial = delivery.is_partial
        is_settled = passing.is_settled
        out = link.begin(None, is_settled, delivery.message_format, None if is_settled else passing)
        link.write(out, data, start, end, is_partial)
        if not is_settled:
            passing.open_copies += 1
        if is_partial:
            passing.under_way.append(out)

    def _wait(self, passing: Passing, hop: NextHop) -> None:
        waiting = hop.waiting
        if waiting is None:
            waiting = hop.waiting = deque()
        if passing.is_settled and len(waiting) >= _CAPACITY:
            # The router has promised nothing for a settled copy: a next hop that lags that far behind misses it.
            return
        waiting.append(passing)
        if passing.waiting == 0 and passing.is_settled:
            self._held += 1
        passing.waiting += 1
        if not passing.is_settled:
            passing.open_copies += 1

    def _keep(self, passing: Passing, data: bytes | bytearray, start: int, end: int) -> None:
        passing.octets += data[start:end]
        if not passing.is_complete:
            passing.frames += 1
            passing.delivery.link.session.withhold(1)

    def _send_more(self, passing: Passing, data: bytes | bytearray, start: int, end: int) -> None:
        delivery = passing.delivery
        is_partial = delivery.is_partial
        is_held = False
        for out in passing.under_way:
            link: Any = out.link
            if not link.is_attached or link.current is not out:
                continue
            link.write(out, data, start, end, is_partial)
            if is_partial and link.session.has_backlog and not is_held:
                is_held = True
                hop: NextHop = link.context
                hop.held += 1
                delivery.link.session.withhold(1)
        passing.is_complete = not is_partial
        if passing.waiting:
            self._keep(passing, data, start, end)
        if passing.is_complete:
            if passing.is_settled:
                delivery.context = None
            self._leave_links(passing)
            self._check(passing)

    def _leave_links(self, passing: Passing) -> None:
        """Let the links that have sent a message as it came continue with other messages."""
        under_way, passing.under_way = passing.under_way, []
        for out in under_way:
            if out.link.context is not None:
                self.serve(out.link.context)

    def _abort(self, passing: Passing) -> None:
        passing.is_aborted = True
        passing.delivery.context = None
        for out in passing.under_way:
            link: Any = out.link
            out.context = None
            if link.is_attached and link.current is out:
                link.abort(out)
        self._leave_links(passing)

    # --- copies that wait

    def serve(self, hop: NextHop) -> None:
        """Send the copies that wait for a next hop."""
        waiting = hop.waiting
        while waiting:
            passing: Passing = waiting[0]
            if passing.is_aborted:
                waiting.popleft()
                self._wait_no_more(passing)
                continue
            if hop.link is None or not hop.can_send():
                return
            waiting.popleft()
            if not passing.is_settled:
                passing.open_copies -= 1
            self._begin_copy(passing, hop.link, passing.octets, 0, len(passing.octets))
            self._wait_no_more(passing)

    def release_waiting(self, hop: NextHop) -> None:
        """Release the copies that wait for a next hop in vain."""
        waiting, hop.waiting = hop.waiting, None
        for passing in [] if waiting is None else waiting:
            if not (passing.is_settled or passing.is_aborted):
                passing.combine(_RELEASED)
            self._wait_no_more(passing)
            self._check(passing)

    def _wait_no_more(self, passing: Passing) -> None:
        passing.waiting -= 1
        if passing.waiting:
            return
        passing.octets = bytearray()
        if passing.is_settled:
            self._held -= 1
        if passing.frames:
            passing.delivery.link.session.give_back(passing.frames)
            passing.frames = 0

    def _let_go(self, hop: NextHop) -> None:
        """Open the window again for frames that were held by a next hop."""
        if hop.held and (hop.link is None or not hop.link.session.has_backlog):
            held, hop.held = hop.held, 0
            self._session.give_back(held)

    # --- outcomes

    def on_disposition(self, delivery: Delivery) -> None:
        """Count the outcome of a copy."""
        state = delivery.remote_state
        if delivery.is_incoming or not (delivery.remote_settled or is_outcome(state)):
            return
        passing: Passing | None = delivery.context
        delivery.context = None
        if not (delivery.settled or delivery.remote_settled):
            delivery.settle_at_end()
        if passing is not None:
            passing.combine(state)
            self._check(passing)

    def _check(self, passing: Passing) -> None:
        """Settle a message once all its copies have an outcome."""
        if passing.open_copies or not passing.is_complete or passing.is_settled or passing.is_aborted:
            return
        delivery = passing.delivery
        if delivery.context is passing:
            delivery.context = None
            self._decide(delivery, _RELEASED if passing.outcome is None else passing.outcome)

    def _decide(self, delivery: Delivery, outcome: Any) -> None:
        if not (delivery.settled or delivery.remote_settled):
            # It fits into a frame, as it has come in one.
            delivery.update(outcome, True)

    # --- events of the far end

    def on_session_flow(self, session: Session) -> None:
        """Continue with a next hop whose session has room again."""
        hop: NextHop | None = session.context
        if hop is not None:
            self._let_go(hop)
            self.serve(hop)

    def on_link_flow(self, link: Link) -> None:
        """Continue with a next hop that has credit, or give up the copies for one without consumers."""
        hop: NextHop | None = link.context
        if hop is None:
            return
        self._let_go(hop)
        self.serve(hop)
        if hop.waiting and not self._has_destination(hop):
            self.release_waiting(hop)

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        """Settle the deliveries that a link leaves behind."""
        hop: NextHop | None = link.context
        if hop is None:
            return
        link.context = None
        hop.link = None
        self._let_go(hop)
        suspended = link.suspended
        for out in [] if suspended is None else list(suspended.values()):
            passing: Passing | None = out.context
            out.context = None
            if passing is not None:
                passing.combine(_MAYBE_SEEN)
                self._check(passing)
        self.release_waiting(hop)
        if link.session.is_open:
            link.session.end()
