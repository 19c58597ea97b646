"""How the outcomes of deliveries find their way back: from consumers to producers, and the settlement after them.

A delivery that came in and the one that went out point at each other by `context`. The incoming one may also point at
a `Parked` message, which waits for an outlet that can send, or at the `FanOut` of its copies. `context` is cleared when
a delivery is settled. The router owns no message: it settles with the producer what the consumer decided, `released`
for what never left, and `modified` for what a consumer may have seen before it vanished.
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
_SECOND = 1

KEPT_MAX = 1 << 26
"""Octets of all messages that a worker keeps to send them elsewhere if they are released."""


class Settlement:
    """Settles with producers what consumers decide."""

    def __init__(self, clock: "Clock", journal: "Journal") -> None:
        self._clock = clock
        self._journal = journal
        # By their deliveries: messages that go elsewhere if they are released, and how many octets those are.
        self.kept: dict[Delivery, Kept] = {}
        self.kept_octets = 0
        self.kept_max = KEPT_MAX
        # Has a released message go elsewhere; whether there is another destination.
        self.take_back: Callable[[Kept], bool] | None = None

    # --- what peers say

    def decided(self, delivery: Delivery) -> None:
        """Pass on what the consumer decided, or that the producer has settled."""
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
            if not delivery.settled and (inlet is None or inlet.takes_modified):
                delivery.update(state, False)
            return
        is_news = delivery.state is None or not is_outcome(delivery.state)
        # Where both settle second, the producer's settlement is what the consumer waits for.
        is_awaited = not out.remote_settled and delivery.rcv_settle_mode == _SECOND
        if is_news and self.kept and self._is_taken_back(out, delivery, state):
            return
        if is_news:
            self._count_out(out, state)
            if inlet is not None:
                self.settle(inlet, delivery, state, not is_awaited)
        elif out.remote_settled and not delivery.settled:
            delivery.settle_at_end()
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
        """Keep the message of a delivery no longer, if it is kept."""
        kept = self.kept.pop(delivery, None)
        if kept is not None:
            self.kept_octets -= len(kept.message.octets)
            kept.is_over = True

    def _is_taken_back(self, out: Delivery, delivery: Delivery, state: Any) -> bool:
        """Whether a message that its consumer has released goes elsewhere; its producer hears nothing then."""
        kept = self.kept.get(delivery)
        if kept is None or state is not _RELEASED or self.take_back is None or not delivery.link.is_attached:
            return False
        delivery.context = None
        if not self.take_back(kept):
            return False
        self._count_out(out, state)
        out.context = None
        if not out.remote_settled:
            out.settle_at_end()
        return True

    def accepted_together(self, batch: "DeliveryBatch", count: int) -> None:
        """Count deliveries that were accepted together, and that their producer was told so."""
        inlet: Inlet | None = batch.receiver.context
        outlet: Outlet | None = batch.sender.context
        if batch.context is not None:
            self._journal.accepted_together(batch.context, count)
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
            if inlet.link.credit <= inlet.ample_credit:
                inlet.top_up()

    def _copy_decided(self, out: Delivery, fan: FanOut) -> None:
        state = out.remote_state
        if not out.remote_settled and not is_outcome(state):
            return
        out.context = None
        self._count_out(out, state)
        if not out.remote_settled:
            out.settle_at_end()
        fan.combine(state)
        self.check_copies(fan)

    def _producer_settled(self, delivery: Delivery) -> None:
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
        if inlet is not None:
            inlet.top_up()

    # --- what the router says to producers

    def check_copies(self, fan: FanOut) -> None:
        """Let go of the octets once nobody waits for them, and settle once everybody has decided."""
        if fan.waiting == 0:
            fan.octets = bytearray()
            if fan.frames:
                fan.inlet.link.session.give_back(fan.frames)
                fan.frames = 0
        if fan.open_copies == 0 and fan.is_complete and not fan.is_settled:
            delivery = fan.delivery
            if delivery is not None:
                fan.delivery = None
                delivery.context = None
                self.settle(fan.inlet, delivery, _RELEASED if fan.outcome is None else fan.outcome)

    def sent(self, inlet: "Inlet", outlet: "Outlet", delivery: Delivery, out: Delivery) -> None:
        """Be done with a message that has left as a whole, and that one side or both sent settled."""
        out.context = None
        delivery.context = None
        if out.settled:
            outlet.presettled += 1
        if out.ticket != 0:
            self._journal.decided(out, how_settled(delivery), NO_CAUSE)
        self.has_left(inlet, delivery)

    def has_left(self, inlet: "Inlet", delivery: Delivery) -> None:
        """Tell the producer that a message is accepted of which nobody will say more, unless it has settled it."""
        if delivery.remote_settled:
            inlet.presettled += 1
            inlet.top_up()
        else:
            self.settle(inlet, delivery, _ACCEPTED)

    def give_up(self, inlet: "Inlet", delivery: Delivery, outcome: Any) -> None:
        """Be done with a message that nobody gets. The producer is told, unless it has settled; the rest is ignored."""
        delivery.context = None
        if delivery is inlet.current:
            inlet.current = None
        if delivery.remote_settled:
            inlet.dropped_presettled += 1
            inlet.top_up()
        else:
            self.settle(inlet, delivery, outcome)

    def settle(self, inlet: "Inlet", delivery: Delivery, state: Any, settled: bool = True) -> None:
        """Tell a producer an outcome, settled where no consumer waits for the producer.

        That is so in mode `second`, too, since some producers never settle themselves.
        """
        if self.kept:
            self.forget(delivery)
        if state is _ACCEPTED:
            inlet.accepted += 1
        else:
            if not inlet.takes_modified and isinstance(state, Modified):
                state = _RELEASED
            inlet.count(state)
        age = self._clock.now - delivery.stamp
        if age > 1.0:
            inlet.count_delay(age)
        if not delivery.settled:
            if settled and delivery.is_partial and inlet.trunk is not None:
                # A qdrouterd keeps a delivery for good that is settled before its last transfer has come.
                self._update(delivery, state, False)
                delivery.settle_at_end()
            else:
                self._update(delivery, state, settled)
        if inlet.link.credit <= inlet.ample_credit:
            inlet.top_up()

    def _update(self, delivery: Delivery, state: Any, settled: bool) -> None:
        try:
            delivery.update(state, settled)
        except FrameTooLarge:
            # What the consumer said is too long for the producer's frames: the kind of outcome has to do.
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
        """Count a delivery that went to another router as decided, or lost."""
        route: AddressRoute = out.via
        out.via = None
        route.outstanding -= 1

    def forget_route(self, out: Delivery) -> None:
        """Count a delivery as lost, if it went to another router."""
        if out.via is not None:
            self.came_back(out)


def how_settled(delivery: Delivery) -> int:
    """Return the number of what became of a message that has left settled."""
    return RECORDED_PRESETTLED if delivery.remote_settled else RECORDED_ACCEPTED


def too_large(link: "Link") -> Rejected:
    """Return the outcome of a message that is larger than a consumer takes."""
    return Rejected(
        error=Error(
            condition="amqp:link:message-size-exceeded",
            description=f"the consumer takes messages of {link.remote_max_message_size} octets at most",
        )
    )
