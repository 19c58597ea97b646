"""The routes of addresses over the network, as one worker sees them.

`apply_network` brings all routers, the route to each, and their addresses from the routing engine. The routes of each
address with producers here follow from this. A route uses a trunk of this worker, or a link to the sibling that has the
trunk. That sibling relays messages unchanged.
"""

from typing import TYPE_CHECKING

from routerd.core.directory.link_routes import is_link_route
from routerd.core.directory.path_rules import UNSETTLED_S
from routerd.core.directory.treatment import Treatment
from routerd.core.links.address_route import AddressRoute
from routerd.core.settings import Distribution
from routerd.wire import Error

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.copies import Copies
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.link_routes import LinkRoutes
    from routerd.core.directory.network import NetworkNews
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer
    from routerd.core.links.trunk import Trunk
    from routerd.core.recording.journal import Journal
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.demand import Demand
    from routerd.core.roles.fabric import Fabric
    from routerd.wire.link import Link

RELAY = "@"
"""Prefix of the target of links whose messages a sibling relays over its trunk."""
NO_ROUTE = Error(condition="qd:no-route-to-dest", description="no route to the destination node")


class AddressRoutes:
    """Keeps the routes of addresses, and the links to siblings that relay."""

    def __init__(
        self,
        clock: "Clock",
        directory: "Directory",
        rules: "PathRules",
        journal: "Journal",
        copies: "Copies",
        queues: "Queues",
        attaching: "Attaching",
        demand: "Demand",
        fabric: "Fabric",
        link_routes: "LinkRoutes",
        worker: int,
        workers: int,
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._rules = rules
        self._journal = journal
        self._copies = copies
        self._queues = queues
        self._attaching = attaching
        self._demand = demand
        self._fabric = fabric
        self._link_routes = link_routes
        self._worker = worker
        self._workers = workers
        self._is_unsettled = False

    # --- the network

    def apply_network(self, news: "NetworkNews") -> None:
        """Apply news of the routing engine."""
        directory, network = self._directory, self._directory.network
        if news.version <= network.version and not news.is_full:
            return
        before = network.routes, network.link_state
        touched = network.apply(news)
        for key in touched:
            if is_link_route(key):
                self._link_routes.touched(key)
        directory.expectations.network_changed(before[0], network.routes, self._clock.now)
        if news.routes is not None or news.through is not None:
            self._rules.changed_at = self._clock.now
            self._is_unsettled = True
        if self._journal.recorder is not None:
            self._journal.recorder.events.network_changed(*before, network, self._clock.now)
        # The radius does not count here: it has the hops of our paths, and other paths of the same cost may have more.
        self._rules.hops_max = len(network.routes) + 1
        keys = dict.fromkeys(directory.addresses) if news.is_full or news.routes is not None else touched
        if news.through is not None:
            # Messages that wait for a route in the tree of their ingress router may have one now, or none any more.
            keys.update((key, None) for key, address in directory.addresses.items() if address.parked_from_trunks)
        for key in keys:
            address = directory.addresses.get(key)
            if address is not None and not key.startswith(RELAY):
                self._reconsider(address)

    def _reconsider(self, address: "Address") -> None:
        had_routes = bool(address.routes)
        self.find(address)
        if address.routes and self._directory.has_senders(address):
            self.attach(address)
        if had_routes and not address.routes:
            self._demand.went(address)
        elif address.routes and not had_routes:
            self._demand.came(address)
        else:
            self._queues.serve(address)
        for route in address.routes:
            self._copies.serve_route(route)
        self._directory.tracking.changed(address)
        self._directory.forget_if_idle(address)

    def find(self, address: "Address") -> None:
        """Update the routes of an address from the network."""
        for route in self._directory.find_routes(address):
            self._copies.route_lost(route)
            self._directory.retire(route)

    def each_second(self, now: float) -> None:
        """Release messages that waited in vain for news or another route."""
        directory = self._directory
        if self._is_unsettled and now - self._rules.changed_at > UNSETTLED_S:
            # These have only a detour left, and nothing else checks them again.
            self._is_unsettled = False
            for address in [one for one in directory.addresses.values() if one.parked_from_trunks]:
                self._queues.serve(address)
                directory.forget_if_idle(address)
        for address in directory.expectations.overdue(now):
            self._expect_no_more(address)

    def no_news_of(self, address: "Address") -> None:
        """Release messages for whose address there is no consumer that is news here."""
        if self._directory.expectations.answered(address):
            self._expect_no_more(address)

    def _expect_no_more(self, address: "Address") -> None:
        if not address.has_outlet(False):
            self._queues.release_parked(address)
        self._queues.serve(address)
        self._directory.forget_if_idle(address)

    # --- links to siblings that relay

    def attach(self, address: "Address") -> None:
        """Attach links to the siblings that have the trunks of an address's routes."""
        for route in address.routes:
            if route.outlet is not None or route.end is not None or route.is_refused:
                continue
            if (route.trunk - 1) % self._workers != self._worker:
                neighbour = self._directory.neighbours.get((route.trunk - 1) % self._workers)
                if neighbour is not None:
                    route.outlet = self._fabric.outlet_to(neighbour, address, f"{RELAY}{route.trunk}:{address.key}")
                    if route.outlet is not None:
                        route.outlet.route = route

    def attach_all(self) -> None:
        """Attach the links for routes over a sibling that is connected again."""
        for address in list(self._directory.addresses.values()):
            if address.routes and self._directory.has_senders(address):
                self.attach(address)

    def answered(self, outlet: "Outlet") -> None:
        """Use the link of a route, or drop it if it was refused."""
        if outlet.link.is_attached and outlet.link.remote_target is not None:
            outlet.is_open = True
        elif outlet.route is not None:
            outlet.route.is_refused = True

    def relay_attached(self, peer: "Peer", link: "Link", key: str) -> None:
        """Answer a sibling's link for messages to one of our trunks."""
        number, _, relayed = key[len(RELAY) :].partition(":")
        trunk = self._directory.trunks.get(int(number)) if number.isdecimal() else None
        if trunk is None:
            self._attaching.refuse(link, NO_ROUTE)
            return
        priority = self._directory.treatment_of_key(relayed).priority
        address = self._directory.address_with(key, Treatment(Distribution.CLOSEST, priority=priority))
        if not address.routes:
            route = AddressRoute(address, trunk.peer.number, "")
            route.end = trunk
            address.routes = [route]
        self._fabric.answer(peer, link, address, True)

    def trunk_lost(self, trunk: "Trunk") -> None:
        """Stop using a trunk, for messages of siblings and for ours."""
        mark = f"{RELAY}{trunk.peer.number}:"
        for address in list(self._directory.addresses.values()):
            if address.key.startswith(mark):
                for route in address.routes:
                    self._copies.route_lost(route)
                address.routes = []
                self._demand.went(address)
            else:
                for route in address.routes:
                    if route.end is trunk:
                        route.end = None

    def end_turn(self) -> None:
        """Detach links to siblings that are no longer needed, once all their deliveries are settled."""
        retiring = self._directory.retiring
        for outlet in list(retiring):
            if outlet.link.unsettled_count == 0 and outlet.link.current is None:
                del retiring[outlet]
                self._fabric.give_up(outlet)
