"""Control links, whose messages are for the routers themselves; each message is assembled and given to a role."""

from typing import TYPE_CHECKING, Any

from routerd.core.links.inlet import Inlet
from routerd.core.links.parked import Collected
from routerd.core.links.role import LinkRole
from routerd.wire import Error, Rejected

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.observer import Observer
    from routerd.core.roles.ends import Ends
    from routerd.wire.delivery import Delivery

CONTROL_MAX = 1 << 26
"""Octets of the largest control message: one may list all addresses of a router."""

_TOO_LARGE = Rejected(
    error=Error(
        condition="amqp:link:message-size-exceeded",
        description=f"a message between routers has {CONTROL_MAX} octets at most",
    )
)


class ControlRole(LinkRole):
    """Assembles whole messages; each kind of control link overrides `take`."""

    def __init__(
        self, clock: "Clock", observer: "Observer", settlement: "Settlement", credit: "Credit", ends: "Ends"
    ) -> None:
        self._clock = clock
        self._observer = observer
        self._settlement = settlement
        self._credit = credit
        self._ends = ends

    def take(self, inlet: Inlet, octets: bytes) -> None:
        """Take a message."""

    def left(self, inlet: Inlet) -> None:
        """A link is over."""

    def transfer(self, end: Any, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Assemble a message."""
        inlet: Inlet = end
        collected = inlet.collected
        if collected is not None:
            inlet.collected = None
            if delivery is collected.delivery:
                self._go_on(inlet, collected, data[start:stop])
        elif delivery.is_aborted:
            inlet.top_up()
        elif delivery.size == stop - start and delivery.state is None:
            inlet.deliveries += 1
            inlet.peer.active_at = delivery.stamp = self._clock.now
            if inlet.is_watched:
                self._observer.message_received(inlet, data, start, stop, delivery.is_partial)
            inlet.top_up()
            if delivery.is_partial:
                inlet.collected = collected = Collected(delivery)
                collected.octets += data[start:stop]
            else:
                self._taken(inlet, delivery, bytes(data[start:stop]))

    def _go_on(self, inlet: Inlet, collected: Collected, octets: bytes | bytearray) -> None:
        delivery = collected.delivery
        if delivery.is_aborted:
            inlet.top_up()
            return
        collected.octets += octets
        if len(collected.octets) > CONTROL_MAX:
            self._settlement.give_up(inlet, delivery, _TOO_LARGE)
        elif delivery.is_partial:
            inlet.collected = collected
        else:
            self._taken(inlet, delivery, bytes(collected.octets))

    def _taken(self, inlet: Inlet, delivery: "Delivery", octets: bytes) -> None:
        if delivery.remote_settled:
            inlet.presettled += 1
        else:
            inlet.accepted += 1
            delivery.accept()
        self.take(inlet, octets)

    def flow(self, end: Any) -> None:
        """Note the credit that came back."""
        self._credit.of_producer(end)

    def answered(self, end: Any) -> None:
        """Grant credit to the other router."""
        inlet: Inlet = end
        if inlet.link.is_attached:
            inlet.is_open = True
            inlet.top_up()

    def ended(self, end: Any, error: Error | None) -> None:
        """Forget the link."""
        inlet: Inlet = end
        self._ends.begin_inlet(inlet)
        self.left(inlet)
        self._ends.finish_inlet(inlet, error)
