"""What the workers of a router do for each other: consumers at siblings, and the fabric that reaches them.

Consumers are told to the address table as `Changes`, and an attach is answered once `confirm` says that every worker
knows of it. What siblings' consumers want comes in by `apply`; a link of the fabric carries the messages of one
address to one sibling, so credit and settlement reach from end to end.
"""

from collections import deque
from typing import Any, cast

from routerd.core.address import Address
from routerd.core.errors import FullDeltaMissing
from routerd.core.forwarder import Forwarder
from routerd.core.inlet import Inlet
from routerd.core.membership import Changes, Delta, Interest, Sibling
from routerd.core.naming import phase_of
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.passage import section
from routerd.core.peer import Peer
from routerd.core.settings import RouterMode, RouterSettings
from routerd.core.treatment import Treatment, Treatments
from routerd.wire import Attach, ConnectionState, Error, FrameTooLarge, LinkState, Open, Source, StateError, Target
from routerd.wire.link import Link
from routerd.wire.receiver import Receiver
from routerd.wire.session import Session

RELAY = "@"
"""What the target of a link begins with whose messages a sibling is to send on by one of its trunks."""

_NO_ADDRESS = Error(condition="amqp:invalid-field", description="a link between workers is for an address")
_ATTACHED = LinkState.ATTACHED
_OPENED = ConnectionState.OPENED


class Neighbour:
    """Another worker of this router, and the fabric connection to it."""

    def __init__(self, sibling: Sibling) -> None:
        self.sibling = sibling
        self.peer: Peer | None = None
        self.is_lost = False
        self.interests: dict[str, int] = {}
        self.outlets: dict[str, Outlet] = {}


class Siblings(Forwarder):
    """The addresses of a worker, and what is known of them elsewhere."""

    def __init__(self, settings: RouterSettings, observer: Observer, worker: int, workers: int) -> None:
        Forwarder.__init__(self, observer, settings.id, settings.mode is RouterMode.EDGE)
        self.worker = worker
        # The numbers of connections and links differ by this, so that no two workers have the same.
        self.workers = workers
        self.addresses: dict[str, Address] = {}
        self.neighbours: dict[int, Neighbour] = {}
        self.version = (0, 0)
        self._treatments = Treatments(settings)
        self._last_link = worker + 1 - workers
        self._sequence = 0
        self._changed: dict[str, None] = {}
        self._uneven: dict[Address, None] = {}
        self._awaiting: deque[tuple[int, Outlet]] = deque()

    def answer(self, outlet: Outlet) -> None:
        """Answer the attach of a consumer that every worker knows of; `Router` does."""

    def destinations_changed(self, address: Address) -> None:
        """Note that who can receive from an address may have changed; `Edges` tells edge routers."""

    def find_ways(self, address: Address) -> None:
        """Bring the ways of an address in line with what is known of the network; `Trunks` does."""

    def attach_ways(self, address: Address) -> None:
        """Attach links to the siblings that have the trunks of an address's ways; `Trunks` does."""

    def relay_attached(self, peer: Peer, link: Link, key: str) -> None:
        """Answer a sibling's link for messages that one of our trunks is to take; `Trunks` does."""

    # --- addresses

    def address_with(self, key: str, treatment: Treatment) -> Address:
        address = self.addresses.get(key)
        if address is None:
            if self.network.hint_of(key) is not None:
                treatment = self.treatment_of_key(key)
            priority = -1 if treatment.priority is None else treatment.priority
            address = Address(key, treatment.distribution, priority)
            address.uneven = self._uneven
            self.addresses[key] = address
            self.count_remote(address)
            self.find_ways(address)
        return address

    def consumers_came(self, address: Address) -> None:
        address.note_credit()
        for inlet in address.inlets:
            inlet.top_up()
        self.serve(address)

    def consumers_went(self, address: Address) -> None:
        address.note_credit()
        if address.local_count == 0:
            self.release_parked(address)
            for inlet in address.inlets:
                if not address.has_outlet(inlet.is_fabric):
                    inlet.withdraw()
            self.forget_if_idle(address)
        if address.local_count == 0 or address.is_multicast:
            # Otherwise nothing has changed for what waits for the others.
            self.serve(address)

    def forget_if_idle(self, address: Address) -> None:
        if address.is_idle and self.addresses.get(address.key) is address:
            del self.addresses[address.key]

    # --- links

    def complete(self, link: Link, source: Any, target: Any, is_second: bool = False) -> bool:
        # A producer that asked for rcv-settle-mode second may wait for a settlement that only a consumer of that mode
        # can wait for as well. To all others the router answers first, and settles with the outcome.
        mode = link.rcv_settle_mode if link.is_sender else int(is_second)
        # A peer's attach may fit our frames, and the answer to it not the peer's.
        size = 0 if link.is_sender else link.session.connection.context.max_message_size
        try:
            link.attach(source=source, target=target, rcv_settle_mode=mode, max_message_size=size)
        except FrameTooLarge as error:
            self.refuse(link, Error(condition="amqp:frame-size-too-small", description=str(error)))
            return False
        return True

    def refuse(self, link: Link, error: Error) -> None:
        link.refuse(error)
        self.observer.link_refused(link, error)

    def take_link_number(self) -> int:
        self._last_link += self.workers
        return self._last_link

    # --- what the table says

    def end_turn(self) -> None:
        """Give siblings their shares of the credit that local consumers have now; before the shell flushes."""
        if self._uneven:
            uneven = list(self._uneven)
            self._uneven.clear()
            for address in uneven:
                address.share_credit()
                if address.in_step:
                    address.keep_step()

    def take_changes(self) -> Changes | None:
        """Return what the address table has to be told, for the shell to pass on at the end of its turn."""
        if not self._changed:
            return None
        self._sequence += 1
        changed, self._changed = self._changed, {}
        return Changes(self._sequence, tuple(Interest(key, self._local_consumers(key)) for key in changed))

    def all_interests(self) -> Changes:
        """Return everything that the table has to know of this worker, when it joins."""
        interests = tuple(
            Interest(key, address.local_count) for key, address in self.addresses.items() if address.local_count
        )
        return Changes(self._sequence, interests)

    def confirm(self, sequence: int) -> None:
        """Answer the attaches that waited for every worker to know of them."""
        awaiting = self._awaiting
        while awaiting and awaiting[0][0] <= sequence:
            self.answer(awaiting.popleft()[1])

    def apply(self, delta: Delta) -> None:
        """Take what the table says of the siblings and of what they want; raises FullDeltaMissing."""
        if delta.version <= self.version:
            return
        if not delta.is_full and delta.version[0] != self.version[0]:
            raise FullDeltaMissing(self.version, delta.version)
        touched: dict[str, None] = {}
        if delta.is_full:
            for neighbour in self.neighbours.values():
                touched.update(dict.fromkeys(neighbour.interests))
                neighbour.interests = {}
        if delta.siblings is not None:
            self._members(delta.siblings, touched)
        for worker, interest in delta.interests:
            neighbour_or_none = self.neighbours.get(worker)
            if neighbour_or_none is None:
                continue
            touched[interest.key] = None
            if interest.consumers:
                neighbour_or_none.interests[interest.key] = interest.consumers
            else:
                neighbour_or_none.interests.pop(interest.key, None)
        self.version = delta.version
        for key in touched:
            address = self.addresses.get(key)
            if address is not None:
                self.refresh(address)

    def _members(self, siblings: tuple[Sibling, ...], touched: dict[str, None]) -> None:
        members = {sibling.worker: sibling for sibling in siblings if sibling.worker != self.worker}
        gone = [one for worker, one in self.neighbours.items() if members.get(worker) != one.sibling]
        for neighbour in gone:
            touched.update(dict.fromkeys(neighbour.interests))
            del self.neighbours[neighbour.sibling.worker]
        for worker, sibling in members.items():
            if worker not in self.neighbours:
                self.neighbours[worker] = Neighbour(sibling)
        for neighbour in gone:
            if neighbour.peer is not None:
                # It may hang, so nothing that it still does is waited for.
                connection = neighbour.peer.connection
                if connection.state is _OPENED:
                    connection.close()
                connection.transport_closed()

    # --- the fabric

    def connect_failed(self, worker: int) -> None:
        """Note that a sibling can't be reached: messages do not wait for it."""
        neighbour = self.neighbours.get(worker)
        if neighbour is not None and neighbour.peer is None:
            neighbour.is_lost = True
            self._refresh_all(neighbour)

    def sibling_connected(self, peer: Peer, performative: Open) -> None:
        properties: Any = performative.properties or {}
        worker = properties.get("worker", -1)
        incarnation = properties.get("incarnation")
        neighbour = self.neighbours.get(worker)
        if neighbour is None or neighbour.sibling.incarnation != incarnation or neighbour.peer is not None:
            peer.connection.close(Error(condition="amqp:not-found", description="this is no worker that is known here"))
            return
        peer.sibling = worker
        neighbour.peer = peer
        neighbour.is_lost = False
        self._refresh_all(neighbour)

    def sibling_lost(self, peer: Peer) -> None:
        neighbour = self.neighbours.get(peer.sibling)
        if neighbour is not None and neighbour.peer is peer:
            neighbour.peer = None
            neighbour.is_lost = True
            self._refresh_all(neighbour)

    def _refresh_all(self, neighbour: Neighbour) -> None:
        for key in list(neighbour.interests):
            address = self.addresses.get(key)
            if address is not None:
                self.refresh(address)

    def refresh(self, address: Address, has_message: bool = False) -> None:
        """Bring the links of an address to the siblings in line with what they want, where there is who would send."""
        is_wanted = has_message or self.has_senders(address)
        before = address.remote_count
        for neighbour in self.neighbours.values():
            consumers = neighbour.interests.get(address.key, 0)
            outlet = neighbour.outlets.get(address.key)
            if outlet is not None:
                outlet.weight = max(1, consumers)
                if consumers == 0:
                    self.give_up_fabric(outlet)
            elif consumers and is_wanted:
                self._attach_fabric(neighbour, address, consumers)
        self.count_remote(address)
        if address.ways and is_wanted:
            self.attach_ways(address)
        if address.remote_count == 0:
            self.consumers_went(address)
        elif before == 0:
            self.consumers_came(address)
        else:
            self.serve(address)
        self.destinations_changed(address)
        if not has_message:
            self.forget_if_idle(address)

    def has_senders(self, address: Address) -> bool:
        """Whether anybody here sends to an address, or something waits."""
        waits = bool(address.parked) or bool(address.parked_from_trunks)
        return waits or any(not inlet.is_fabric for inlet in address.inlets)

    def give_up_fabric(self, outlet: Outlet) -> None:
        # One whose attach is not answered is given up when it is.
        if outlet.link.is_attached:
            outlet.is_open = False
            outlet.address.remove(outlet)
            outlet.link.detach()

    def _attach_fabric(self, neighbour: Neighbour, address: Address, consumers: int) -> None:
        outlet = self.fabric_outlet(neighbour, address, address.key)
        if outlet is None:
            return
        outlet.weight = consumers
        neighbour.outlets[address.key] = outlet
        address.add(outlet)

    def fabric_outlet(self, neighbour: Neighbour, address: Address, target: str) -> Outlet | None:
        """Attach a link to a sibling, if it is connected."""
        peer = neighbour.peer
        if peer is None or peer.connection.state is not _OPENED:
            return None
        session = self._fabric_session(peer)
        number = self.take_link_number()
        link = session.sender(f"{target} {number}")
        outlet = Outlet(number, peer, link, address)
        link.context = outlet
        peer.outlets[outlet] = None
        link.attach(source=Source(address=target), target=Target(address=target))
        return outlet

    def _fabric_session(self, peer: Peer) -> Session:
        # One for each link: a window that one address fills stops no other. Once all channels are used, they share one.
        try:
            session = peer.connection.session()
        except StateError:
            return next(session for session in peer.connection.sessions() if session.is_open)
        session.begin()
        return session

    def fabric_answered(self, link: Link) -> None:
        if link.state is _ATTACHED and link.remote_target is not None:
            outlet: Outlet = link.context
            outlet.is_open = True
            neighbour = self.neighbours.get(outlet.peer.sibling)
            key = outlet.address.key
            # A link to have messages relayed may be one that nobody needs any more.
            if neighbour is None or key not in neighbour.interests or neighbour.outlets.get(key) is not outlet:
                self.give_up_fabric(outlet)

    def fabric_attached(self, peer: Peer, link: Link, performative: Attach) -> None:
        target = performative.target
        key = target.address if isinstance(target, Target) else None
        if link.is_sender or not isinstance(key, str):
            self.refuse(link, _NO_ADDRESS)
            return
        if key.startswith(RELAY):
            self.relay_attached(peer, link, key)
            return
        # The last consumer may have left meanwhile. The link then waits without credit: its sibling gives it up once
        # it knows, or the next consumer uses it.
        address = self.address_with(key, self.treatment_of_key(key))
        self.answer_fabric(peer, link, address, False)

    def answer_fabric(self, peer: Peer, link: Link, address: Address, is_relay: bool) -> None:
        """Answer a sibling's link, and let it send."""
        inlet = Inlet(self.take_link_number(), peer, cast(Receiver, link), address, is_relay)
        if address.key[:1] == "M":
            # For what leaves beside the link of an edge router.
            inlet.entry, inlet.entry_count = self.passages.entry(address.key[2:], phase_of(address.key))
            inlet.entry_section = section(inlet.entry, inlet.entry_count)
        link.context = inlet
        peer.inlets[inlet] = None
        link.attach(source=link.remote_source, target=link.remote_target)
        inlet.is_open = link.is_attached
        address.enter(inlet)
        inlet.top_up()

    def treatment_of_key(self, key: str) -> Treatment:
        """Return how the messages of an address are treated; another router that has it may have a say in that."""
        return self._treatments.of_key(key)

    def count_remote(self, address: Address) -> None:
        address.remote_count = address.missing = 0
        for neighbour in self.neighbours.values():
            consumers = neighbour.interests.get(address.key, 0)
            if consumers and not neighbour.is_lost:
                address.remote_count += consumers
                if address.key not in neighbour.outlets:
                    address.missing += 1

    def remote_consumers(self, key: str) -> int:
        return sum(neighbour.interests.get(key, 0) for neighbour in self.neighbours.values() if not neighbour.is_lost)

    def _local_consumers(self, key: str) -> int:
        address = self.addresses.get(key)
        return 0 if address is None else address.local_count
