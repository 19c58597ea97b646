"""Siblings: the consumers at other workers of the router, and the fabric that reaches them.

Changes of consumers go to the address table as `Changes`. An attach is answered once `confirm` says that every worker
knows the change. `apply` brings the interests of siblings. A link of the fabric carries the messages of one address to
one sibling, so credit and settlement work from end to end.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from routerd.core.directory.link_routes import is_link_route
from routerd.core.directory.membership import Changes, Delta, Interest, Sibling
from routerd.core.directory.neighbour import Neighbour
from routerd.core.errors import FullDeltaMissing
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import ConnectionRole, LinkRole
from routerd.core.roles.address_routes import RELAY
from routerd.core.roles.link_routing import ROUTED
from routerd.wire import Attach, ConnectionState, Error, LinkState, Open, Receiver, Target

if TYPE_CHECKING:
    from routerd.core.delivery.credit import Credit
    from routerd.core.delivery.intake import Intake
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.link_routes import LinkRoutes
    from routerd.core.links.address import Address
    from routerd.core.links.peer import Peer
    from routerd.core.roles.address_routes import AddressRoutes
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.demand import Demand
    from routerd.core.roles.ends import Ends
    from routerd.core.roles.fabric import Fabric
    from routerd.core.roles.link_routing import LinkRouting
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link

_NO_ADDRESS = Error(condition="amqp:invalid-field", description="a link between workers is for an address")
_ATTACHED = LinkState.ATTACHED
_OPENED = ConnectionState.OPENED


@dataclass(frozen=True, slots=True)
class HeldAttach:
    """The attach of a producer that is answered behind those that came before it on its connection."""

    peer: "Peer"
    link: "Receiver"
    performative: Attach


@dataclass(frozen=True, slots=True)
class AwaitedNews:
    """What is to be done once this worker knows what the address table has known before."""

    then: Callable[[], None]


class Siblings:
    """The other workers, and the links to their consumers."""

    def __init__(
        self,
        directory: "Directory",
        queues: "Queues",
        attaching: "Attaching",
        demand: "Demand",
        fabric: "Fabric",
        routes: "AddressRoutes",
        link_routes: "LinkRoutes",
        routing: "LinkRouting",
        worker: int,
    ) -> None:
        self._directory = directory
        self._queues = queues
        self._attaching = attaching
        self._demand = demand
        self._fabric = fabric
        self._routes = routes
        self._link_routes = link_routes
        self._routing = routing
        self._worker = worker
        self.version = (0, 0)
        self._sequence = 0
        self._awaiting: deque[tuple[int, Outlet | HeldAttach | AwaitedNews]] = deque()

    # --- the address table

    def take_changes(self) -> Changes | None:
        """Return the changes for the address table; the shell sends them at the end of its turn."""
        directory = self._directory
        if not directory.changed:
            return None
        self._sequence += 1
        changed, directory.changed = directory.changed, {}
        return Changes(self._sequence, tuple(Interest(key, self._local_consumers(key)) for key in changed))

    def all_interests(self) -> Changes:
        """Return all interests of this worker, for a join."""
        counts = {key: address.local_count for key, address in self._directory.addresses.items()}
        counts.update((key, len(one.containers)) for key, one in self._link_routes.patterns.items())
        interests = tuple(Interest(key, count) for key, count in counts.items() if count)
        return Changes(self._sequence, interests)

    def _local_consumers(self, key: str) -> int:
        if is_link_route(key):
            return self._link_routes.containers_of(key)
        address = self._directory.addresses.get(key)
        return 0 if address is None else address.local_count

    def await_workers(self, outlet: Outlet) -> None:
        """Answer a consumer once the table has confirmed the next changes."""
        outlet.peer.unconfirmed += 1
        self._awaiting.append((self._sequence + 1, outlet))

    def await_those_before(self, held: "HeldAttach") -> None:
        """Have a producer be answered behind the consumers of its connection that came before it."""
        self._awaiting.append((self._awaiting[-1][0], held))

    def await_news(self, key: str, then: Callable[[], None]) -> None:
        """Do something once this worker knows what the table knows by now of the siblings' interest in a key."""
        # The table confirms changes once every worker knows all before them. This one tells what it has told already.
        self._directory.changed[key] = None
        self._awaiting.append((self._sequence + 1, AwaitedNews(then)))

    def ask_of(self, address: "Address") -> None:
        """Have messages of an address wait until this worker knows what the table knows of it."""
        routes: Any = self._routes
        self.await_news(address.key, lambda: routes.no_news_of(address))

    def confirmed(self, sequence: int) -> "list[Outlet | HeldAttach | AwaitedNews]":
        """Return the links that can be answered now, since every worker knows the changes of the consumers."""
        known = []
        awaiting = self._awaiting
        while awaiting and awaiting[0][0] <= sequence:
            one = awaiting.popleft()[1]
            if isinstance(one, Outlet):
                one.peer.unconfirmed -= 1
            known.append(one)
        return known

    def apply(self, delta: Delta) -> None:
        """Apply the table's delta of siblings and their interests; raises FullDeltaMissing."""
        if delta.version <= self.version:
            return
        if not delta.is_full and delta.version[0] != self.version[0]:
            raise FullDeltaMissing(self.version, delta.version)
        neighbours = self._directory.neighbours
        touched: dict[str, None] = {}
        if delta.is_full:
            for neighbour in neighbours.values():
                touched.update(dict.fromkeys(neighbour.interests))
                neighbour.interests = {}
        if delta.siblings is not None:
            self._members(delta.siblings, touched)
        for worker, interest in delta.interests:
            neighbour_or_none = neighbours.get(worker)
            if neighbour_or_none is None:
                continue
            touched[interest.key] = None
            if interest.consumers:
                neighbour_or_none.interests[interest.key] = interest.consumers
            else:
                neighbour_or_none.interests.pop(interest.key, None)
        self.version = delta.version
        for key in touched:
            address = self._directory.addresses.get(key)
            if address is not None:
                self.refresh(address)
            elif is_link_route(key):
                self._link_routes.touched(key)

    def _members(self, siblings: tuple[Sibling, ...], touched: dict[str, None]) -> None:
        neighbours = self._directory.neighbours
        members = {sibling.worker: sibling for sibling in siblings if sibling.worker != self._worker}
        gone = [one for worker, one in neighbours.items() if members.get(worker) != one.sibling]
        for neighbour in gone:
            touched.update(dict.fromkeys(neighbour.interests))
            del neighbours[neighbour.sibling.worker]
        for worker, sibling in members.items():
            if worker not in neighbours:
                neighbours[worker] = Neighbour(sibling)
        for neighbour in gone:
            if neighbour.peer is not None:
                # It may hang, so its answers are not awaited.
                connection = neighbour.peer.connection
                if connection.state is _OPENED:
                    connection.close()
                connection.transport_closed()

    # --- connections

    def connect_failed(self, worker: int) -> None:
        """Note that a sibling is unreachable: messages do not wait for it."""
        neighbour = self._directory.neighbours.get(worker)
        if neighbour is not None and neighbour.peer is None:
            neighbour.is_lost = True
            self._refresh_all(neighbour)

    def connected(self, peer: "Peer", performative: Open) -> None:
        """Use a connection of the fabric if it belongs to a known sibling."""
        properties: Any = performative.properties or {}
        worker = properties.get("worker", -1)
        incarnation = properties.get("incarnation")
        neighbour = self._directory.neighbours.get(worker)
        if neighbour is None or neighbour.sibling.incarnation != incarnation or neighbour.peer is not None:
            peer.connection.close(Error(condition="amqp:not-found", description="this worker is not known here"))
        else:
            peer.sibling = worker
            neighbour.peer = peer
            neighbour.is_lost = False
            self._refresh_all(neighbour)
        self._routes.attach_all()

    def lost(self, peer: "Peer") -> None:
        """Stop using a connection of the fabric."""
        neighbour = self._directory.neighbours.get(peer.sibling)
        if neighbour is not None and neighbour.peer is peer:
            neighbour.peer = None
            neighbour.is_lost = True
            self._refresh_all(neighbour)

    def _refresh_all(self, neighbour: Neighbour) -> None:
        for key in list(neighbour.interests):
            address = self._directory.addresses.get(key)
            if address is not None:
                self.refresh(address)

    # --- the links of an address

    def refresh(self, address: "Address", has_message: bool = False) -> None:
        """Update an address's links to siblings from their interests, if it has producers here."""
        is_wanted = has_message or self._directory.has_senders(address)
        before = address.remote_count
        for neighbour in self._directory.neighbours.values():
            consumers = neighbour.interests.get(address.key, 0)
            outlet = neighbour.outlets.get(address.key)
            if outlet is not None:
                outlet.weight = max(1, consumers)
                if consumers == 0:
                    self._retire(neighbour, outlet)
            elif consumers and is_wanted:
                self._attach(neighbour, address, consumers)
        self._directory.count_remote(address)
        if address.routes and is_wanted:
            self._routes.attach(address)
        if address.remote_count == 0:
            self._demand.went(address)
        elif before == 0:
            self._demand.came(address)
        else:
            self._queues.serve(address)
        self._directory.tracking.changed(address)
        if not has_message:
            self._directory.forget_if_idle(address)

    def _retire(self, neighbour: Neighbour, outlet: Outlet) -> None:
        """Send nothing more to a sibling without consumers, where consumers that are leaving may still settle."""
        link = outlet.link
        if not link.is_attached:
            # It ends when its attach is answered, unless it is needed again by then.
            return
        # Consumers that come before the link is over need another one.
        del neighbour.outlets[outlet.address.key]
        self._directory.retire_streams(outlet)
        if outlet.waiting or link.unsettled_count == 0:
            self._fabric.give_up(outlet)
            return
        outlet.address.remove(outlet)
        self._directory.retiring[outlet] = None

    def _attach(self, neighbour: Neighbour, address: "Address", consumers: int) -> None:
        outlet = self._fabric.outlet_to(neighbour, address, address.key)
        if outlet is not None:
            outlet.weight = consumers
            neighbour.outlets[address.key] = outlet
            address.add(outlet)

    def answered(self, outlet: Outlet) -> None:
        """Use a link that a sibling has answered, if it is still needed."""
        link = outlet.link
        if link.state is _ATTACHED and link.remote_target is not None:
            outlet.is_open = True
            neighbour = self._directory.neighbours.get(outlet.peer.sibling)
            key = outlet.address.key
            # A link to a sibling that relays may be unneeded already.
            if neighbour is None or key not in neighbour.interests or neighbour.outlets.get(key) is not outlet:
                self._fabric.give_up(outlet)

    def stream_answered(self, outlet: Outlet) -> None:
        """Use a link for large messages that a sibling has answered, if it is still needed."""
        link, streams = outlet.link, None if outlet.main is None else outlet.main.streams
        if link.state is _ATTACHED and link.remote_target is not None:
            outlet.is_open = True
            if streams is None or outlet not in streams.links:
                self._fabric.give_up(outlet)

    def attached(self, peer: "Peer", link: "Link", performative: Attach) -> None:
        """Answer a sibling's link, for our consumers of an address or for a router behind one of our trunks."""
        if performative.name.startswith(ROUTED):
            error = self._routing.from_sibling(peer, link, performative)
            if isinstance(error, Error):
                self._attaching.refuse(link, error)
            return
        target = performative.target
        key = target.address if isinstance(target, Target) else None
        if link.is_sender or not isinstance(key, str):
            self._attaching.refuse(link, _NO_ADDRESS)
            return
        if key.startswith(RELAY):
            self._routes.relay_attached(peer, link, key)
            return
        # The last consumer may have left meanwhile. The link then waits without credit, until its sibling learns that
        # and gives it up, or another consumer comes.
        address = self._directory.address_with(key, self._directory.treatment_of_key(key))
        self._fabric.answer(peer, link, address, False)

    def end_turn(self) -> None:
        """Attach links for messages of this turn, and share the credit of local consumers among siblings."""
        directory = self._directory
        if directory.wanted:
            wanted, directory.wanted = directory.wanted, {}
            for address in wanted:
                if directory.addresses.get(address.key) is address:
                    if address.missing:
                        self.refresh(address, True)
                    else:
                        self._routes.attach(address)
        if directory.uneven_streams:
            self._even_streams()
        uneven = directory.uneven
        if uneven:
            due = list(uneven)
            uneven.clear()
            for address in due:
                address.share_credit()
                if address.in_step:
                    address.keep_step()

    def _even_streams(self) -> None:
        """Attach links for large messages where one is needed, and detach those that are too many."""
        directory = self._directory
        due = list(directory.uneven_streams)
        directory.uneven_streams.clear()
        for streams in due:
            if streams.is_wanted:
                streams.is_wanted = False
                self._fabric.add_stream(streams.main)
            for stream in streams.surplus():
                directory.retiring[stream] = None


class FabricRole(ConnectionRole):
    """The role of a connection between two workers."""

    def __init__(self, siblings: Siblings) -> None:
        self._siblings = siblings

    def opened(self, peer: "Peer", performative: Open) -> None:
        """Use the connection."""
        self._siblings.connected(peer, performative)

    def closed(self, peer: "Peer") -> None:
        """Stop using the connection."""
        self._siblings.lost(peer)

    def attached(self, peer: "Peer", link: "Link", performative: Attach) -> None:
        """Answer a sibling's link."""
        self._siblings.attached(peer, link, performative)


class FabricOutletRole(LinkRole):
    """The role of a link to a sibling, for its consumers of an address or for a trunk that it has."""

    def __init__(
        self,
        directory: "Directory",
        queues: "Queues",
        credit: "Credit",
        ends: "Ends",
        routes: "AddressRoutes",
        siblings: Siblings,
    ) -> None:
        self._directory = directory
        self._queues = queues
        self._credit = credit
        self._ends = ends
        self._routes = routes
        self._siblings = siblings

    def flow(self, end: Outlet) -> None:
        """Use the share of credit from the sibling."""
        self._credit.of_consumer(end)

    def answered(self, end: Outlet) -> None:
        """Use the link, or drop it."""
        outlet: Outlet = end
        if outlet.main is not None:
            self._siblings.stream_answered(outlet)
        elif outlet.route is not None:
            self._routes.answered(outlet)
        else:
            self._siblings.answered(outlet)

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Forget the link; the sibling may have consumers again by now."""
        outlet: Outlet = end
        if outlet.main is not None:
            self._stream_ended(outlet)
            return
        self._directory.retire_streams(outlet)
        was_open = self._ends.begin_outlet(outlet)
        self._directory.retiring.pop(outlet, None)
        if outlet.route is not None:
            outlet.route.outlet = None
        key = outlet.address.key
        neighbour = self._directory.neighbours.get(outlet.peer.sibling)
        if neighbour is not None and neighbour.outlets.get(key) is outlet:
            del neighbour.outlets[key]
        outlet.link.session.end_unused()
        self._siblings.refresh(outlet.address)
        self._ends.finish_outlet(outlet, was_open, error)

    def _stream_ended(self, outlet: Outlet) -> None:
        """Forget a link for large messages; those that wait need another one."""
        self._ends.begin_outlet(outlet)
        self._directory.retiring.pop(outlet, None)
        outlet.link.session.end_unused()
        if outlet.main is not None and outlet.main.streams is not None:
            outlet.main.streams.links.pop(outlet, None)
        self._queues.serve_outlet(outlet)
        self._ends.finish_outlet(outlet, False, None)


class FabricInletRole(LinkRole):
    """The role of a link from a sibling."""

    def __init__(self, directory: "Directory", intake: "Intake", credit: "Credit", ends: "Ends") -> None:
        self._directory = directory
        self._intake = intake
        self._credit = credit
        self._ends = ends

    def transfer(self, end: Inlet, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Take a message for a consumer here, or one to relay."""
        self._intake.from_client(end, delivery, data, start, stop)

    def flow(self, end: Inlet) -> None:
        """Note the credit that came back."""
        self._credit.of_producer(end)

    def ended(self, end: Inlet, error: Error | None) -> None:
        """Forget the link; others get its share of credit."""
        inlet: Inlet = end
        self._ends.begin_inlet(inlet)
        address = inlet.address
        if address is not None:
            address.leave(inlet)
            if inlet.is_fabric:
                self._credit.siblings_drained(address)
            self._directory.forget_if_idle(address)
        self._ends.finish_inlet(inlet, error)
