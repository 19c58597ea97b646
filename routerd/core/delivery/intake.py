"""Messages that come in: from clients and siblings, and from other routers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core.links.address import Address
from routerd.core.links.arrival import Arrival
from routerd.core.links.parked import Collected
from routerd.core.policy.message_guard import FORBIDDEN_REQUEST, OWN_REQUEST, MessageGuard
from routerd.core.recording.journal import AUTOMATIC
from routerd.core.recording.names import LOOP, NO_CAUSE, NO_CONSUMER, POLICY, TOO_MANY_WAIT
from routerd.wire import ACCEPTED, RELEASED, DecodeError, Error, NeedsMore, Rejected
from routerd.wire.section_scan import may_carry_annotations

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.batches import Batches
    from routerd.core.delivery.copies import Copies
    from routerd.core.delivery.destinations import Destinations
    from routerd.core.delivery.marking import Marking
    from routerd.core.delivery.queues import Queues
    from routerd.core.delivery.remainders import Remainders
    from routerd.core.delivery.routing import Routing
    from routerd.core.delivery.sending import Sending
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.recording.journal import Journal
    from routerd.wire.delivery import Delivery

COLLECTED_MAX = 1 << 20
"""Octets of a message that must contain its address and annotations."""

GATHERED_MAX = 1 << 15
"""Octets of a message that are gathered before it is routed, for routers that gather messages."""

_GATHERED_MAX = GATHERED_MAX
_MANY = 127
_ACCEPTED = ACCEPTED
_RELEASED = RELEASED
_FORBIDDEN_REQUEST = FORBIDDEN_REQUEST
_OWN_REQUEST = OWN_REQUEST
_NO_TO = Error(
    condition="amqp:precondition-failed", description="the message says in no `to` property where it goes"
)
_TOO_FAR_BEHIND = Rejected(
    error=Error(
        condition="amqp:link:message-size-exceeded",
        description=f"address and annotations are not within the first {COLLECTED_MAX} octets",
    )
)


class Intake:
    """Reads the needed sections of a message, and sends it, keeps it, or gives it up."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        rules: "PathRules",
        destinations: "Destinations",
        journal: "Journal",
        marking: "Marking",
        settlement: "Settlement",
        routing: "Routing",
        sending: "Sending",
        copies: "Copies",
        batches: "Batches",
        queues: "Queues",
        remainders: "Remainders",
        gathers: bool,
    ) -> None:
        self._clock = clock
        self._observer = observer
        self._rules = rules
        self._destinations = destinations
        self._journal = journal
        self._marking = marking
        self._settlement = settlement
        self._routing = routing
        self._sending = sending
        self._copies = copies
        self._batches = batches
        self._queues = queues
        self._remainders = remainders
        self._gathers = gathers
        self._arrival = Arrival()
        # Messages that went to fallback destinations.
        self.redirected = 0
        # Answers a request to management that its sender must not make; returns whether there is an answer.
        self.answer_forbidden: Callable[[bytes], bool] | None = None
        # Answers a request about things of a connection; returns whether there is an answer.
        self.answer_own: Callable[[Peer, bytes], bool] | None = None

    def from_client(
        self, inlet: "Inlet", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Take octets of a message from a client or a sibling."""
        arrival = self._arrival
        self._take(arrival, inlet, delivery, data, start, end)
        try:
            if delivery.context is not None:
                self._remainders.go_on(arrival)
            elif inlet.collected is not None:
                if self._collect(arrival):
                    self._read_sections(arrival)
            elif self._is_new(arrival):
                if inlet.is_short:
                    inlet.top_up()
                address = inlet.address
                if self._is_gathered(arrival):
                    self._begin_collecting(arrival, _GATHERED_MAX)
                elif (
                    address is None
                    or inlet.guard is not None
                    or (
                        (inlet.strips or address.routes or arrival.is_partial)
                        and may_carry_annotations(data, start, end)
                    )
                ):
                    self._read_sections(arrival)
                else:
                    self._enter(arrival, address)
        finally:
            # The octets of a failed message must not be taken for the next one.
            arrival.is_over()

    def from_router(
        self, inlet: "Inlet", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Take octets of a message from another router."""
        arrival = self._arrival
        self._take(arrival, inlet, delivery, data, start, end)
        try:
            if delivery.context is not None:
                self._remainders.go_on(arrival)
            elif inlet.collected is not None:
                if self._collect(arrival):
                    self._read_annotations(arrival)
            elif self._is_new(arrival):
                inlet.top_up()
                if self._is_gathered(arrival):
                    self._begin_collecting(arrival, _GATHERED_MAX)
                else:
                    self._read_annotations(arrival)
        finally:
            # The octets of a failed message must not be taken for the next one.
            arrival.is_over()

    def _take(
        self, arrival: Arrival, inlet: "Inlet", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
    ) -> None:
        arrival.inlet = inlet
        arrival.delivery = delivery
        arrival.data = data
        arrival.start = start
        arrival.end = end
        arrival.is_partial = delivery.is_partial

    def _is_new(self, arrival: Arrival) -> bool:
        """Count a message that has begun to come. Returns False for the rest of a message that was routed before."""
        now = self._clock.now
        arrival.size = arrival.end - arrival.start
        if arrival.delivery.is_aborted:
            arrival.inlet.top_up()
            return False
        if arrival.delivery.size != arrival.size or arrival.delivery.state is not None:
            return False
        arrival.inlet.deliveries += 1
        arrival.inlet.peer.active_at = now
        arrival.delivery.stamp = now
        arrival.stamp = now
        if arrival.inlet.is_watched:
            self._observer.message_received(
                arrival.inlet, arrival.data, arrival.start, arrival.end, arrival.is_partial
            )
        return True

    def _is_gathered(self, arrival: Arrival) -> bool:
        """Whether more of a message has to come before it is routed."""
        return self._gathers and arrival.is_partial and arrival.delivery.size < _GATHERED_MAX

    # --- sections

    def _read_sections(self, arrival: Arrival) -> None:
        """Read the destination of a client's message, and whether it is allowed. Remove what only routers may write."""
        inlet = arrival.inlet
        found: Any = inlet.address
        try:
            if inlet.guard is not None and self._is_refused(arrival, None):
                return
            if found is None:
                is_guarded = inlet.guard is not None
                to = arrival.to()
                found = self._destinations.of_client(inlet, to) if to else _NO_TO
                # The destination alone may require a look at the message.
                if not is_guarded and inlet.guard is not None and self._is_refused(arrival, None):
                    return
            is_stripped = inlet.strips and may_carry_annotations(arrival.data, arrival.start, arrival.end)
            if is_stripped:
                self._marking.strip(arrival)
            if isinstance(found, Address):
                address = found
                # The beginning of a message may have to wait, and leave on a route that there is only then.
                if arrival.is_partial or (address.routes and not is_stripped):
                    self._marking.read(arrival)
        except NeedsMore:
            self._begin_collecting(arrival)
            return
        except DecodeError as error:
            refusal = Rejected(error=Error(condition=error.condition, description=str(error)))
            self._sending.drop(arrival, refusal, inlet.address, NO_CAUSE)
            return
        if isinstance(found, Address):
            self._enter(arrival, found)
        elif found is None:
            self._sending.drop(arrival, _RELEASED, None, NO_CONSUMER)
        else:
            self._sending.drop(arrival, Rejected(error=found), None, NO_CAUSE)

    def _enter(self, arrival: Arrival, address: Address) -> None:
        """Route a message that has entered the network here, or at a sibling."""
        if not arrival.inlet.is_fabric:
            address.ingress += 1
        elif self._journal.recorder is not None:
            self._journal.recall(arrival, arrival.is_partial)
        self._route(arrival, address)

    def _read_annotations(self, arrival: Arrival) -> None:
        """Read the path of another router's message, and its destination."""
        inlet = arrival.inlet
        try:
            self._marking.read(arrival)
            annotations = arrival.read
            assert annotations is not None
            to = annotations.to
            if inlet.address is None and to is None and annotations.error is None:
                to = arrival.to()
            if inlet.guard is not None and self._is_refused(arrival, to):
                return
        except NeedsMore:
            self._begin_collecting(arrival)
            return
        except DecodeError as error:
            refusal = Rejected(error=Error(condition=error.condition, description=str(error)))
            self._sending.drop(arrival, refusal, inlet.address, NO_CAUSE)
            return
        arrival.annotations = arrival.recorded = annotations
        if annotations.error is not None:
            self._sending.drop(arrival, Rejected(error=annotations.error), inlet.address, NO_CAUSE)
        elif not to and inlet.address is None:
            self._sending.drop(arrival, Rejected(error=_NO_TO), None, NO_CAUSE)
        elif self._rules.runs_in_circles(annotations):
            self._sending.drop(arrival, _RELEASED, inlet.address, LOOP)
        else:
            address = inlet.address
            if address is None:
                address = self._destinations.of_router(annotations, to or "")
                if address is None and inlet.trunk is not None and inlet.trunk.is_up:
                    address = self._destinations.soon(annotations, to or "")
            if address is None:
                self._sending.drop(arrival, _RELEASED, None, NO_CONSUMER)
            else:
                if inlet.peer.is_edge:
                    # Links between an edge router and its interior router count like those of clients.
                    address.ingress += 1
                self._route(arrival, address)

    def _is_refused(self, arrival: Arrival, to: str | None) -> bool:
        """Give up a message that policy does not allow; raises NeedsMore and DecodeError."""
        inlet = arrival.inlet
        guard: MessageGuard = inlet.guard
        error = guard.refusal(to, arrival.data, arrival.start, arrival.end, arrival.is_partial)
        if error is None:
            return False
        if error is _OWN_REQUEST:
            octets = bytes(arrival.data[arrival.start : arrival.end])
            if self.answer_own is None or not self.answer_own(inlet.peer, octets):
                return False
            self._settlement.give_up(inlet, arrival.delivery, _ACCEPTED)
            return True
        answer = self.answer_forbidden if error is _FORBIDDEN_REQUEST else None
        if answer is not None and answer(bytes(arrival.data[arrival.start : arrival.end])):
            # The requester gets an answer from management, as for every other request that it refuses.
            self._settlement.give_up(inlet, arrival.delivery, _ACCEPTED)
        else:
            self._sending.drop(arrival, Rejected(error=error), inlet.address, POLICY)
        return True

    # --- the decision

    def _route(self, arrival: Arrival, address: Address) -> None:
        is_fabric = arrival.inlet.is_fabric
        if address.fallback is not None and self._is_for_fallback(arrival, address):
            self._divert(arrival, address.fallback)
            return
        queue = address.queue_for(arrival.inlet)
        waits = arrival.is_partial or queue.is_ready if address.is_fair else bool(queue)
        if address.is_multicast:
            is_ahead = not address.has_outlet(is_fabric) and self._destinations.is_expected(arrival.inlet, address)
            if not waits and (address.missing == 0 or is_fabric) and not is_ahead:
                self._copies.fan_out(arrival, address)
                return
        elif not waits:
            count = len(address.outlets)
            if count > _MANY:
                # If all consumers have work, the load of each is compared.
                arrival.inlet.link.session.connection.work += count >> 7
            outlet = self._routing.choose(arrival, address, is_fabric)
            if outlet is not None:
                if self._sending.forward(arrival, outlet):
                    self._batches.follow(arrival, outlet)
                return
        self._wait(arrival, address, queue)

    def _is_for_fallback(self, arrival: Arrival, address: Address) -> bool:
        """Whether only the fallback destination gets a message."""
        inlet = arrival.inlet
        annotations = arrival.annotations
        fallback = address.fallback
        if not inlet.diverts or fallback is None or self._rules.has_destination(address, annotations):
            return False
        if not self._rules.has_destination(fallback, annotations):
            return False
        return annotations is None or not self._destinations.is_expected(inlet, address)

    def _divert(self, arrival: Arrival, fallback: Address) -> None:
        """Send a message to the fallback destination."""
        self.redirected += 1
        if fallback.primary is not None:
            fallback.primary.redirected += 1
        self._destinations.want(fallback)
        self._route(arrival, fallback)

    def _wait(self, arrival: Arrival, address: Address, queue: Any) -> None:
        """Keep a message that cannot leave now, or give it up."""
        inlet = arrival.inlet
        delivery = arrival.delivery
        annotations = arrival.annotations
        has_nobody = not address.has_outlet(inlet.is_fabric) or (
            address.routes and not inlet.is_fabric and not self._rules.has_destination(address, annotations)
        )
        if has_nobody and (annotations is None or not self._destinations.is_expected(inlet, address)):
            self._sending.drop(arrival, _RELEASED, address, AUTOMATIC)
            if inlet.gives_credit_at_once and inlet.address is address:
                inlet.drain()
        elif annotations is not None and delivery.remote_settled and self._queues.lags(address, inlet):
            # Credit of routers comes back at once, so only this limits the messages that wait for a slow consumer.
            self._sending.drop(arrival, _RELEASED, address, TOO_MANY_WAIT)
        else:
            is_droppable = inlet.gives_credit_at_once and delivery.remote_settled
            if is_droppable:
                self._queues.make_room(address, inlet)
            self._queues.park(arrival, address, queue)
            if is_droppable:
                inlet.top_up()
            self._batches.wait_too(arrival, address)

    # --- messages whose first octets do not say enough

    def _begin_collecting(self, arrival: Arrival, due: int = 0) -> None:
        delivery = arrival.delivery
        collected = arrival.collected
        if collected is None:
            collected = Collected(delivery)
            collected.octets += arrival.data[arrival.start : arrival.end]
        # A peer may send its octets one by one. So each attempt waits until there is a sixteenth more than before.
        size = len(collected.octets)
        collected.due = due or size + (size >> 4)
        arrival.inlet.collected = collected

    def _collect(self, arrival: Arrival) -> bool:
        """Take more of a message; return whether to try again."""
        inlet = arrival.inlet
        delivery = arrival.delivery
        collected = inlet.collected
        inlet.collected = None
        if collected is None or delivery is not collected.delivery:
            return False
        if delivery.is_aborted:
            inlet.top_up()
            return False
        octets = collected.octets
        octets += arrival.data[arrival.start : arrival.end]
        if delivery.is_partial and len(octets) < collected.due:
            inlet.collected = collected
            return False
        if len(octets) > COLLECTED_MAX:
            self._settlement.give_up(inlet, delivery, _TOO_FAR_BEHIND)
            return False
        arrival.collected = collected
        arrival.data = octets
        arrival.start = 0
        arrival.end = len(octets)
        arrival.stamp = delivery.stamp
        arrival.size = delivery.size
        return True
