"""Messages that wait at an address, and how they leave as soon as somebody can take them."""

from typing import TYPE_CHECKING, Any

from routerd.core.fair_queue import MESSAGE_MAX
from routerd.core.halting import Halting
from routerd.core.parked import Parked, ParkedTogether
from routerd.core.recorder_hooks import AUTOMATIC
from routerd.core.recorder_names import RECORDED_DROPPED, RECORDED_RELEASED, TOO_LARGE
from routerd.wire import RELEASED, DecodeError, Error, NeedsMore, Rejected

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.core.passage import Passage
    from routerd.core.trunk import Trunk
    from routerd.core.way import Way
    from routerd.wire.delivery import Delivery

LAG_OCTETS = 1 << 22
"""Octets that wait at an address for consumers that lag, before settled messages of other routers are dropped."""

_RELEASED = RELEASED
_FAIR_MESSAGE_MAX = MESSAGE_MAX
_TOO_LARGE_FOR_ENDPOINTS = Rejected(
    error=Error(
        condition="amqp:link:message-size-exceeded",
        description=f"the router takes messages of {MESSAGE_MAX} octets at most here",
    )
)


class Waiting(Halting):
    """Keeps what cannot leave yet, by address and by where it came from."""

    def forward(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        way: "Way | None",
        delivery: "Delivery",
        data: bytes | bytearray,
        start: int,
        end: int,
    ) -> bool:
        """Send a message, or the beginning of one; return whether those behind may take its way. `Forwarder` does."""
        return False

    def forget_if_idle(self, address: "Address") -> None:
        """Forget an address that nobody uses; `Siblings` has them."""

    def lags(self, address: "Address", inlet: "Inlet") -> bool:
        return len(address.parked_from_trunks) >= inlet.capacity and (
            address.is_fair or address.octets_from_trunks >= LAG_OCTETS
        )

    def park(self, queue: Any, parked: Parked, size: int) -> None:
        queue.append(parked)
        if self.recorder is not None and parked.address.hungry_in is not self.recorder.events:
            self.recorder.events.waits(parked.address)
        inlet, delivery = parked.inlet, parked.delivery
        if inlet.is_fabric:
            parked.address.note_credit()
        delivery.context = parked
        self.count_waiting(inlet, parked.address, parked.is_settled, 1)
        if delivery.is_partial:
            inlet.current = delivery
        self._note_came(inlet, parked, size)

    def continue_parked(
        self, inlet: "Inlet", parked: Parked, data: bytes | bytearray, start: int, end: int
    ) -> None:
        delivery = parked.delivery
        if delivery.is_aborted:
            self.unpark(parked)
            parked.octets = b""
            delivery.context = inlet.current = None
            inlet.top_up()
            return
        parked.octets += data[start:end]
        if parked.address.is_fair and len(parked.octets) > _FAIR_MESSAGE_MAX:
            self.unpark(parked)
            self.note_unsent_parked(parked, TOO_LARGE)
            self.give_up(inlet, delivery, _TOO_LARGE_FOR_ENDPOINTS)
            return
        self._note_came(inlet, parked, end - start)

    def _note_came(self, inlet: "Inlet", parked: Parked, size: int) -> None:
        if inlet.trunk is not None:
            parked.address.octets_from_trunks += size
        delivery = parked.delivery
        if not delivery.is_partial:
            parked.is_complete = True
            is_end = delivery is inlet.current
            if is_end:
                inlet.current = None
            if parked.address.is_fair:
                self._take_part(inlet, parked)
            elif is_end:
                # Now that it is all there it needs no link of its own to leave.
                self.serve(parked.address)
        else:
            # One frame a message is bounded by the link's credit; what is more, by the session's window.
            if not inlet.is_shared:
                parked.frames += 1
                if not parked.address.is_fair:
                    inlet.link.session.withhold(1)

    def _take_part(self, inlet: "Inlet", parked: Parked) -> None:
        queue: Any = self.queue_for(parked.address, inlet)
        if queue.complete(parked):
            # Not earlier: a window that is smaller than the message would never let it come as a whole.
            if parked.frames:
                inlet.link.session.withhold(parked.frames)
            self.serve(parked.address)

    def unpark(self, parked: Parked) -> None:
        self.queue_for(parked.address, parked.inlet).remove(parked)
        self._leave_queue(parked)

    def _leave_queue(self, parked: Parked) -> None:
        self.count_waiting(parked.inlet, parked.address, parked.is_settled, -1)
        if parked.inlet.trunk is not None:
            parked.address.octets_from_trunks -= len(parked.octets)
        if parked.frames:
            if parked.is_complete or not parked.address.is_fair:
                parked.inlet.link.session.give_back(parked.frames)
            parked.frames = 0

    def serve(self, address: "Address") -> None:
        """Send what waits at an address, as far as outlets can send; those from siblings take turns with the others."""
        ours = address.parked
        theirs = address.parked_from_siblings
        others = address.parked_from_trunks
        is_moving = True
        while is_moving and (ours or theirs or others):
            is_moving = self._serve_one(address, theirs, True)
            is_moving = self._serve_one(address, others, False) or is_moving
            is_moving = self._serve_one(address, ours, False) or is_moving

    def _serve_one(self, address: "Address", queue: Any, is_local_only: bool) -> bool:
        if not queue:
            return False
        if address.is_fair and not queue.is_ready:
            return False
        first = queue[0]
        if type(first) is ParkedTogether:
            count = self.serve_together(address, queue, first, is_local_only)
            if count >= 0:
                return count > 0
            first = queue[0]
        outlet: Outlet | None = None
        way: Way | None = None
        passage: Passage | None = None
        parked: Parked = first
        octets = parked.octets
        if not is_local_only and parked.inlet.trunk is not None:
            passage = self._passage_of(parked)
        if address.is_multicast:
            if address.missing > 0 and not is_local_only:
                return False
            if not address.has_outlet(is_local_only) and address.expected_until > self.now:
                return False
        else:
            outlet = address.choose(is_local_only)
            if address.ways and not is_local_only:
                priority = self.priority_of(address, octets, 0, len(octets))
                way = self.choose_way(address, passage, outlet, priority, not parked.is_complete)
                if way is not None:
                    outlet = self.picked
            if way is None and outlet is not None and outlet.side is not None and not parked.is_complete:
                way = outlet.side
                outlet = way.pick(0, True)
            if outlet is None:
                if is_local_only or self.has_destination(address, passage) or address.expected_until > self.now:
                    return False
                queue.popleft()
                self._leave_queue(parked)
                self.drop(
                    parked.inlet, parked.delivery, _RELEASED, address, passage, AUTOMATIC, octets, 0, len(octets)
                )
                return True
        queue.popleft()
        self._leave_queue(parked)
        self.routed = passage
        if self.recorder is not None and parked.inlet.is_fabric:
            self.routed = self.passage_or_none(octets, 0, len(octets), True)
        delivery = parked.delivery
        delivery.context = None
        if outlet is None:
            self.fan_out(parked.inlet, address, delivery, octets, 0, len(octets), passage)
            return True
        self.forward(parked.inlet, outlet, way, delivery, octets, 0, len(octets))
        return True

    def _passage_of(self, parked: Parked) -> "Passage":
        try:
            return self.passages.read(parked.octets, 0, len(parked.octets), not parked.is_complete)
        except (NeedsMore, DecodeError):
            # They were all there when the message came.
            return self.passages.unmarked

    def release_parked(self, address: "Address") -> None:
        """Release what waits for consumers that are no more."""
        queues: list[tuple[Any, bool]] = [
            (address.parked_from_siblings, True),
            (address.parked_from_trunks, False),
            (address.parked, False),
        ]
        for queue, is_local_only in queues:
            while queue and not address.has_outlet(is_local_only):
                first = queue[0]
                if type(first) is ParkedTogether:
                    self.part(first)
                parked = queue.popleft()
                self._leave_queue(parked)
                self.note_unsent_parked(parked, AUTOMATIC)
                self.give_up(parked.inlet, parked.delivery, _RELEASED)

    def note_unsent_parked(self, parked: Parked, cause: int) -> None:
        """Record a message that has waited for nothing."""
        if self.recorder is not None:
            inlet, octets = parked.inlet, parked.octets
            passage = None if inlet.trunk is None else self._passage_of(parked)
            number = RECORDED_DROPPED if parked.is_settled else RECORDED_RELEASED
            stamp, size = parked.delivery.stamp, parked.delivery.size
            self.note_stay(inlet, parked.address, passage, stamp, size, octets, 0, len(octets), number, cause)

    def serve_outlet(self, outlet: "Outlet") -> None:
        """Send what waits for an outlet, its copies of multicast messages first."""
        self.serve_copies(outlet)
        if outlet.trunk is not None:
            self.serve_trunk(outlet.trunk)
            return
        if outlet.way is not None:
            self.serve_way(outlet.way)
        is_of_clients = outlet.way is None and outlet.side is None and not outlet.address.is_multicast
        if is_of_clients and not outlet.can_send():
            # Nothing can leave by it, and for the others nothing has changed.
            return
        self.serve(outlet.address)

    def serve_trunk(self, trunk: "Trunk") -> None:
        """Send what waits for a connection to another router, address by address."""
        trunk.use_control_credit()
        hungry = trunk.hungry
        if not hungry:
            return
        trunk.hungry = {}
        # Each that finds no link for its large message wants one again; some are on their way.
        trunk.wanted_streams = -len(trunk.opening)
        if trunk.wanting is not None:
            # The turn's end begins the count anew.
            trunk.wanting[trunk] = None
        for address in hungry:
            for way in address.ways:
                self.serve_way(way)
            if trunk.sides:
                for way in trunk.sides.get(address, ()):
                    self.serve_way(way)
            self.serve(address)
            self.forget_if_idle(address)
