"""An address of this worker: its producers, its consumers, and the messages that wait between them."""

from typing import TYPE_CHECKING, Any

from routerd.core.links.fair_queue import FairQueue
from routerd.core.links.parked import ParkedQueue
from routerd.core.settings import Distribution

if TYPE_CHECKING:
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.kept import Kept
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer
    from routerd.core.recording.events import RecordedEvents


RUN_MAX = 16
"""Messages that one of several consumers gets in a row, at most, of those that come together."""
_RUN_MAX = RUN_MAX
_NO_LIMIT = 1 << 30


class Address:
    """The inlets and outlets of one address key.

    Outlets to local consumers come before outlets to siblings. A sibling's message goes to local consumers only, so
    messages from siblings wait in a separate queue.
    """

    def __init__(self, key: str, distribution: Distribution, priority: int = -1) -> None:
        self.key = key
        self.spread(distribution)
        # Connections take turns with messages that wait: endpoints inside the router serve this address.
        self.is_fair = False
        self.priority = priority
        # The fallback destination, which gets what nobody else can; and whose fallback destination this is.
        self.fallback: Address | None = None
        self.primary: Address | None = None
        self.redirected = 0
        # Whether a released message goes to another consumer; and messages that wait for one that has not had them.
        self.resends = False
        self.returned: list[Kept] | None = None
        self.outlets: list[Outlet] = []
        self.local_count = 0
        # Consumers at siblings, and the siblings with consumers that have no outlet here yet.
        self.remote_count = 0
        self.missing = 0
        self.inlets: dict[Inlet, None] = {}
        # Inlets with no more credit than consumers grant.
        self.in_step: dict[Inlet, None] = {}
        # Inlets of siblings, which share the credit of local consumers. `uneven` lists addresses to check at the end of
        # the turn: their siblings' shares, or their inlets in step.
        self.fabric_inlets: dict[Inlet, None] = {}
        # Those of them that are for large messages.
        self.stream_count = 0
        self.uneven: dict[Address, None] | None = None
        self.parked: ParkedQueue | FairQueue = ParkedQueue()
        self.parked_from_siblings: ParkedQueue | FairQueue = ParkedQueue()
        self.parked_from_trunks: ParkedQueue | FairQueue = ParkedQueue()
        # Messages in all three queues, and those of them from siblings and from other routers.
        self.waiting = 0
        self.waiting_from_siblings = 0
        self.waiting_from_trunks = 0
        self.octets_from_trunks = 0
        # Those of them that came in parts without closing a window.
        self.unheld_octets = 0
        # The recorder that knows that messages wait. A report of each message would cost more than the wait.
        self.hungry_in: RecordedEvents | None = None
        # The time until which messages from other routers wait for news of a consumer.
        self.expected_until = 0.0
        # Routes to other routers with consumers.
        self.routes: list[AddressRoute] = []
        self.route_turn = 0
        self.route_taken = 0
        self._turn = 0
        self._taken = 0
        # In the round of now: how many messages each consumer gets in a row, and how many turns there still are.
        self._run = 0
        self._turns_left = 0
        self._known_credit = -1
        self.ingress = 0
        self.egress = 0
        self.transit = 0
        # Of the links that are over, what came from containers, and went to them.
        self.container_in = 0
        self.container_out = 0
        # What is configured and keeps the address.
        self.uses = 0

    def spread(self, distribution: Distribution) -> None:
        """Have messages go to one consumer or to all from now on."""
        self.distribution = distribution
        self.is_multicast = distribution is Distribution.MULTICAST
        self.is_balanced = distribution is not Distribution.CLOSEST

    def take_turns(self) -> None:
        """Have connections take turns from now on; only while no message waits."""
        if not self.is_fair:
            self.is_fair = True
            self.parked, self.parked_from_siblings, self.parked_from_trunks = FairQueue(), FairQueue(), FairQueue()

    def queue_for(self, inlet: "Inlet") -> Any:
        """Return the queue for the messages of an inlet."""
        if inlet.is_fabric:
            return self.parked_from_siblings
        return self.parked if inlet.trunk is None else self.parked_from_trunks

    def has_outlet(self, is_local_only: bool) -> bool:
        """Whether there is a consumer here, or, unless `is_local_only`, at a sibling or another router."""
        return self.local_count > 0 or (not is_local_only and (self.remote_count > 0 or len(self.routes) > 0))

    @property
    def is_idle(self) -> bool:
        """Whether the address has no links here and no message waits."""
        return not (
            self.uses
            or self.outlets
            or self.inlets
            or self.parked
            or self.parked_from_siblings
            or self.parked_from_trunks
            or self.returned
        ) and not any(route.waiting for route in self.routes)

    def add(self, outlet: "Outlet") -> None:
        """Add an outlet."""
        outlets = self.outlets
        outlet.place = len(outlets)
        outlets.append(outlet)
        if not outlet.is_fabric:
            self._swap(self.local_count, outlet.place)
            self.local_count += 1

    def remove(self, outlet: "Outlet") -> None:
        """Remove an outlet if it is here. The last outlets take its place, so the cost does not depend on their number.
        """
        if outlet.place < 0:
            return
        if not outlet.is_fabric:
            self.local_count -= 1
            self._swap(outlet.place, self.local_count)
        self._swap(outlet.place, len(self.outlets) - 1)
        self.outlets.pop()
        outlet.place = -1

    def _swap(self, at: int, other_at: int) -> None:
        outlets = self.outlets
        one, other = outlets[at], outlets[other_at]
        outlets[at] = other
        other.place = at
        outlets[other_at] = one
        one.place = other_at

    def enter(self, inlet: "Inlet") -> None:
        """Add an inlet."""
        self.inlets[inlet] = None
        if inlet.is_fabric:
            self.fabric_inlets[inlet] = None
            if inlet.is_stream:
                self.stream_count += 1

    def leave(self, inlet: "Inlet") -> None:
        """Remove an inlet if it is here."""
        self.inlets.pop(inlet, None)
        self.in_step.pop(inlet, None)
        if inlet in self.fabric_inlets:
            del self.fabric_inlets[inlet]
            if inlet.is_stream:
                self.stream_count -= 1
        self.note_credit()

    def credit(self) -> int:
        """Return the credit of consumers here and at siblings."""
        if self._known_credit >= 0:
            return self._known_credit
        total = 0
        for outlet in self.outlets:
            total += outlet.link.credit
        return total

    def keep_step(self) -> None:
        """Grant inlets in step the credit that consumers have now."""
        waiting, self.in_step = self.in_step, {}
        # Grants to producers leave the credit of consumers as it is, so one count serves all of them.
        self._known_credit = self.credit()
        for inlet in waiting:
            inlet.is_in_step = False
            inlet.top_up()
        self._known_credit = -1

    def note_step(self) -> None:
        """Have `keep_step` called at the end of the turn: the credit of consumers has changed."""
        if self.uneven is not None:
            self.uneven[self] = None

    def note_credit(self) -> None:
        """Have the shares of siblings checked at the end of the turn: the credit of local consumers has changed."""
        if self.fabric_inlets and self.uneven is not None:
            self.uneven[self] = None

    def share_credit(self) -> None:
        """Grant siblings the credit of local consumers in equal shares, and a part of the credit to come."""
        if not self.fabric_inlets:
            return
        for outlet in self.outlets[: self.local_count]:
            if outlet.is_draining:
                return
        share = self._share(True)
        for inlet in self.fabric_inlets:
            inlet.set_share(share)

    def drain_siblings(self) -> None:
        """Have siblings use their share of the present credit and return the rest."""
        share = self._share(False)
        for inlet in self.fabric_inlets:
            inlet.link.set_credit(min(share, inlet.capacity), drain=True)

    def _share(self, is_ahead: bool) -> int:
        """Return the approximate share of one sibling: of the present credit, or with credit that is about to come."""
        waiting = self.waiting_from_siblings
        credit = -waiting
        for outlet in self.outlets[: self.local_count]:
            if not outlet.is_open:
                continue
            if outlet.peer.is_blocked or outlet.link.session.has_backlog:
                # The outlet was not passed over yet. Its credit is shared once it has room again.
                outlet.wait_for_room()
            else:
                credit += outlet.link.credit
                if is_ahead and waiting == 0 and outlet.link.credit > 0:
                    credit += outlet.lead
        # A link for large messages does not diminish the share of the sibling's link for whole ones.
        count = max(1, len(self.fabric_inlets) - self.stream_count)
        return (max(credit, 0) + count - 1) // count

    def choose(self, is_local_only: bool, spared: "Peer | None" = None) -> "Outlet | None":
        """Return the outlet for the next message, or None when no outlet can send now.

        Outlets take turns; an outlet to a sibling has one turn for each consumer there. Balanced addresses choose the
        outlet with the fewest unsettled deliveries for each consumer, and take turns among equals. Outlets of a spared
        peer are passed over.
        """
        outlets = self.outlets
        count = self.local_count if is_local_only else len(outlets)
        if count == 0:
            return None
        best: Outlet | None = None
        least = 0
        at = self._turn if self._turn < count else 0
        chosen = at
        for _ in range(count):
            outlet = outlets[at]
            if outlet.can_send() and (spared is None or outlet.peer is not spared):
                load = outlet.load()
                if load == 0 or not self.is_balanced:
                    best = outlet
                    chosen = at
                    break
                if best is None or load * best.weight < least * outlet.weight:
                    best = outlet
                    least = load
                    chosen = at
            at += 1
            if at == count:
                at = 0
        if best is not None:
            self._take_turn(chosen, best.weight)
        return best

    def has_others(self, spared: "Peer") -> bool:
        """Whether an outlet here belongs to another peer."""
        return any(outlet.peer is not spared for outlet in self.outlets)

    def _take_turn(self, at: int, weight: int) -> None:
        if at != self._turn:
            self._turn = at
            self._taken = 0
        self._taken += 1
        if self._taken >= weight:
            self._turn = at + 1
            self._taken = 0

    def run_behind(self, behind: int, is_local_only: bool) -> int:
        """Return how many of the messages behind one may follow it to its outlet.

        Of those that are here, each consumer and each route gets its part at the most. Runs are equally long in a
        round, so that those that take turns get equally many. A single destination gets all.
        """
        turns = self._count_turns(is_local_only)
        if turns == 0:
            return _NO_LIMIT
        if self._turns_left <= 0:
            self._turns_left = turns
            self._run = min(_RUN_MAX, (behind + 1) // self._turns_left)
        run = min(self._run, (behind + 1) // self._turns_left)
        self._turns_left -= 1
        return run - 1 if run > 1 else 0

    def _count_turns(self, is_local_only: bool) -> int:
        """Return how many turns are in a round, or 0 if there is only one destination."""
        outlets = self.local_count if is_local_only else len(self.outlets)
        turns = self.local_count if is_local_only else self.local_count + self.remote_count
        others = 0
        if not is_local_only and self.routes:
            if self.is_balanced:
                others = len(self.routes)
                turns += others
            elif turns == 0:
                # Only the nearest routers take turns; a route gets one for each of them.
                least = self.routes[0].cost
                for route in self.routes:
                    least = min(least, route.cost)
                for route in self.routes:
                    if route.cost == least:
                        others += 1
                        turns += route.nearest
        return max(1, turns) if outlets + others > 1 else 0
