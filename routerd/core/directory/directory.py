"""The addresses of a worker, and the known consumers of each."""

from typing import TYPE_CHECKING

from routerd.core.directory.address_tracking import AddressTracking
from routerd.core.directory.addresses import FALLBACK, PRIMARY, UPLINK, AddressSpace
from routerd.core.directory.expectations import Expectations
from routerd.core.directory.naming import Naming
from routerd.core.directory.network import Network
from routerd.core.directory.treatment import Treatment, Treatments
from routerd.core.links.address import Address
from routerd.core.links.address_route import AddressRoute
from routerd.core.settings import Distribution, RouterMode, RouterSettings

if TYPE_CHECKING:
    from routerd.core.directory.neighbour import Neighbour
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.sibling_streams import Streams
    from routerd.core.links.trunk import Trunk

PASSING_MAX = 10_000
"""Limit of the addresses without links here, before unused ones are forgotten.

The limit is exceeded only while messages wait at each of them.
"""


class Directory:
    """Creates and forgets addresses. It knows siblings, trunks and the network, but sends no messages."""

    def __init__(self, settings: RouterSettings) -> None:
        self.is_edge = settings.mode is RouterMode.EDGE
        self.addresses: dict[str, Address] = {}
        self.neighbours: dict[int, Neighbour] = {}
        # Trunks by the number of their connection; in an edge router, the uplink.
        self.trunks: dict[int, Trunk] = {}
        self.network = Network()
        self.treatments = Treatments(settings)
        self.space = AddressSpace(settings.id, is_edge=self.is_edge)
        self.naming = Naming(self.space, self.treatments)
        self.expectations = Expectations(self.neighbours)
        self.tracking = AddressTracking(self.addresses)
        # The interior router that gets all messages for unknown addresses of an edge router; empty without an uplink.
        self.interior = ""
        # Addresses with local consumers to report to the address table.
        self.changed: dict[str, None] = {}
        # Addresses to check at the end of the turn: their siblings' shares of credit, or their producers in step.
        self.uneven: dict[Address, None] = {}
        # Addresses that got messages and need a link to a consumer; it is attached at the end of the turn.
        self.wanted: dict[Address, None] = {}
        # Links to siblings that are no longer needed; deliveries on them may still be settled.
        self.retiring: dict[Outlet, None] = {}
        # Links to siblings that need another one for large messages, or have too many of them.
        self.uneven_streams: dict[Streams, None] = {}
        self._passing: dict[Address, None] = {}
        self._passing_limit = PASSING_MAX

    # --- addresses

    def address_with(self, key: str, treatment: Treatment) -> Address:
        """Return the address of a key; create it if it is new."""
        address = self.addresses.get(key)
        if address is None:
            if self.network.hint_of(key) is not None:
                treatment = self.treatment_of_key(key)
            priority = -1 if treatment.priority is None else treatment.priority
            address = Address(key, treatment.distribution, priority)
            if key in self.treatments.exchanges:
                address.spread(Distribution.MULTICAST)
            address.uneven = self.uneven
            address.resends = treatment.resends and not address.is_multicast
            self.addresses[key] = address
            self.count_remote(address)
            self.find_routes(address)
            if treatment.has_fallback and key[:2] == PRIMARY:
                fallback = self.address_with(FALLBACK + key[2:], treatment)
                fallback.uses += 1
                fallback.primary = address
                address.fallback = fallback
        return address

    def address_without_link(self, key: str) -> Address:
        """Return the address of a message that names it in `to`; create it if it is new."""
        if len(self._passing) >= self._passing_limit:
            for one in list(self._passing):
                self.forget_if_idle(one)
            # Each of the remaining addresses has messages, which credit bounds.
            self._passing_limit = max(PASSING_MAX, 2 * len(self._passing))
        address = self.address_with(key, self.treatment_of_key(key))
        self._passing[address] = None
        return address

    def passing_address(self, key: str) -> Address | None:
        """Return an address without links here, if it has consumers elsewhere."""
        if not key or not (self._is_known_elsewhere(key) or self._has_known_fallback(key)):
            return None
        return self.address_without_link(key)

    def _is_known_elsewhere(self, key: str) -> bool:
        return self.remote_consumers(key) > 0 or self.network.reaches(key)

    def _has_known_fallback(self, key: str) -> bool:
        """Whether an address has a fallback destination, and that has consumers."""
        if key[:2] != PRIMARY:
            return False
        fallback = FALLBACK + key[2:]
        is_known = fallback in self.addresses or self._is_known_elsewhere(fallback)
        return is_known and bool(self.treatment_of_key(key).has_fallback)

    def fallback(self) -> Address | None:
        """Return the fallback destination of an edge router."""
        if not self.interior:
            return None
        return self.addresses.get(UPLINK) or self.passing_address(UPLINK)

    def forget_if_idle(self, address: Address) -> None:
        """Forget an address that nobody uses, and give up the links by which siblings relay its messages."""
        if address.is_idle and self.addresses.get(address.key) is address:
            del self.addresses[address.key]
        if self.addresses.get(address.key) is not address:
            self._passing.pop(address, None)
            fallback = address.fallback
            if fallback is not None:
                address.fallback = fallback.primary = None
                fallback.uses -= 1
                self.forget_if_idle(fallback)
            for route in address.routes:
                self.retire(route)
            if address.key not in self.addresses:
                self.tracking.forgotten(address.key)

    def treatment_of_key(self, key: str) -> Treatment:
        """Return the treatment by the configuration, or the hint of a router that has the address."""
        return self.treatments.of_key(key, self.network.hint_of(key))

    # --- who wants an address

    def want(self, address: Address) -> None:
        """Have links attached to the consumers of an address that have none yet."""
        if address.missing:
            self.wanted[address] = None
            return
        for route in address.routes:
            if route.end is None and route.outlet is None:
                self.wanted[address] = None
                return

    def count_remote(self, address: Address) -> None:
        """Count the consumers at siblings, and the siblings with consumers and no link yet."""
        address.remote_count = address.missing = 0
        for neighbour in self.neighbours.values():
            consumers = neighbour.interests.get(address.key, 0)
            if consumers and not neighbour.is_lost:
                address.remote_count += consumers
                if address.key not in neighbour.outlets:
                    address.missing += 1

    def remote_consumers(self, key: str) -> int:
        """Return the number of consumers at siblings."""
        return sum(neighbour.interests.get(key, 0) for neighbour in self.neighbours.values() if not neighbour.is_lost)

    def has_senders(self, address: Address) -> bool:
        """Whether there are producers here, or messages wait."""
        waits = bool(address.parked) or bool(address.parked_from_trunks)
        primary = address.primary
        return (
            waits
            or any(not inlet.is_fabric for inlet in address.inlets)
            or (primary is not None and any(inlet.diverts for inlet in primary.inlets))
        )

    # --- routes to other routers

    def find_routes(self, address: Address) -> list[AddressRoute]:
        """Update the routes of an address from the network; return the routes that were removed."""
        paths = self.network.routes
        if not paths and not address.routes:
            return []
        reached: dict[int, list[tuple[int, str]]] = {}
        for router in self._routers_with(address):
            path = paths.get(router)
            if path is not None:
                reached.setdefault(path.trunk, []).append((path.cost, router))
        known = {route.trunk: route for route in address.routes}
        routes = []
        for trunk, routers in reached.items():
            route = known.pop(trunk, None)
            if route is None:
                route = AddressRoute(address, trunk, paths[routers[0][1]].next_hop)
            route.routers = tuple(router for _, router in routers)
            route.cost = min(routers)[0]
            route.nearest = sum(cost == route.cost for cost, _ in routers)
            route.end = self.trunks.get(trunk)
            routes.append(route)
        address.routes = routes
        return list(known.values())

    def _routers_with(self, address: Address) -> tuple[str, ...]:
        """Return the other routers that can receive messages of an address."""
        if self.is_edge and address.local_count and address.key in self.treatments.exchanges:
            # The interior router would send back what an exchange here has.
            return ()
        routers = self.network.routers_of(address.key)
        if not routers and self.interior and address.is_multicast and address.local_count:
            # Other routers may have consumers that the interior router has not reported yet.
            return (self.interior,) if address.key[:1] == "M" else ()
        return routers

    def retire(self, route: AddressRoute) -> None:
        """Stop using the link of a route. Its deliveries may still be settled, so it is detached later."""
        outlet, route.outlet = route.outlet, None
        if outlet is not None:
            outlet.route = None
            self.retiring[outlet] = None
            self.retire_streams(outlet)

    def retire_streams(self, outlet: "Outlet") -> None:
        """Stop using the links for large messages beside a link to a sibling; they are detached later, too."""
        for stream in [] if outlet.streams is None else outlet.streams.take_all():
            self.retiring[stream] = None
