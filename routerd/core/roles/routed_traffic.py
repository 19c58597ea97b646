"""The traffic of routed links: credit, messages and dispositions, from one half to the other.

Only ids and handles are changed, and nothing is added. Frames are passed on as they come. If the other half has no room
for them, the window of their session stays closed.
"""

from collections import deque
from typing import TYPE_CHECKING, Any

from routerd.core.delivery.settlement import STATE_TOO_LONG
from routerd.core.links.outlet import BURST
from routerd.core.links.routed_end import RoutedEnd, WaitingTransfer
from routerd.wire import RELEASED, Error, FrameTooLarge, LinkState, Modified, Rejected, is_outcome, memory
from routerd.wire.delivery import Delivery

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.links.peer import Peer
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.link import Link

_NO_MESSAGE = Rejected(error=Error(condition="amqp:decode-error", description="invalid message format"))
_STATE_TOO_LONG = STATE_TOO_LONG
_MODIFIED = Modified(delivery_failed=True)
_MODIFIED_NAME = "amqp:modified:list"
_RELEASED = RELEASED
_BURST = BURST
_CREDIT_MAX = 0x7FFFFFFF
_ATTACH_SENT = LinkState.ATTACH_SENT


class RoutedTraffic:
    """Passes on everything that comes on either half of a routed link."""

    def __init__(self, clock: "Clock") -> None:
        self._clock = clock

    # --- credit

    def flow(self, end: RoutedEnd) -> None:
        """Pass on a peer's flow."""
        if end.peer.stuck:
            self.relieve(end.peer)
        other = end.other
        if other is None:
            return
        if end.link.is_sender:
            if end.link.credit > 0:
                end.dry_since = 0.0
            elif end.dry_since == 0.0:
                end.dry_since = self._clock.now
            self._pass_credit(end, other)
        else:
            self._pass_count(end, other)
        link = end.link
        if link.is_asked and (other.link.is_attached or other.link.state is _ATTACH_SENT):
            other.link.is_echo_due = True
            other.link.session.flow_due(other.link)
        if link.flow_properties is not None and other.link.is_attached:
            other.link.session.send_flow(other.link, other.link.is_echo_due, link.flow_properties)

    def _pass_credit(self, end: RoutedEnd, other: RoutedEnd) -> None:
        """Tell the sender the credit of the receiver, and whether it drains."""
        sender = end.link
        receiver = other.receiver
        sender.available = receiver.available
        credit = min(sender.credit, _CREDIT_MAX)
        if receiver.credit != credit or receiver.drain != sender.drain:
            receiver.set_credit(credit, drain=sender.drain)
        if sender.drain and credit == 0 and sender.is_attached:
            sender.session.flow_due(sender)

    def _pass_count(self, end: RoutedEnd, other: RoutedEnd) -> None:
        """Tell the receiver the credit that the sender gives back, and how much it has available."""
        receiver = end.link
        sender = other.sender
        if not sender.is_attached:
            return
        back = min(sender.credit, _CREDIT_MAX) - receiver.credit
        if back > 0:
            if receiver.credit == 0:
                back = sender.credit
            sender.give_back(back)
        if sender.available != receiver.available:
            sender.available = receiver.available
            sender.session.flow_due(sender)

    # --- messages

    def transfer(self, end: RoutedEnd, delivery: Delivery, data: bytes | bytearray, start: int, stop: int) -> None:
        """Pass on octets of a delivery."""
        other = end.other
        if delivery is end.dropped or other is None or not other.link.is_attached:
            # The other half is over, and this one is about to be.
            end.dropped = delivery if delivery.is_partial else None
            return
        before = delivery.context
        if type(before) is Delivery:
            self._go_on(end, other, delivery, before, data, start, stop)
            return
        if type(before) is not WaitingTransfer:
            if start == stop and not delivery.size and self._is_empty(end, delivery):
                return
            end.deliveries += 1
            if other.link.credit > 0 and not other.waiting:
                if self._begin(end, other, delivery, data, start, stop) and not end.is_watched:
                    behind = None if delivery.remote_settled else delivery
                    relay = end.link.session.connection.relay
                    relay.aim(end.link, other.link, False, _BURST, behind)
                return
        self._keep(end, other, delivery, data, start, stop)

    def _begin(
        self,
        end: RoutedEnd,
        other: RoutedEnd,
        delivery: Delivery,
        data: bytes | bytearray,
        start: int,
        stop: int,
    ) -> bool:
        """Begin a delivery on the other half; return whether it has left whole and there is room for more."""
        sender = other.sender
        try:
            sent = sender.forward(delivery, data, start, stop)
        except FrameTooLarge:
            self._drop(end, other, delivery, _STATE_TOO_LONG)
            return False
        other.deliveries += 1
        if sender.credit == 0:
            other.dry_since = self._clock.now
        if delivery.remote_settled:
            end.presettled += 1
            other.presettled += 1
        if sent is not None and (delivery.is_partial or not delivery.remote_settled):
            sent.context = delivery
            delivery.context = sent
            delivery.stamp = sent.stamp = self._clock.now
        if other.is_stuck():
            other.hold()
            return False
        return not delivery.is_partial

    def _go_on(
        self,
        end: RoutedEnd,
        other: RoutedEnd,
        delivery: Delivery,
        sent: Delivery,
        data: bytes | bytearray,
        start: int,
        stop: int,
    ) -> None:
        sender = other.sender
        if sender.current is not sent:
            return
        if delivery.is_aborted:
            delivery.context = sent.context = None
            sender.abort(sent)
            self._pass_credit(other, end)
            return
        sender.write(sent, data, start, stop, delivery.is_partial)
        if delivery.remote_state is not sent.state or (delivery.remote_settled and not sent.settled):
            self._tell(sent, delivery.remote_state, delivery.remote_settled)
        if not delivery.is_partial and (delivery.remote_settled or delivery.settled or sent.remote_settled):
            delivery.context = sent.context = None
        if other.is_stuck():
            other.hold()

    def _is_empty(self, end: RoutedEnd, delivery: Delivery) -> bool:
        """Whether a message has no octets; it is rejected if none will come."""
        if delivery.is_resumed or delivery.is_aborted or delivery.message_format != 0:
            return False
        if delivery.is_partial:
            return True
        other = end.other
        if other is not None:
            self._drop(end, other, delivery, _NO_MESSAGE)
        return True

    def _drop(self, end: RoutedEnd, other: RoutedEnd, delivery: Delivery, outcome: Any) -> None:
        """Refuse a delivery that cannot be passed on, and give its credit back."""
        if not delivery.remote_settled:
            end.rejected += 1
            self._tell(delivery, outcome, True)
        if delivery.is_partial:
            end.dropped = delivery
        self._pass_credit(other, end)

    def _keep(
        self,
        end: RoutedEnd,
        other: RoutedEnd,
        delivery: Delivery,
        data: bytes | bytearray,
        start: int,
        stop: int,
    ) -> None:
        """Keep a delivery that was sent before the sender knew that the receiver has taken credit back."""
        waiting = other.waiting
        if waiting is None:
            waiting = other.waiting = deque()
        kept = delivery.context
        if type(kept) is not WaitingTransfer:
            kept = WaitingTransfer(delivery, bytearray())
            delivery.context = kept
            waiting.append(kept)
        if delivery.is_aborted:
            delivery.context = None
            waiting.remove(kept)
            return
        kept.octets.extend(memoryview(data)[start:stop])
        other.hold()

    def relayed(self, receiver: "Link", sender: "Link", count: int, batch: "DeliveryBatch | None") -> None:
        """Count messages that were passed on behind another one."""
        end: RoutedEnd = receiver.context
        other: RoutedEnd = sender.context
        end.deliveries += count
        other.deliveries += count
        if batch is None:
            end.presettled += count
            other.presettled += count
        else:
            batch.stamp = self._clock.now
        if sender.credit == 0:
            other.dry_since = self._clock.now
        if other.is_stuck():
            other.wait()

    def accepted(self, batch: "DeliveryBatch", count: int) -> None:
        """Count messages that were accepted together."""
        end: RoutedEnd | None = batch.receiver.context
        other: RoutedEnd | None = batch.sender.context
        if end is not None:
            end.accepted += count
        if other is not None:
            other.accepted += count

    def relieve(self, peer: "Peer") -> None:
        """Continue with deliveries that waited for room or credit, and with detaches behind them."""
        for end in list(peer.stuck):
            self._serve(end)

    def _serve(self, end: RoutedEnd) -> None:
        other = end.other
        link = end.link
        waiting = end.waiting
        while waiting and link.is_attached and link.credit > 0 and end.sender.current is None:
            kept: WaitingTransfer = waiting.popleft()
            delivery = kept.delivery
            delivery.context = None
            if other is not None:
                self._begin(other, end, delivery, kept.octets, 0, len(kept.octets))
            else:
                end.sender.forward(delivery, kept.octets, 0, len(kept.octets))
        if end.is_stuck():
            return
        end.let_go()
        if waiting:
            return
        end.waiting = None
        end.peer.stuck.pop(end, None)
        if end.detach_due is not None:
            closed, error = end.detach_due
            end.detach_due = None
            if link.is_attached:
                self.send_detach(link, closed, error)

    # --- what is said of messages

    def decided(self, delivery: Delivery) -> None:
        """Pass on a peer's disposition: a state, a settlement, or both."""
        if type(delivery.context) is not Delivery:
            return
        counterpart: Delivery = delivery.context
        state = delivery.remote_state
        if not delivery.is_incoming and is_outcome(state) and not is_outcome(counterpart.state):
            _count(delivery.link.context, state)
            _count(counterpart.link.context, state)
        self._tell(counterpart, state, delivery.remote_settled)
        if delivery.remote_settled and not (delivery.is_partial or counterpart.is_partial):
            delivery.context = counterpart.context = None
            if memory.is_ours_alone(counterpart):
                counterpart.link.take_back(counterpart)

    def _tell(self, delivery: Delivery, state: Any, settled: bool) -> None:
        try:
            delivery.relay(state, settled)
        except FrameTooLarge:
            # The outcome is too long for the peer's frames, so only its kind is sent.
            delivery.relay(Rejected() if isinstance(state, Rejected) else _MODIFIED, settled)

    def settle_left(self, end: RoutedEnd) -> None:
        """Settle with the container the deliveries that a receiving client leaves behind.

        A lost container leaves messages of its client in doubt. The router knows no outcome for them.
        """
        if not (end.is_near and end.link.is_sender):
            return
        for sent in _unsettled(end.link):
            context = sent.context
            sent.context = None
            if type(context) is Delivery:
                delivery: Delivery = context
                delivery.context = None
                said = sent.remote_state
                self._tell(delivery, said if is_outcome(said) else _leftover(end), True)

    # --- the end

    def cut(self, end: RoutedEnd, other: RoutedEnd) -> None:
        """Abort deliveries on the other half that this half has begun and will not end."""
        if end.link.is_sender or not other.link.is_attached:
            return
        sender = other.sender
        if other.waiting:
            kept: WaitingTransfer = other.waiting[-1]
            if kept.delivery.is_partial:
                other.waiting.pop()
                kept.delivery.context = None
        current = sender.current
        if current is not None:
            if type(current.context) is Delivery:
                before: Delivery = current.context
                before.context = None
            current.context = None
            sender.abort(current)

    def let_go(self, end: RoutedEnd) -> None:
        """Forget the deliveries of a half that is over."""
        link = end.link
        for delivery in _unsettled(link):
            context = delivery.context
            delivery.context = None
            if type(context) is Delivery:
                counterpart: Delivery = context
                counterpart.context = None
            if delivery.is_tracked:
                link.session.untrack(delivery)
        link.suspended = None
        if end.waiting is not None:
            for kept in end.waiting:
                kept.delivery.context = None
            end.waiting = None
        end.dropped = None

    def send_detach(self, link: "Link", closed: bool, error: Error | None) -> None:
        try:
            link.detach(closed=closed, error=error)
        except FrameTooLarge:
            link.detach(closed=closed, error=None if error is None else Error(condition=error.condition))


def _count(end: RoutedEnd | None, outcome: Any) -> None:
    if end is not None:
        end.count(outcome)


def _unsettled(link: "Link") -> list[Delivery]:
    """Return the deliveries of a link that is over, or is about to be."""
    if link.suspended is not None:
        return list(link.suspended.values())
    if link.is_over:
        return []
    ring = link.session.outgoing if link.is_sender else link.session.incoming
    return ring.of_link(link)


def _leftover(end: RoutedEnd) -> Any:
    """Return the outcome for a delivery without one: the default of its source, or else modified or released."""
    source = end.link.remote_source
    default = getattr(source, "default_outcome", None)
    if default is not None:
        return default
    outcomes = getattr(source, "outcomes", ())
    return _RELEASED if outcomes and _MODIFIED_NAME not in outcomes else _MODIFIED
