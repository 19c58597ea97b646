"""The ways that addresses take over the network, as one worker of a router sees it.

The routing engine says by `apply_network` which routers there are, how each is reached and which addresses it has. From
this follow the ways of each address that somebody here sends to: over a trunk of this worker, or over a link to the
sibling that has the trunk, which relays what comes there as it is.
"""

from collections.abc import Callable

from routerd.core.address import Address
from routerd.core.addresses import AddressSpace
from routerd.core.departures import UNSETTLED_S
from routerd.core.expectations import Expectations
from routerd.core.inlet import Inlet
from routerd.core.naming import Naming
from routerd.core.network import NetworkNews
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.passage import Passage
from routerd.core.peer import Peer
from routerd.core.settings import Distribution, RouterMode, RouterSettings
from routerd.core.siblings import RELAY, Siblings
from routerd.core.treatment import Treatment
from routerd.core.trunk import Trunk
from routerd.core.way import Way
from routerd.wire import Error, Link, Open

PASSING_MAX = 10_000
"""Addresses that only messages without a link of their own go to, before those that nobody uses are forgotten.

More are kept only while messages wait at each of them.
"""

NO_ROUTE = Error(condition="qd:no-route-to-dest", description="no route to the destination node")


class Ways(Siblings):
    """Keeps the ways of addresses, and finds the address of a message that comes from another router."""

    def __init__(
        self, settings: RouterSettings, observer: Observer, worker: int, workers: int, token: Callable[[], str]
    ) -> None:
        Siblings.__init__(self, settings, observer, worker, workers)
        self.settings = settings
        self.trunks: dict[int, Trunk] = {}
        self._token = token
        self._space = AddressSpace(settings.id, is_edge=settings.mode is RouterMode.EDGE)
        self._naming = Naming(self._space, self._treatments)
        # Links to siblings that are not needed any more; what they have sent may yet be settled.
        self._retiring: dict[Outlet, None] = {}
        self._passing: dict[Address, None] = {}
        self._passing_limit = PASSING_MAX
        self._expectations = Expectations()
        self._is_unsettled = False

    # --- the network

    def apply_network(self, news: NetworkNews) -> None:
        """Take what the routing engine says of the network."""
        if news.version <= self.network.version and not news.is_full:
            return
        before = self.network.routes, self.network.link_state
        touched = self.network.apply(news)
        self._expectations.network_changed(before[0], self.network.routes, self.now)
        if news.routes is not None or news.through is not None:
            self.paths_changed_at = self.now
            self._is_unsettled = True
        if self.recorder is not None:
            self.recorder.events.network_changed(*before, self.network, self.now)
        # Not by the radius, which counts the hops of our own paths: others' of the same cost may have more.
        self.hops_max = len(self.network.routes) + 1
        keys = dict.fromkeys(self.addresses) if news.is_full or news.routes is not None else touched
        if news.through is not None:
            # What waits for a way in the tree of its origin may have one now, or none any more.
            keys.update((key, None) for key, address in self.addresses.items() if address.parked_from_trunks)
        for key in keys:
            address = self.addresses.get(key)
            if address is not None and not key.startswith(RELAY):
                self._reconsider(address)

    def _reconsider(self, address: Address) -> None:
        had_ways = bool(address.ways)
        self.find_ways(address)
        if address.ways and self.has_senders(address):
            self.attach_ways(address)
        if had_ways and not address.ways:
            self.consumers_went(address)
        elif address.ways and not had_ways:
            self.consumers_came(address)
        else:
            self.serve(address)
        for way in address.ways:
            self.serve_way(way)
        self.destinations_changed(address)
        self.forget_if_idle(address)

    def consumers_came(self, address: Address) -> None:
        """Wait again for news of an address, should it have nobody once more."""
        self._expectations.came(address.key)
        Siblings.consumers_came(self, address)

    def consumers_went(self, address: Address) -> None:
        """Remember that messages which still come for an address are late."""
        if not address.has_outlet(False):
            address.expected_until = 0.0
            self._expectations.went(address.key, self.now)
        Siblings.consumers_went(self, address)

    def end_turn(self) -> None:
        """Share credit, and detach the links to siblings that are not needed any more."""
        Siblings.end_turn(self)
        if self._retiring:
            for outlet in list(self._retiring):
                if outlet.link.unsettled_count == 0 and outlet.link.current is None:
                    del self._retiring[outlet]
                    self.give_up_fabric(outlet)

    def each_second(self, now: float) -> None:
        """Give up messages that have waited for news, or for another way, in vain."""
        self.set_clock(now)
        if self._is_unsettled and now - self.paths_changed_at > UNSETTLED_S:
            # Nobody else looks again at those for which only a detour was left.
            self._is_unsettled = False
            for address in [one for one in self.addresses.values() if one.parked_from_trunks]:
                self.serve(address)
                self.forget_if_idle(address)
        for address in self._expectations.overdue(now):
            if not address.has_outlet(False):
                self.release_parked(address)
            self.serve(address)
            self.forget_if_idle(address)

    # --- the ways of an address

    def treatment_of_key(self, key: str) -> Treatment:
        """Return the treatment by our own configuration, or the hint of a router that has the address."""
        return self._treatments.of_key(key, self.network.hint_of(key))

    def treatments_changed(self) -> None:
        """Look at the addresses of messages anew."""
        self._naming.forget()
        self.passages.forget_keys()

    def find_ways(self, address: Address) -> None:
        routes = self.network.routes
        if not routes and not address.ways:
            return
        reached: dict[int, list[tuple[int, str]]] = {}
        for router in self.routers_with(address):
            route = routes.get(router)
            if route is not None:
                reached.setdefault(route.trunk, []).append((route.cost, router))
        known = {way.trunk: way for way in address.ways}
        ways = []
        for trunk, routers in reached.items():
            way = known.pop(trunk, None)
            if way is None:
                way = Way(address, trunk, routes[routers[0][1]].next_hop)
            way.routers = tuple(router for _, router in routers)
            way.cost = min(routers)[0]
            way.nearest = sum(cost == way.cost for cost, _ in routers)
            way.end = self.trunks.get(trunk)
            ways.append(way)
        address.ways = ways
        for way in known.values():
            self._drop(way)

    def routers_with(self, address: Address) -> tuple[str, ...]:
        """Return the other routers that messages of an address can go to."""
        return self.network.routers_of(address.key)

    def attach_ways(self, address: Address) -> None:
        for way in address.ways:
            if way.outlet is not None or way.end is not None or way.is_refused:
                continue
            if (way.trunk - 1) % self.workers != self.worker:
                neighbour = self.neighbours.get((way.trunk - 1) % self.workers)
                if neighbour is not None:
                    way.outlet = self.fabric_outlet(neighbour, address, f"{RELAY}{way.trunk}:{address.key}")
                    if way.outlet is not None:
                        way.outlet.way = way

    def forget_if_idle(self, address: Address) -> None:
        """Forget an address that nobody uses, and give up the links by which siblings relay its messages."""
        Siblings.forget_if_idle(self, address)
        if self.addresses.get(address.key) is not address:
            self._passing.pop(address, None)
            for way in address.ways:
                self._retire(way)

    def _drop(self, way: Way) -> None:
        self.way_lost(way)
        self._retire(way)

    def _retire(self, way: Way) -> None:
        outlet, way.outlet = way.outlet, None
        if outlet is not None:
            # What it has sent may yet be settled.
            outlet.way = None
            self._retiring[outlet] = None

    # --- links to siblings that relay

    def sibling_connected(self, peer: Peer, performative: Open) -> None:
        """Have a sibling relay again what it has trunks for."""
        Siblings.sibling_connected(self, peer, performative)
        for address in list(self.addresses.values()):
            if address.ways and self.has_senders(address):
                self.attach_ways(address)

    def relay_attached(self, peer: Peer, link: Link, key: str) -> None:
        number, _, relayed = key[len(RELAY) :].partition(":")
        trunk = self.trunks.get(int(number)) if number.isdecimal() else None
        if trunk is None:
            self.refuse(link, NO_ROUTE)
            return
        priority = self.treatment_of_key(relayed).priority
        address = self.address_with(key, Treatment(Distribution.CLOSEST, priority=priority))
        if not address.ways:
            way = Way(address, trunk.peer.number, "")
            way.end = trunk
            address.ways = [way]
        self.answer_fabric(peer, link, address, True)

    def way_answered(self, outlet: Outlet) -> None:
        """Use the link of a way, or do without it if it was refused."""
        if outlet.link.is_attached and outlet.link.remote_target is not None:
            outlet.is_open = True
        elif outlet.way is not None:
            outlet.way.is_refused = True

    # --- messages

    def ingress_phase_of(self, to: str) -> int:
        return self._treatments.of(to).ingress_phase

    def trunk_destination(self, passage: Passage, to: str) -> Address | None:
        key = passage.key if passage.to is not None else ""
        if not key:
            key = self._naming.arrival_key(to, passage.phase)
            if passage.to is not None:
                passage.key = key
        address = self.addresses.get(key)
        if address is None:
            address = self.passing_address(key)
            if address is None:
                return None
        if address.missing or address.ways:
            self._attach_for_message(address)
        return address

    def passing_address(self, key: str) -> Address | None:
        """Return an address that nobody here has a link to, if there are consumers elsewhere."""
        if not key or not (self.remote_consumers(key) or self.network.reaches(key)):
            return None
        return self._address_without_link(key)

    def _address_without_link(self, key: str) -> Address:
        """Return the address of a message that came by no link to it, made if it is new."""
        if len(self._passing) >= self._passing_limit:
            for one in list(self._passing):
                self.forget_if_idle(one)
            # Each of those that are left has messages, which are bounded by credit.
            self._passing_limit = max(PASSING_MAX, 2 * len(self._passing))
        address = self.address_with(key, self.treatment_of_key(key))
        self._passing[address] = None
        return address

    def expected_destination(self, passage: Passage, to: str) -> Address | None:
        """Return the address of a message from another router, if there may be news of it soon."""
        key = passage.key if passage.to is not None else self._naming.arrival_key(to, passage.phase)
        if not key or not self._expectations.may_come(key, self.now):
            return None
        return self._address_without_link(key)

    def is_expected(self, inlet: Inlet, address: Address) -> bool:
        """Whether a message from another router waits for news of its address."""
        trunk = inlet.trunk
        return trunk is not None and trunk.is_up and self._expectations.wait_for(address, self.now)

    def _attach_for_message(self, address: Address) -> None:
        if address.missing:
            self.refresh(address, True)
            return
        for way in address.ways:
            if way.end is None and way.outlet is None:
                self.attach_ways(address)
                return
