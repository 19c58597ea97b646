"""A session: windows, delivery-ids, and the links that share them (2.5).

Both windows count transfer frames. The incoming window bounds the data that a peer can make us hold. It opens again as
frames are handled, except for frames whose octets the application withholds. The outgoing window is the peer's. Frames
beyond it wait in `backlog`, in order.

Flows are gathered while octets are received, like dispositions, and written when output is requested.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from routerd.wire.amqp_error import Error, error_about
from routerd.wire.attachments import Attachments
from routerd.wire.backlog import Backlog
from routerd.wire.delivery import Delivery, DeliveryRing
from routerd.wire.dispositions import Dispositions
from routerd.wire.errors import (
    LinkError,
    SessionError,
    SessionFieldInvalid,
    StateError,
    WindowViolation,
)
from routerd.wire.flow import write_flow
from routerd.wire.link import Link
from routerd.wire.performatives import Begin, Detach, End, Flow
from routerd.wire.receiver import Receiver
from routerd.wire.sender import Sender
from routerd.wire.states import SESSION_TRANSITIONS, LinkState, SessionMove, SessionState

if TYPE_CHECKING:
    from routerd.wire.connection import Connection
    from routerd.wire.decoder import Decoder


# A module constant: access to a member of an enum is a Python call in CPython 3.11.
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_ATTACH_SENT = LinkState.ATTACH_SENT
_BEGIN_RCVD = SessionState.BEGIN_RCVD
_BEGIN_SENT = SessionState.BEGIN_SENT
_END_RCVD = SessionState.END_RCVD
_MAPPED = SessionState.MAPPED
_UNMAPPED = SessionState.UNMAPPED
_RECV_BEGIN = SessionMove.RECV_BEGIN
_RECV_END = SessionMove.RECV_END
_SEND_BEGIN = SessionMove.SEND_BEGIN
_SEND_END = SessionMove.SEND_END
_SEND_END_ERROR = SessionMove.SEND_END_ERROR

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF


class Session:
    """One end of a session on a connection."""

    context: Any
    flow_properties: Any

    def __init__(self, connection: "Connection", channel: int) -> None:
        config = connection.config
        self.connection = connection
        self.handler = connection.handler
        self.output = connection.output
        self.channel = channel
        self.remote_channel = -1
        self.state = _UNMAPPED
        self.is_receiving = False
        self.is_open = False
        self.is_over = False
        self.is_busy = False
        self.is_unwanted = False
        self.send_frame_size = connection.send_frame_size
        self.unsettled_max = config.unsettled_per_session
        self.handle_max = config.handle_max
        self.remote_handle_max = 0xFFFFFFFF
        self.next_outgoing_id = 0
        self.remote_incoming_window = 0
        self.remote_outgoing_window = 0
        self.next_incoming_id = 0
        self.incoming_window = config.incoming_window
        self._window = config.incoming_window
        self.withheld = 0
        self.next_delivery_id = 0
        self._initial_outgoing_id = 0
        self.outgoing = DeliveryRing()
        self.incoming = DeliveryRing(True)
        self.has_backlog = False
        self._backlog: Backlog | None = None
        self._flows: list[Link] = []
        self._is_window_due = False
        # The link of the last transfer, which is most likely that of the next.
        self._heard_link: Link | None = None
        self.attachments = Attachments(self)
        self.dispositions = Dispositions(self)
        self.flow_properties = None
        self.context = None

    # --- for the application

    def begin(
        self,
        *,
        next_outgoing_id: int = 0,
        incoming_window: int | None = None,
        handle_max: int | None = None,
        offered_capabilities: Sequence[str] = (),
        desired_capabilities: Sequence[str] = (),
        properties: Mapping[Any, Any] | None = None,
    ) -> None:
        """Begin the session, or answer the peer's begin."""
        self.check_move(_SEND_BEGIN)
        if self.is_over:
            raise StateError(f"session on channel {self.channel} has ended; begin a new one")
        self.connection.check_open()
        self.next_outgoing_id = self.next_delivery_id = self._initial_outgoing_id = next_outgoing_id
        if incoming_window is not None:
            self.incoming_window = self._window = incoming_window
        if handle_max is not None:
            self.handle_max = handle_max
        self.connection.send_performative(
            self.channel,
            Begin(
                remote_channel=self.remote_channel if self.remote_channel >= 0 else None,
                next_outgoing_id=self.next_outgoing_id,
                incoming_window=self.incoming_window,
                outgoing_window=self._window,
                handle_max=self.handle_max,
                offered_capabilities=tuple(offered_capabilities),
                desired_capabilities=tuple(desired_capabilities),
                properties=properties,
            ),
        )
        self.move(_SEND_BEGIN)
        self.is_open = True

    def end(self, error: Error | None = None) -> None:
        """End the session; with an error, further input on it is discarded."""
        move = _SEND_END if error is None else _SEND_END_ERROR
        self.check_move(move)
        self.connection.check_open()
        self.flush()
        self.connection.send_performative(self.channel, End(error=error))
        self.move(move)
        self.fall_silent()

    def end_unused(self) -> None:
        """End the session if no link uses it: at once, or when the peer has answered it."""
        if not self.is_open:
            return
        for link in self.links():
            # One that is attached once more only to be closed (2.6.6) is nobody's, and has been said to be over before.
            if not link.is_reported:
                return
        self.is_unwanted = self.state is _BEGIN_SENT
        if not self.is_unwanted:
            self.end()

    def sender(self, name: str) -> Sender:
        """Return a new sending endpoint; the caller attaches it."""
        return Sender(self, name)

    def receiver(self, name: str) -> Receiver:
        """Return a new receiving endpoint; the caller attaches it."""
        return Receiver(self, name)

    def withhold(self, frames: int) -> None:
        """Keep the window closed for a number of frames, whose octets the application still holds."""
        self.withheld += frames

    def give_back(self, frames: int) -> None:
        """Open the window again for frames that were withheld."""
        self.withheld = max(0, self.withheld - frames)
        self._open_window()

    def links(self) -> list[Link]:
        """Return the links that have a handle on either side."""
        return self.attachments.all()

    # --- for links and deliveries

    def check_open(self) -> None:
        """Refuse an action on a session before our begin or after our end."""
        if not self.is_open:
            raise StateError(f"session on channel {self.channel} is {self.state.value}")

    def answer(self) -> None:
        """Begin a session of the peer that the application has not answered yet, because it is needed."""
        if self.state is _BEGIN_RCVD:
            self.begin()

    def fall_silent(self) -> None:
        """Send nothing more on any link, after our end or close."""
        self.is_open = False
        self.is_receiving = False
        for link in self.attachments.all():
            link.is_attached = False

    def send_detach(self, link: Link, performative: Detach) -> None:
        """Write a detach behind the link's gathered flows and dispositions."""
        self.check_open()
        self.flush()
        self.drop_backlog(link)
        self.connection.send_performative(self.channel, performative)

    def send_flow(self, link: Link | None, echo: bool = False, properties: Any = None) -> None:
        """Write a flow now, of a link or of the session alone."""
        self.check_open()
        handle = delivery_count = credit = available = -1
        drain = False
        if link is not None:
            handle = link.handle
            credit = link.credit_on_wire()
            drain = link.drain
            link.is_flow_due = False
            link.is_echo_due = False
            if link.is_sender:
                available = link.available
            link.advertise()
            if link.remote_handle >= 0 or link.is_sender:
                delivery_count = link.delivery_count
        self._is_window_due = False
        next_incoming_id = self.next_incoming_id if self.remote_channel >= 0 else -1
        if properties is not None:
            self._send_flow_with_properties(
                next_incoming_id, handle, delivery_count, credit, available, drain, echo, properties
            )
            return
        write_flow(
            self.output,
            self.channel,
            next_incoming_id,
            self.incoming_window,
            self.next_outgoing_id,
            self._window,
            handle,
            delivery_count,
            credit,
            available,
            drain,
            echo,
        )
        self.connection.wake()

    def _send_flow_with_properties(
        self,
        next_incoming_id: int,
        handle: int,
        delivery_count: int,
        credit: int,
        available: int,
        drain: bool,
        echo: bool,
        properties: Any,
    ) -> None:
        self.connection.send_performative(
            self.channel,
            Flow(
                next_incoming_id=_or_none(next_incoming_id),
                incoming_window=self.incoming_window,
                next_outgoing_id=self.next_outgoing_id,
                outgoing_window=self._window,
                handle=_or_none(handle),
                delivery_count=_or_none(delivery_count),
                link_credit=_or_none(credit),
                available=_or_none(available),
                drain=drain,
                echo=echo,
                properties=properties,
            ),
        )

    def flow_due(self, link: Link) -> None:
        """Have a flow of a link written with the next output; do nothing once the session is over."""
        if self.is_open and not link.is_flow_due:
            link.is_flow_due = True
            self._flows.append(link)
            if not self.is_busy:
                self.connection.make_busy(self)

    def track(self, delivery: Delivery) -> None:
        """Enter an unsettled delivery into the ring of its direction."""
        ring = self.incoming if delivery.is_incoming else self.outgoing
        if not ring.add(delivery):
            raise SessionFieldInvalid(f"delivery-id {delivery.id} is that of an unsettled delivery")
        delivery.is_tracked = True
        delivery.link.unsettled_count += 1

    def untrack(self, delivery: Delivery) -> None:
        """Remove a delivery from its ring, because either end has settled it."""
        ring = self.incoming if delivery.is_incoming else self.outgoing
        if delivery.is_tracked:
            ring.remove(delivery)
            delivery.is_tracked = False
            delivery.link.unsettled_count -= 1

    def take_delivery_id(self) -> int:
        """Return the id for the next outgoing delivery."""
        delivery_id = self.next_delivery_id
        self.next_delivery_id = (delivery_id + 1) & _MASK
        return delivery_id

    def count_transfer(self) -> None:
        """Count a transfer against the windows before it is written."""
        self.next_outgoing_id = (self.next_outgoing_id + 1) & _MASK
        self.remote_incoming_window -= 1
        if not self.connection.is_awake:
            self.connection.wake()

    def passed_out(self, count: int) -> None:
        """Count whole deliveries that a relay has written, with consecutive ids from the next one on."""
        self.next_delivery_id = (self.next_delivery_id + count) & _MASK
        self.next_outgoing_id = (self.next_outgoing_id + count) & _MASK
        self.remote_incoming_window -= count

    def until_opened(self) -> int:
        """Return how many transfers may come before the window must be opened again."""
        half = (self._window - self.withheld) >> 1 if self._window > self.withheld else 0
        return max(0, self.incoming_window - half)

    def passed_in(self, count: int) -> None:
        """Count transfers that a relay has taken, up to the next opening of the window."""
        self.incoming_window -= count
        self.remote_outgoing_window = max(0, self.remote_outgoing_window - count)
        self.next_incoming_id = (self.next_incoming_id + count) & _MASK
        self._open_window()

    def queue(self, delivery: Delivery, octets: bytes, more: bool) -> None:
        """Keep octets of a delivery until the peer's window has room."""
        if self._backlog is None:
            self._backlog = Backlog()
        self._backlog.add(delivery, octets, more)
        self.has_backlog = True

    def unqueue(self, delivery: Delivery) -> None:
        """Drop what is queued of a delivery."""
        if self._backlog is not None:
            self._backlog.drop_delivery(delivery)
            self.has_backlog = bool(self._backlog)

    def flush(self) -> None:
        """Write the dispositions and flows that were gathered."""
        self.is_busy = False
        if not self.is_open:
            return
        self.dispositions.write()
        if self._flows:
            due = self._flows
            self._flows = []
            for link in due:
                # A link whose flow was sent meanwhile needs no second one.
                if link.is_flow_due and (link.is_attached or link.state is _ATTACH_SENT):
                    self.send_flow(link, link.is_echo_due)
                link.is_flow_due = False
        if self._is_window_due:
            self.send_flow(None)

    # --- for the connection

    def move(self, event: SessionMove) -> None:
        """Move the state by the table; a missing row is an error."""
        self.state = self.check_move(event)

    def check_move(self, event: SessionMove) -> SessionState:
        """Return the next state of a move; raise an error for a missing row."""
        state = SESSION_TRANSITIONS.get((self.state, event))
        if state is None:
            raise StateError(f"session on channel {self.channel}: can't {event.value} when {self.state.value}")
        return state

    def receive_begin(self, performative: Begin, remote_channel: int) -> None:
        """Take the peer's windows and limits."""
        self.move(_RECV_BEGIN)
        self.is_receiving = True
        self.remote_channel = remote_channel
        self.next_incoming_id = performative.next_outgoing_id
        self.remote_incoming_window = performative.incoming_window
        self.remote_outgoing_window = performative.outgoing_window
        self.remote_handle_max = performative.handle_max
        self.send_frame_size = self.connection.send_frame_size
        self.handler.on_session_begun(self, performative)
        if self.is_unwanted:
            self.end_unused()

    def receive_flow(self, decoder: "Decoder") -> None:
        """Take the peer's windows, and a link's credit if the flow has a handle (2.5.6)."""
        fields = self.connection.flow_fields
        fields.read(decoder)
        seen = fields.next_incoming_id if fields.next_incoming_id >= 0 else self._initial_outgoing_id
        unseen = (self.next_outgoing_id - seen) & _MASK
        had_room = self.remote_incoming_window > 0 and not self.has_backlog
        self.remote_incoming_window = fields.incoming_window - unseen if fields.incoming_window > unseen else 0
        self.next_incoming_id = fields.next_outgoing_id
        self.remote_outgoing_window = fields.outgoing_window
        echo = fields.echo
        link: Link | None = None
        if fields.handle >= 0:
            link = self.attachments.link_at(fields.handle)
            link.receive_flow(fields)
        else:
            self.flow_properties = fields.properties
        if self.has_backlog:
            self._send_backlog()
        if link is not None and (link.is_attached or (link.is_relayed and link.state is _ATTACH_RCVD)):
            self.handler.on_link_flow(link)
        if link is None or (not had_room and self.remote_incoming_window > 0 and not self.has_backlog):
            # With a handle as well, others than this link may have waited for the window.
            self.handler.on_session_flow(self)
        if echo and self.is_open and (link is None or link.is_attached):
            # With the next output, so that a peer that repeats its request gets one answer.
            if link is None:
                self._window_due()
            else:
                self.flow_due(link)

    def receive_transfer(self, decoder: "Decoder", data: bytes | bytearray, end: int) -> None:
        """Give a transfer to its link, and count it against our window."""
        if self.incoming_window == 0:
            raise WindowViolation("a transfer beyond the incoming window")
        self.incoming_window -= 1
        if self.remote_outgoing_window > 0:
            self.remote_outgoing_window -= 1
        self.next_incoming_id = (self.next_incoming_id + 1) & _MASK
        fields = self.connection.transfer_fields
        fields.read(decoder)
        link = self._heard_link
        if link is None or link.remote_handle != fields.handle:
            link = self._heard_link = self.attachments.link_at(fields.handle)
        if link.is_attached:
            try:
                link.receive_transfer(fields, data, end)
            except LinkError as error:
                self.attachments.fail(link, error)
        elif fields.aborted:
            link.forget_aborted()
        self._open_window()

    def receive_end(self, performative: End) -> None:
        """Answer the peer's end, and report the links and the session as over."""
        self.answer()
        self.move(_RECV_END)
        if self.state is _END_RCVD:
            self.flush()
            self.move(_SEND_END)
            self.connection.send_performative(self.channel, End())
        self.report_ended(performative.error)

    def report_ended(self, error: Error | None) -> None:
        """Report every link as detached and the session as ended, once; the links keep their deliveries."""
        if self.is_over:
            return
        self.fall_silent()
        self.is_over = True
        self.state = _UNMAPPED
        self._flows = []
        self._is_window_due = False
        self.dispositions.drop()
        self.attachments.report_all(error)
        for ring in (self.outgoing, self.incoming):
            for delivery in ring.all():
                self.untrack(delivery)
        self.connection.channels.remove(self)
        self.handler.on_session_ended(self, error)

    def fail(self, error: SessionError) -> None:
        """End the session for a violation of the peer."""
        self.answer()
        if self.is_open:
            self.end(error_about(error))
        self.handler.on_violation(self.connection, error)

    # --- inside

    def _open_window(self) -> None:
        # At half of the window, so that the sender does not stall and flows stay few.
        window = self._window - self.withheld if self._window > self.withheld else 0
        if self.incoming_window <= window >> 1 and self.incoming_window < window and self.is_open:
            self.incoming_window = window
            self._window_due()

    def _window_due(self) -> None:
        self._is_window_due = True
        if not self.is_busy:
            self.connection.make_busy(self)

    def _send_backlog(self) -> None:
        backlog = cast(Backlog, self._backlog)
        while self.remote_incoming_window > 0:
            found = backlog.first()
            if found is None:
                break
            entry, delivery = found
            link = delivery.link
            at = link.emit(delivery, entry.octets, entry.start, len(entry.octets), entry.more)
            if at >= 0:
                entry.start = at
            else:
                backlog.drop_first(link)
        self.has_backlog = bool(backlog)

    def drop_backlog(self, link: Link) -> None:
        """Drop the queued octets of a link."""
        if self._backlog is not None:
            self._backlog.drop_link(link)
            self.has_backlog = bool(self._backlog)
        link.drop_queued()


def _or_none(value: int) -> int | None:
    return None if value < 0 else value
