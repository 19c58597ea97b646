"""A link endpoint: its identity, its termini, attach and detach (2.6).

`Sender` and `Receiver` add the two directions. `Handler.on_link_attached` gets the performatives, which are not kept. A
link keeps only the data that it needs for its whole life. After a plain detach, an endpoint keeps its unsettled
deliveries in `suspended`, and a later attach can take them over.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from routerd.wire.delivery import Delivery
from routerd.wire.errors import FrameTooLarge, LinkError, LocalError, StateError
from routerd.wire.performatives import Attach, Detach
from routerd.wire.states import LINK_TRANSITIONS, LinkMove, LinkState

if TYPE_CHECKING:
    from routerd.wire.amqp_error import Error
    from routerd.wire.flow import FlowFields
    from routerd.wire.session import Session
    from routerd.wire.transfer import TransferFields

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
# A module constant: access to a member of an enum is a Python call in CPython 3.11.
_ATTACHED = LinkState.ATTACHED
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_DETACHED = LinkState.DETACHED
_DETACH_RCVD = LinkState.DETACH_RCVD
_RECV_ATTACH = LinkMove.RECV_ATTACH
_SEND_ATTACH = LinkMove.SEND_ATTACH
_SEND_DETACH = LinkMove.SEND_DETACH
# Fields of a compiled object are initially None, zero or false.
_IS_BORN_BLANK = hasattr(Delivery, "__pyx_vtable__")
# Delivery objects that a link keeps for reuse: about as many as are settled at a time.
_SPARES_MAX = 256


class Link:
    """One end of a link; `is_sender` says which."""

    session: "Session"
    suspended: dict[bytes, Delivery] | None
    source: Any
    target: Any
    remote_source: Any
    remote_target: Any
    context: Any
    flow_properties: Any

    def __init__(self, session: "Session", name: str, is_sender: bool) -> None:
        self.session = session
        self.name = name
        self.is_sender = is_sender
        self.state = _DETACHED
        self.is_attached = False
        self.handle = -1
        self.remote_handle = -1
        self.snd_settle_mode = 2
        self.rcv_settle_mode = 0
        self.max_message_size = 0
        self.remote_max_message_size = 0
        self.delivery_count = 0
        self.credit = 0
        self.available = 0
        self.drain = False
        self.unsettled_count = 0
        # Octets of all messages that have come completely.
        self.octets_in = 0
        self.initial_delivery_count = 0
        self.is_incomplete = False
        self.is_closed = False
        self.has_error = False
        self.is_stolen = False
        # The endpoint has no name: it was refused for lack of room, or another endpoint has the name.
        self.is_turned_away = False
        self.is_over = False
        self.is_reported = False
        self.is_flow_due = False
        # Passed on to another link: what the peer says of it reaches the far end, and the far end answers its detach.
        self.is_relayed = False
        # The peer's last flow asked for one in return; the next one of ours asks for one.
        self.is_asked = False
        self.is_echo_due = False
        self.suspended = None
        # The number of a sender's next delivery-tag.
        self.next_tag = 0
        # Delivery objects for reuse; each has the next one as its context.
        self._spare: Delivery | None = None
        self._spares = 0
        self.source = self.target = self.remote_source = self.remote_target = None
        self.flow_properties = None
        self.context = None

    def attach(
        self,
        *,
        source: Any = None,
        target: Any = None,
        snd_settle_mode: int | None = None,
        rcv_settle_mode: int | None = None,
        initial_delivery_count: int = 0,
        max_message_size: int = 0,
        unsettled: Mapping[bytes, Any] | None = None,
        incomplete_unsettled: bool = False,
        offered_capabilities: Sequence[str] = (),
        desired_capabilities: Sequence[str] = (),
        properties: Mapping[Any, Any] | None = None,
    ) -> None:
        """Attach, or answer the peer's attach, with its settle modes unless others are given.

        Unsettled deliveries that were taken over go into the unsettled map.
        """
        if self.is_over:
            raise StateError(f"link {self.name!r} was attached before; a new endpoint can take over its deliveries")
        self.session.check_open()
        if unsettled is None and self.suspended:
            unsettled = self.unsettled_map()
        if snd_settle_mode is None:
            snd_settle_mode = self.snd_settle_mode
        if rcv_settle_mode is None:
            rcv_settle_mode = self.rcv_settle_mode
        self.check_move(_SEND_ATTACH)
        self.session.attachments.claim(self)
        self.source = source
        self.target = target
        # Where the peer's mode prevails (2.7.3), another mode in our answer has no effect.
        if self.is_sender or self.state is not _ATTACH_RCVD:
            self.snd_settle_mode = snd_settle_mode
        if not self.is_sender or self.state is not _ATTACH_RCVD:
            self.rcv_settle_mode = rcv_settle_mode
        self.max_message_size = max_message_size
        if self.is_sender:
            self.delivery_count = self.initial_delivery_count = initial_delivery_count
        performative = Attach(
            name=self.name,
            handle=self.handle,
            role=not self.is_sender,
            snd_settle_mode=snd_settle_mode,
            rcv_settle_mode=rcv_settle_mode,
            source=source,
            target=target,
            unsettled=unsettled,
            incomplete_unsettled=incomplete_unsettled,
            initial_delivery_count=initial_delivery_count if self.is_sender else None,
            max_message_size=max_message_size or None,
            offered_capabilities=tuple(offered_capabilities),
            desired_capabilities=tuple(desired_capabilities),
            properties=properties,
        )
        try:
            self.session.connection.send_attach(self.session.channel, performative)
        except LocalError:
            self.session.attachments.give_up(self)
            raise
        self.move(_SEND_ATTACH)
        if performative.incomplete_unsettled:
            self.is_incomplete = True
        if self.credit > 0 and not self.is_sender:
            self.session.flow_due(self)

    def refuse(self, error: "Error | None" = None) -> None:
        """Answer the peer's attach without a terminus of ours, and close with the reason if one is given (2.6.3)."""
        try:
            self.attach(
                source=None if self.is_sender else self.remote_source,
                target=self.remote_target if self.is_sender else None,
            )
        except FrameTooLarge:
            self.attach(source=None, target=None)
        self.detach(error=error)

    def detach(self, *, closed: bool = True, error: "Error | None" = None) -> None:
        """Detach; `closed` also ends the link and its unsettled deliveries at both ends.

        If the peer of a relayed link has detached first, this is the answer.
        """
        if self.state is _ATTACH_RCVD:
            raise StateError(f"link {self.name!r} can't be detached before it is attached; refuse it")
        self.check_move(_SEND_DETACH)
        self.session.send_detach(self, Detach(handle=self.handle, closed=closed, error=error))
        if self.state is _DETACH_RCVD:
            self.is_closed = self.is_closed or closed
            self.move(_SEND_DETACH)
            self.session.attachments.finish(self)
            return
        self.move(_SEND_DETACH)
        self.is_closed = closed
        self.has_error = error is not None

    def unsettled_map(self) -> "dict[bytes, Any]":
        """Return the state of each delivery of an earlier attachment, by delivery-tag."""
        suspended = self.suspended or {}
        return {
            tag: delivery.state if delivery.state is not None or delivery.is_incoming else delivery.remote_state
            for tag, delivery in suspended.items()
        }

    def take_over(self, earlier: "Link") -> None:
        """Take the unsettled deliveries of an earlier endpoint of the same link, before the attach."""
        if self.state not in (_DETACHED, _ATTACH_RCVD):
            raise StateError(f"link {self.name!r} is attached already")
        if earlier.is_sender != self.is_sender or earlier.name != self.name:
            raise StateError(f"link {earlier.name!r} is not an earlier endpoint of {self.name!r}")
        self.suspended = earlier.suspended
        earlier.suspended = None
        for delivery in (self.suspended or {}).values():
            earlier.session.untrack(delivery)
            delivery.link = self

    def new_delivery(self) -> Delivery:
        """Return a new delivery of this link."""
        delivery = self._spare
        if delivery is None:
            delivery = Delivery.__new__(Delivery) if _IS_BORN_BLANK else Delivery()
            delivery.link = self
        else:
            self._spares -= 1
            if self._spares == 0:
                self._spare = None
            else:
                self._spare = delivery.context
                delivery.context = None
        return delivery

    def take_back(self, delivery: Delivery) -> None:
        """Keep the object of a delivery for reuse; no other reference to it may exist (`memory.is_ours_alone`)."""
        if self._spares < _SPARES_MAX and not self.is_over:
            delivery.clear()
            if self._spares > 0:
                delivery.context = self._spare
            self._spare = delivery
            self._spares += 1

    def drop_spares(self) -> None:
        """Drop the objects kept for further deliveries."""
        self._spare = None
        self._spares = 0

    def forget_suspended(self, delivery: Delivery) -> None:
        """Drop a delivery that was settled while the link was detached."""
        if self.suspended is not None:
            self.suspended.pop(delivery.tag, None)

    def move(self, event: LinkMove) -> None:
        """Move the state by the table; a missing row is an error."""
        self.state = self.check_move(event)
        self.is_attached = self.state is _ATTACHED
        if self.state is _DETACHED:
            self.is_over = True
            self.drop_spares()

    def check_move(self, event: LinkMove) -> LinkState:
        """Return the next state of a move; raise an error for a missing row."""
        state = LINK_TRANSITIONS.get((self.state, event))
        if state is None:
            raise StateError(f"link {self.name!r}: can't {event.value} when {self.state.value}")
        return state

    def receive_attach(self, performative: Attach) -> None:
        """Take the fields of the peer's attach."""
        self.move(_RECV_ATTACH)
        self.remote_source = performative.source
        self.remote_target = performative.target
        self.remote_max_message_size = performative.max_message_size or 0
        self.is_incomplete = performative.incomplete_unsettled or self.is_incomplete
        # The snd-settle-mode of the sender and the rcv-settle-mode of the receiver prevail; the other end's are wishes
        # (2.7.3).
        is_answer = self.state is not _ATTACH_RCVD
        if not (is_answer and self.is_sender):
            self.snd_settle_mode = performative.snd_settle_mode
        if not (is_answer and not self.is_sender):
            self.rcv_settle_mode = performative.rcv_settle_mode

    def credit_on_wire(self) -> int:
        """Return the credit from the peer's view."""
        return self.credit

    def receive_flow(self, fields: "FlowFields") -> None:
        """Take the link's fields of a flow."""
        self.flow_properties = fields.properties
        self.is_asked = fields.echo

    def receive_transfer(self, fields: "TransferFields", data: bytes | bytearray, end: int) -> None:
        """Take a transfer; only receivers may get one."""
        raise LinkError(f"a transfer on link {self.name!r}, of which the peer is the receiver")

    def forget_aborted(self) -> None:
        """Drop a delivery under way that the peer aborted before it got our detach."""

    def emit(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int, more: bool) -> int:
        """Write frames as the window allows; senders do."""
        raise StateError(f"link {self.name!r} does not send")

    def advertise(self) -> None:
        """Note that the present credit is being sent to the peer."""

    def passed(self, count: int) -> None:
        """Count settled deliveries that a relay has taken or written; they had credit."""
        self.credit -= count
        self.delivery_count = (self.delivery_count + count) & _MASK

    def drop_queued(self) -> None:
        """Drop deliveries that were begun and not sent, because the link is over."""
