"""Ends deliveries whose producer or consumer is gone."""

from typing import TYPE_CHECKING

from routerd.core.links.fan_out import MAYBE_SEEN, FanOut
from routerd.core.links.parked import Parked
from routerd.core.recording.names import CONSUMER_LOST, NO_CAUSE
from routerd.wire import RELEASED, is_outcome
from routerd.wire.delivery import Delivery

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.copies import Copies
    from routerd.core.delivery.queues import Queues
    from routerd.core.delivery.remainders import Remainders
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.journal import Journal
    from routerd.wire.link import Link

_RELEASED = RELEASED
_MAYBE_SEEN = MAYBE_SEEN


class Endings:
    """Settles the deliveries of a link that ends: each gets an outcome, and none is accepted without a consumer."""

    def __init__(
        self,
        clock: "Clock",
        journal: "Journal",
        settlement: "Settlement",
        copies: "Copies",
        queues: "Queues",
        remainders: "Remainders",
        forgets_waiting: bool,
    ) -> None:
        self._clock = clock
        self._journal = journal
        self._settlement = settlement
        self._copies = copies
        self._queues = queues
        self._remainders = remainders
        # Whether a client's messages that wait unsettled go with its link.
        self._forgets_waiting = forgets_waiting

    def outlet_lost(self, outlet: "Outlet") -> None:
        """Settle with the producers the deliveries that a consumer's link leaves behind."""
        if outlet.dry_since != 0.0 and self._journal.recorder is not None:
            self._journal.recorder.events.credit_came(outlet, self._clock.now)
        outlet.is_open = False
        outlet.let_go()
        for out in _unsettled(outlet.link):
            context = out.context
            if out.ticket != 0:
                self._journal.lost(out, False)
            self._settlement.forget_route(out)
            if type(context) is Delivery:
                out.context = None
                self._consumer_lost(context)
            elif context is not None:
                context.copy_over(out, _MAYBE_SEEN)
                self._settlement.check_copies(context)
            if out.is_tracked and outlet.link.is_over:
                # A link that is detached and not closed could be resumed; but nothing is kept here for that (2.6.13).
                out.settle()
        self.release_waiting(outlet)

    def release_waiting(self, outlet: "Outlet") -> None:
        """Release the copies that wait for a consumer."""
        waiting, outlet.waiting = outlet.waiting, None
        for fan in [] if waiting is None else waiting:
            self._copies.lose(fan, outlet.address, outlet, CONSUMER_LOST)

    def _consumer_lost(self, delivery: Delivery) -> None:
        inlet: Inlet | None = delivery.link.context
        delivery.context = None
        if inlet is None:
            return
        if delivery is inlet.current:
            inlet.current = None
        if delivery.remote_settled:
            inlet.dropped_presettled += 1
            inlet.top_up()
        elif delivery.state is None or not is_outcome(delivery.state):
            self._settlement.settle(inlet, delivery, _MAYBE_SEEN)
        else:
            # The producer has the outcome, which is final.
            self._settlement.settle_too(inlet, delivery)

    def inlet_lost(self, inlet: "Inlet") -> None:
        """Forget a producer's link: abort messages that it has begun, and drop messages that nobody is to get."""
        inlet.is_open = False
        inlet.collected = None
        current = inlet.current
        inlet.current = None
        if current is not None:
            self._producer_lost(current)
        suspended = inlet.link.suspended
        for delivery in [] if suspended is None else list(suspended.values()):
            is_unseen = type(delivery.context) is Parked or not inlet.takes_modified
            outcome = _RELEASED if is_unseen else _MAYBE_SEEN
            self._producer_lost(delivery)
            if delivery.is_tracked:
                # Nothing is kept for a link that was not closed, so these get no outcome.
                if delivery.state is not None and is_outcome(delivery.state):
                    delivery.settle()
                else:
                    delivery.update(outcome, True)

    def _producer_lost(self, delivery: Delivery) -> None:
        self._settlement.forget(delivery)
        context = delivery.context
        delivery.context = None
        if type(context) is Delivery:
            context.context = None
            outlet: Outlet | None = context.link.context
            if delivery.is_partial:
                self._settlement.forget_route(context)
                if context.ticket != 0:
                    self._journal.aborted(context, delivery.remote_settled)
            if delivery.is_partial and outlet is not None and context.link.is_attached:
                outlet.link.abort(context)
                self._queues.serve_outlet(outlet)
            elif is_outcome(context.remote_state) and not context.settled and not context.remote_settled:
                context.settle_at_end()
        elif type(context) is Parked:
            if not self._outlives(context, delivery):
                self._queues.unpark(context)
                self._queues.note_unsent(context, NO_CAUSE)
                context.octets = b""
        elif type(context) is FanOut and context.delivery is delivery:
            context.delivery = None
            if delivery.is_partial:
                context.is_complete = False
                self._remainders.abort_copies(context)
                return
            context.settle_awaiting()
            if context.waiting and not context.is_settled and self._may_be_left(context.inlet, delivery):
                context.left_octets = self._settlement.leave_behind(len(context.octets))

    def _outlives(self, one: Parked, delivery: Delivery) -> bool:
        """Whether a message that waits is sent without its producer, whose outcome goes nowhere then."""
        if not one.is_complete or one.is_settled:
            return one.is_complete
        # A request to management whose client has left is nobody's.
        is_of_somebody = self._may_be_left(one.inlet, delivery) and not one.address.is_fair
        return is_of_somebody and self._queues.leave_behind(one)

    def _may_be_left(self, inlet: "Inlet", delivery: Delivery) -> bool:
        # A producer that can resume its link sends the message again, and so does a router.
        is_of_client = inlet.trunk is None and not inlet.is_fabric
        may_come_again = delivery.is_tracked or inlet.link.is_stolen
        return is_of_client and not may_come_again and not self._forgets_waiting


def _unsettled(link: "Link") -> list[Delivery]:
    """Return the deliveries that a link leaves behind; while it is attached, those that are under way on it."""
    if link.suspended is not None:
        return list(link.suspended.values())
    if not link.is_attached:
        return []
    return link.session.outgoing.of_link(link)
