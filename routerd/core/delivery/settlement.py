"""The way back of outcomes: from consumers to producers, and the settlement after them.

A delivery that came in and the one that went out point at each other by `context`. The incoming one may also point at
a `Parked` message, which waits for an outlet that can send, or at the `FanOut` of its copies. `context` is cleared when
a delivery is settled. The router owns no message: it settles with the producer as the consumer decided. A message that
never left is `released`. A message that a consumer may have seen before it vanished is `modified`.

An outcome that the consumer has not settled goes to the producer unsettled. Then both deliveries keep their `context`
until either end settles or is lost, and the settlement goes to the other end.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core.links.fan_out import FanOut
from routerd.core.links.parked import Parked
from routerd.core.recording.journal import outcome_number
from routerd.core.recording.names import (
    CONSUMER_DECIDED,
    NO_CAUSE,
    RECORDED_ACCEPTED,
    RECORDED_PRESETTLED,
)
from routerd.wire import ACCEPTED, RELEASED, Error, FrameTooLarge, Modified, Rejected, is_outcome, memory
from routerd.wire.delivery import Delivery

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.kept import Kept
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.journal import Journal
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.link import Link

_ACCEPTED = ACCEPTED
_RELEASED = RELEASED
_FAILED = Modified(delivery_failed=True)

STATE_TOO_LONG = Rejected(
    error=Error(condition="amqp:frame-size-too-small", description="the state does not fit the consumer's frames")
)
"""The outcome of a message with a state on its transfer that a consumer cannot be told."""

KEPT_MAX = 1 << 26
"""Octets of all messages that a worker keeps for another destination, in case they are released."""

LEFT_MAX = 10_000
LEFT_OCTETS_MAX = 64 << 20
"""Limits of the messages of a worker that wait unsettled although their producers have left. Others are forgotten."""
_LEFT_MAX = LEFT_MAX
_LEFT_OCTETS_MAX = LEFT_OCTETS_MAX


class Settlement:
    """Settles with producers what consumers decide."""

    def __init__(self, clock: "Clock", journal: "Journal") -> None:
        self._clock = clock
        self._journal = journal
        # By delivery, the messages that go elsewhere if they are released; and the sum of their octets.
        self.kept: dict[Delivery, Kept] = {}
        self.kept_octets = 0
        self.kept_max = KEPT_MAX
        self._left = 0
        self._left_octets = 0
        # Sends a released message elsewhere; returns whether there is another destination.
        self.take_back: Callable[[Kept], bool] | None = None

    # --- what peers say

    def decided(self, delivery: Delivery) -> None:
        """Pass on the consumer's outcome, or the producer's settlement."""
        if delivery.is_incoming:
            self._producer_settled(delivery)
            return
        if delivery.via is not None and (delivery.remote_settled or is_outcome(delivery.remote_state)):
            self.came_back(delivery)
        if delivery.ticket != 0 and (delivery.remote_settled or is_outcome(delivery.remote_state)):
            number = outcome_number(delivery.remote_state)
            self._journal.decided(delivery, number, CONSUMER_DECIDED if number else NO_CAUSE)
        context = delivery.context
        if context is None:
            if not delivery.settled and not delivery.remote_settled and is_outcome(delivery.remote_state):
                delivery.settle_at_end()
        elif type(context) is Delivery:
            self._consumer_decided(delivery, context)
        else:
            self._copy_decided(delivery, context)

    def _consumer_decided(self, out: Delivery, delivery: Delivery) -> None:
        state = out.remote_state
        inlet: Inlet | None = delivery.link.context
        if not out.remote_settled and state is not _ACCEPTED and not is_outcome(state):
            if inlet is None or inlet.takes_modified:
                _pass_on(delivery, state)
            return
        is_news = delivery.state is None or not is_outcome(delivery.state)
        is_awaited = not out.remote_settled and _can_settle(delivery)
        if is_news and self.kept and self._is_taken_back(out, delivery, state):
            return
        if is_news:
            self._count_out(out, state)
            if inlet is not None:
                self.settle(inlet, delivery, state, not is_awaited)
                if state is _RELEASED and inlet.gives_credit_at_once and _is_to_sibling(out):
                    inlet.was_turned_back()
        elif out.remote_settled:
            self.settle_too(inlet, delivery)
        if is_awaited:
            return
        out.context = None
        if not out.remote_settled:
            out.settle_at_end()
        if not delivery.is_partial:
            delivery.context = None
            if memory.is_ours_alone(delivery):
                delivery.link.take_back(delivery)

    # --- messages that others may get

    def keep(self, kept: "Kept") -> bool:
        """Keep a message until it is settled, unless too much is kept already; return whether it is kept."""
        size = len(kept.message.octets)
        if self.kept_octets + size > self.kept_max:
            return False
        self.kept_octets += size
        self.kept[kept.message.delivery] = kept
        return True

    def forget(self, delivery: Delivery) -> None:
        """Stop keeping the message of a delivery."""
        kept = self.kept.pop(delivery, None)
        if kept is not None:
            self.kept_octets -= len(kept.message.octets)
            kept.is_over = True

    # --- messages that outlive their producers

    def leave_behind(self, size: int) -> int:
        """Count a message that waits without its producer; return the octets counted for it, 0 if too many wait."""
        octets = size + 1
        if self._left >= _LEFT_MAX or self._left_octets + octets > _LEFT_OCTETS_MAX:
            return 0
        self._left += 1
        self._left_octets += octets
        return octets

    def left_is_over(self, octets: int) -> None:
        """Note that such a message waits no more."""
        self._left -= 1
        self._left_octets -= octets

    def _is_taken_back(self, out: Delivery, delivery: Delivery, state: Any) -> bool:
        """Whether a released message goes elsewhere; its producer hears nothing then."""
        kept = self.kept.get(delivery)
        if kept is None or state is not _RELEASED or self.take_back is None or not delivery.link.is_attached:
            return False
        delivery.context = None
        if not self.take_back(kept):
            # The consumer may wait for the producer's settlement.
            delivery.context = out
            return False
        self._count_out(out, state)
        out.context = None
        if not out.remote_settled:
            out.settle_at_end()
        return True

    def accepted_together(self, batch: "DeliveryBatch", count: int) -> None:
        """Count deliveries that were accepted together; their producer has the outcome already."""
        inlet: Inlet | None = batch.receiver.context
        outlet: Outlet | None = batch.sender.context
        if batch.context is not None:
            self._journal.accepted_together(batch.context, count)
        if batch.via is not None:
            route: AddressRoute = batch.via
            route.outstanding -= count
        age = self._clock.now - batch.stamp
        delayed_10s = count if age > 10.0 else 0
        delayed_1s = count - delayed_10s if age > 1.0 else 0
        if outlet is not None:
            outlet.accepted += count
            outlet.delayed_10s += delayed_10s
            outlet.delayed_1s += delayed_1s
        if inlet is not None:
            inlet.accepted += count
            inlet.delayed_10s += delayed_10s
            inlet.delayed_1s += delayed_1s
            self._renew(inlet)

    def _copy_decided(self, out: Delivery, fan: FanOut) -> None:
        state = out.remote_state
        has_outcome = fan.is_awaiting(out)
        if not out.remote_settled and (has_outcome or not is_outcome(state)):
            return
        if not has_outcome:
            self._count_out(out, state)
        if out.remote_settled:
            fan.copy_over(out, state)
        elif fan.delivery is not None and _can_settle(fan.delivery):
            fan.combine(state)
            fan.wait_for_producer(out)
        else:
            fan.copy_over(out, state)
            out.settle_at_end()
        self.check_copies(fan)

    def _producer_settled(self, delivery: Delivery) -> None:
        if delivery.remote_state is not None and type(delivery.context) is Delivery:
            _pass_on(delivery.context, delivery.remote_state, delivery.remote_settled)
        if not delivery.remote_settled:
            return
        if self.kept:
            self.forget(delivery)
        context = delivery.context
        inlet: Inlet | None = delivery.link.context
        if type(context) is Parked:
            if not context.is_settled and inlet is not None:
                context.is_settled = True
                inlet.waiting += 1
        elif type(context) is Delivery and not delivery.is_partial:
            delivery.context = None
            context.context = None
            if context.via is not None:
                self.came_back(context)
            if context.ticket != 0:
                self._journal.decided(context, RECORDED_PRESETTLED, NO_CAUSE)
            if not context.settled:
                context.settle_at_end()
        elif type(context) is FanOut:
            context.settle_awaiting()
            self.check_copies(context)
        if inlet is not None:
            inlet.top_up()

    # --- what the router says to producers

    def let_go(self, fan: FanOut) -> None:
        """Open the window that waiting copies keep closed, and count their octets no more."""
        if fan.frames:
            fan.inlet.link.session.give_back(fan.frames)
            fan.frames = 0
        if fan.unheld:
            fan.inlet.peer.unheld_octets -= fan.unheld
            fan.unheld = 0

    def check_copies(self, fan: FanOut) -> None:
        """Free the octets once no copy waits for them, and tell the producer once all copies have an outcome.

        It is settled once no consumer waits for the producer.
        """
        if fan.waiting == 0:
            if fan.octets:
                fan.octets = bytearray()
            if fan.left_octets:
                self.left_is_over(fan.left_octets)
                fan.left_octets = 0
            self.let_go(fan)
        if fan.open_copies == 0 and fan.is_complete and not fan.is_settled:
            delivery = fan.delivery
            if delivery is None:
                return
            if not fan.awaiting:
                fan.delivery = None
                delivery.context = None
            if delivery.state is None or not is_outcome(delivery.state):
                self.settle(
                    fan.inlet, delivery, _RELEASED if fan.outcome is None else fan.outcome, not fan.awaiting
                )
            elif not fan.awaiting:
                self.settle_too(fan.inlet, delivery)

    def sent(self, inlet: "Inlet", outlet: "Outlet", delivery: Delivery, out: Delivery) -> None:
        """Finish a message that has left as a whole, and that one side or both sent settled."""
        out.context = None
        delivery.context = None
        if out.settled:
            outlet.presettled += 1
        if out.ticket != 0:
            self._journal.decided(out, how_settled(delivery), NO_CAUSE)
        if delivery.state is not None and is_outcome(delivery.state):
            # Its consumer had decided before the end of it came, and waited for the settlement.
            if not out.settled:
                out.settle_at_end()
            inlet.top_up()
        else:
            self.has_left(inlet, delivery)

    def has_left(self, inlet: "Inlet", delivery: Delivery) -> None:
        """Accept a message that gets no outcome from a consumer. The producer is told, unless it has settled it."""
        if delivery.remote_settled:
            inlet.presettled += 1
            inlet.top_up()
        else:
            self.settle(inlet, delivery, _ACCEPTED)

    def give_up(self, inlet: "Inlet", delivery: Delivery, outcome: Any) -> None:
        """Give up a message. The producer is told, unless it has settled; the rest of the message is ignored."""
        delivery.context = None
        if delivery is inlet.current:
            inlet.current = None
        if delivery.remote_settled:
            inlet.dropped_presettled += 1
            inlet.top_up()
        elif delivery.state is not None and is_outcome(delivery.state):
            # The consumer has decided before the end of the message came; that outcome stays.
            self.settle_too(inlet, delivery)
        else:
            self.settle(inlet, delivery, outcome)

    def settle_too(self, inlet: "Inlet | None", delivery: Delivery) -> None:
        """Settle with a producer that has the outcome: its consumer has settled, or is lost."""
        if not delivery.settled:
            if inlet is not None and inlet.trunk is not None:
                delivery.settle_at_end()
            else:
                delivery.settle()
        if inlet is not None:
            inlet.top_up()

    def settle(self, inlet: "Inlet", delivery: Delivery, state: Any, settled: bool = True) -> None:
        """Tell a producer an outcome, settled unless a consumer waits for the producer."""
        if self.kept:
            self.forget(delivery)
        if state is _ACCEPTED:
            inlet.accepted += 1
        else:
            if isinstance(state, Modified):
                state = _as_told(state) if inlet.takes_modified else _RELEASED
            inlet.count(state)
        age = self._clock.now - delivery.stamp
        if age > 1.0:
            inlet.count_delay(age)
        if not delivery.settled:
            if settled and delivery.is_partial and inlet.trunk is not None:
                # A qdrouterd keeps a delivery for ever if it is settled before its last transfer has come.
                self._update(delivery, state, False)
                delivery.settle_at_end()
            else:
                self._update(delivery, state, settled)
        self._renew(inlet)

    def _renew(self, inlet: "Inlet") -> None:
        if inlet.link.credit <= inlet.ample_credit:
            inlet.top_up()
        elif inlet.gives_credit_at_once and inlet.link.unsettled_count == 0:
            inlet.fill_up()

    def _update(self, delivery: Delivery, state: Any, settled: bool) -> None:
        try:
            delivery.update(state, settled)
        except FrameTooLarge:
            # The consumer's outcome is too long for the producer's frames, so only its kind is sent.
            delivery.update(Rejected() if isinstance(state, Rejected) else Modified(delivery_failed=True), settled)

    # --- what is counted

    def _count_out(self, out: Delivery, state: Any) -> None:
        outlet: Outlet | None = out.link.context
        if outlet is None:
            return
        if state is _ACCEPTED:
            outlet.accepted += 1
        else:
            outlet.count(state)
        age = self._clock.now - out.stamp
        if out.stamp > 0 and age > 1.0:
            outlet.count_delay(age)

    def came_back(self, out: Delivery) -> None:
        """Count a delivery to another router as decided, or lost."""
        route: AddressRoute = out.via
        out.via = None
        route.outstanding -= 1

    def forget_route(self, out: Delivery) -> None:
        """Count a delivery as lost if it went to another router."""
        if out.via is not None:
            self.came_back(out)


def _pass_on(delivery: Delivery, state: Any, is_last: bool = False) -> None:
    """Tell a peer the state of the other end, unless it is known. The last one is told with the settlement."""
    if delivery.settled or delivery.state == state or (not delivery.is_incoming and is_outcome(delivery.state)):
        return
    try:
        if is_last:
            delivery.link.session.dispositions.check_fits(state)
            delivery.state = state
        else:
            delivery.update(state, False)
    except FrameTooLarge:
        # Only an outcome can be shortened. The peer lives without a state on the way to one.
        return


def _is_to_sibling(out: Delivery) -> bool:
    outlet: Outlet | None = out.link.context
    return outlet is not None and outlet.is_fabric


def _can_settle(delivery: Delivery) -> bool:
    """Whether a producer is there that has not settled."""
    return not delivery.remote_settled and delivery.link.is_attached


def _as_told(state: Modified) -> Modified:
    """Return what a producer is told for `modified`: a failure if it says nothing at all."""
    if state.delivery_failed or state.undeliverable_here or state.message_annotations:
        return state
    return _FAILED


def how_settled(delivery: Delivery) -> int:
    """Return the number of the outcome of a message that left settled."""
    return RECORDED_PRESETTLED if delivery.remote_settled else RECORDED_ACCEPTED


def too_large(link: "Link") -> Rejected:
    """Return the outcome of a message that is larger than a consumer takes."""
    return Rejected(
        error=Error(
            condition="amqp:link:message-size-exceeded",
            description=f"the consumer takes messages of {link.remote_max_message_size} octets at most",
        )
    )
