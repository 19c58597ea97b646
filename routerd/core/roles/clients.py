"""The links of clients, edge routers and endpoints inside the router, which are for addresses."""

from typing import TYPE_CHECKING, Any, Literal, cast

from routerd.core.annotations.router_annotations import section
from routerd.core.directory.naming import FALLBACK_LINK, FOR_ROUTERS, is_for_topics, phase_of
from routerd.core.directory.treatment import Treatment
from routerd.core.links.address import Address
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import ConnectionRole, LinkRole
from routerd.core.policy.message_guard import own_request_guard, read_only_guard
from routerd.core.roles.claims import Claimant
from routerd.core.roles.siblings import AwaitedNews, HeldAttach
from routerd.core.roles.uplinks import DOWNLINK
from routerd.core.settings import Distribution
from routerd.wire import Attach, Coordinator, Error, LinkState, Source, Target
from routerd.wire.receiver import Receiver
from routerd.wire.sender import Sender

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import AnnotationReader
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.delivery.destinations import Destinations
    from routerd.core.delivery.endings import Endings
    from routerd.core.delivery.intake import Intake
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.recording.journal import Journal
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.claims import Claims
    from routerd.core.roles.demand import Demand
    from routerd.core.roles.edges import Edges
    from routerd.core.roles.ends import Ends
    from routerd.core.roles.refusals import PolicyClaim
    from routerd.core.roles.siblings import Siblings
    from routerd.core.roles.uplinks import Uplinks
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link

ADDRESS_MAX = 4096
"""Characters of the longest address: an attach between siblings contains it three times, and is one frame."""

_UNAVAILABLE = Error(condition="amqp:not-found", description="Node not found")
_NO_SOURCE = Error(condition="amqp:invalid-field", description="a receiver needs a source with an address, or dynamic")
_NO_TARGET = Error(condition="amqp:invalid-field", description="a sender needs a target")
_TOO_LONG = Error(
    condition="amqp:invalid-field", description=f"an address has {ADDRESS_MAX} characters at most"
)
_NOT_TEXT = Error(condition="amqp:invalid-field", description="an address has to be a string")
_NO_COORDINATOR = Error(
    condition="amqp:precondition-failed",
    description="The router can't coordinate transactions by itself, a linkRoute to a coordinator must be configured"
    " to use transactions.",
)
_MANAGEMENT = ("M0$management", "L$management")
"""The keys of the management addresses of this router."""
_DOWN = Treatment(Distribution.BALANCED)
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_RESENDS = "qd.resend-released"
_SECOND = 1


class Clients(Claimant):
    """The last claimant, which takes all links: it adds consumers and producers to the addresses of their termini."""

    consumer_role: LinkRole
    leaving_role: LinkRole
    producer_role: LinkRole
    edge_producer_role: LinkRole
    """Set once by the builder of the parts."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        directory: "Directory",
        journal: "Journal",
        reader: "AnnotationReader",
        destinations: "Destinations",
        queues: "Queues",
        credit: "Credit",
        endings: "Endings",
        attaching: "Attaching",
        demand: "Demand",
        siblings: "Siblings",
        uplinks: "Uplinks",
        edges: "Edges",
        policy: "PolicyClaim",
        is_alone: bool,
    ) -> None:
        self._clock = clock
        self._observer = observer
        self._directory = directory
        self._journal = journal
        self._reader = reader
        self._destinations = destinations
        self._queues = queues
        self._credit = credit
        self._endings = endings
        self._attaching = attaching
        self._demand = demand
        self._siblings = siblings
        self._uplinks = uplinks
        self._edges = edges
        self._policy = policy
        # Whether no other worker needs to know of a consumer.
        self.is_alone = is_alone

    def claim(self, peer: "Peer", link: "Link", performative: Attach) -> "bool | Error":
        """Take a consumer or a producer."""
        if link.is_sender:
            return self._consumer_attached(peer, cast(Sender, link), performative)
        return self._producer_attached(peer, cast(Receiver, link), performative)

    # --- consumers

    def _consumer_attached(self, peer: "Peer", link: Sender, performative: Attach) -> "bool | Error":
        """Add a consumer, and answer it as soon as all workers know of it."""
        source = performative.source
        if not isinstance(source, Source):
            return _NO_SOURCE
        if source.dynamic:
            source.address = self._directory.space.reply_address(self._attaching.token())
        found = self._address_of(peer, source, False)
        if not isinstance(found, Address):
            return found or _NO_SOURCE
        address = found
        source.filter = None  # none is applied (3.5.3)
        outlet = Outlet(self._attaching.take_number(), peer, link, address)
        outlet.role = self.consumer_role
        link.context = outlet
        outlet.source = source
        peer.outlets[outlet] = None
        if peer.is_fair:
            address.take_turns()
        if peer.is_edge:
            self._edges.let_pass_large(outlet)
        self.consumer_came(outlet)
        if self.is_alone:
            self.answer(outlet)
        else:
            self._siblings.await_workers(outlet)
        return True

    def consumer_came(self, outlet: Outlet) -> None:
        """Have messages of its address routed here for a consumer."""
        address = outlet.address
        address.add(outlet)
        self._consumers_changed(address)
        if address.local_count == 1:
            outlet.link.session.connection.work += len(address.inlets) >> 3
            self._demand.came(address)
            if self._journal.recorder is not None and address.remote_count == 0:
                self._journal.recorder.events.address_added(address.key, self._clock.now)

    def confirm(self, sequence: int) -> None:
        """Answer the attaches that waited until every worker knows the changes up to this one."""
        for one in self._siblings.confirmed(sequence):
            if isinstance(one, Outlet):
                self.answer(one)
            elif isinstance(one, AwaitedNews):
                one.then()
            elif one.link.state is _ATTACH_RCVD and one.link.session.is_open:
                answer = self._take_producer(one.peer, one.link, one.performative)
                if isinstance(answer, Error):
                    self._attaching.refuse(one.link, answer)

    def answer(self, outlet: Outlet) -> None:
        """Answer a consumer that all workers know, unless it has left."""
        link = outlet.link
        if link.state is not _ATTACH_RCVD or link.context is not outlet or not link.session.is_open:
            return
        if not self._attaching.complete(link, outlet.source, link.remote_target):
            return
        outlet.source = None
        outlet.is_open = link.is_attached
        self.serve_consumer(outlet)

    def serve_consumer(self, outlet: Outlet) -> None:
        """Send to an attached consumer, as far as it has credit."""
        outlet.address.note_credit()
        outlet.note_flow(self._clock.now)
        self._observer.link_attached(outlet)
        if self._journal.recorder is not None:
            self._journal.recorder.events.consumer_attached(outlet, self._clock.now)
        # The consumer may have sent credit, or a drain, before the answer.
        self._queues.serve_outlet(outlet)
        self._credit.answer_drain(outlet)

    def consumer_left(self, outlet: Outlet) -> None:
        """Forget a consumer whose link is over."""
        address = outlet.address
        self._edges.forget_side(outlet)
        self._consumers_changed(address)
        if address.local_count == 0:
            outlet.link.session.connection.work += len(address.inlets) >> 3
        self._demand.went(address)
        if self._journal.recorder is not None and address.local_count == address.remote_count == 0:
            self._journal.recorder.events.address_removed(address.key, self._clock.now)

    def _consumers_changed(self, address: Address) -> None:
        self._directory.changed[address.key] = None
        self._uplinks.consumers_changed(address)
        self._directory.tracking.changed(address)

    def retire(self, outlet: Outlet) -> None:
        """Send no more messages to a consumer; those under way may settle before its link is over."""
        self._endings.release_waiting(outlet)
        outlet.role = self.leaving_role
        outlet.address.remove(outlet)
        self.consumer_left(outlet)

    # --- producers

    def _producer_attached(self, peer: "Peer", link: Receiver, performative: Attach) -> "bool | Error":
        """Answer a producer, and grant credit if its address has consumers.

        Clients count on answers in the order of their attaches. One that gets credit may ask at once, and names the
        dynamic source of a receiver that it has attached before.
        """
        if peer.unconfirmed and peer.is_external:
            self._siblings.await_those_before(HeldAttach(peer, link, performative))
            return True
        return self._take_producer(peer, link, performative)

    def _take_producer(self, peer: "Peer", link: Receiver, performative: Attach) -> "Literal[True] | Error":
        target = performative.target
        if isinstance(target, Coordinator):
            return _NO_COORDINATOR
        if not isinstance(target, Target):
            return _NO_TARGET
        if target.dynamic:
            target.address = f"amqp:/_$temp.{self._attaching.token()}"
        found = self._address_of(peer, target, True)
        if isinstance(found, Error):
            return found
        address = found
        if not self._attaching.complete(link, link.remote_source, target, link.rcv_settle_mode == _SECOND):
            if address is not None:
                self._directory.forget_if_idle(address)
            return True
        inlet = Inlet(self._attaching.take_number(), peer, link, address)
        inlet.role = self.producer_role
        inlet.resends = _RESENDS in target.capabilities
        finds_own = address is not None and address.key in _MANAGEMENT and peer.is_external
        # A fallback destination does not get back what it sends.
        inlet.diverts = FALLBACK_LINK not in target.capabilities
        if peer.grant is not None and self._policy.gate is not None:
            inlet.guard = self._policy.gate.guard_for(
                peer, None if address is None else target.address, finds_own
            )
        elif finds_own:
            inlet.guard = own_request_guard()
        elif (
            self._destinations.guards_requests
            and address is not None
            and self._destinations.asks_others(peer, address.key, target.address)
        ):
            inlet.guard = read_only_guard(target.address)
        if peer.is_edge and peer.trunk is not None:
            inlet.role = self.edge_producer_role
            inlet.join(peer.trunk)
            inlet.share_session()
            inlet.is_withheld = address is not None
        link.context = inlet
        peer.inlets[inlet] = None
        inlet.is_open = link.is_attached
        self.serve_producer(inlet, target.address)
        return True

    def serve_producer(self, inlet: Inlet, text: str | None) -> None:
        """Take the messages of an attached producer; `text` is its address as written."""
        peer, address = inlet.peer, inlet.address
        if address is not None:
            self._uplinks.producers_changed(address)
            self._directory.tracking.sends(peer, address)
            self._mark_entries(inlet, address, peer.tenant, text)
            address.enter(inlet)
            if address.missing or address.routes:
                self._siblings.refresh(address)
            fallback = address.fallback
            if fallback is not None and (fallback.missing or fallback.routes):
                self._siblings.refresh(fallback)
        self._observer.link_attached(inlet)
        if self._journal.recorder is not None:
            self._journal.recorder.events.producer_attached(inlet, self._clock.now)
        inlet.top_up()

    def _mark_entries(self, inlet: Inlet, address: Address, tenant: str, text: str | None) -> None:
        """Prepare the annotations for messages of a link that leave for another router."""
        phase = phase_of(address.key)
        # Other routers do not know tenants, so their addresses are written in full.
        to = address.key[2:] if tenant and address.key[:1] == "M" else text
        inlet.entry, inlet.entry_count = self._reader.entry(to, phase)
        inlet.entry_section = section(inlet.entry, inlet.entry_count)

    def producer_left(self, inlet: Inlet) -> None:
        """Forget a producer whose link is over."""
        address = inlet.address
        if address is not None:
            address.leave(inlet)
            self._uplinks.producers_changed(address)
            self._directory.forget_if_idle(address)

    # --- addresses

    def _address_of(self, peer: "Peer", terminus: Any, is_producer: bool) -> "Address | Error | None":
        """Return the address of a terminus, created if it is new; None for a terminus without address."""
        directory = self._directory
        text = terminus.address
        if text is None or text == "":
            return None
        if not isinstance(text, str):
            return _NOT_TEXT
        if type(text) is not str:
            # A symbol is a `str` too; compiled code takes the plain type only.
            text = terminus.address = str(text)
        if peer.is_edge and DOWNLINK in terminus.capabilities and not (directory.is_edge or is_producer):
            return _TOO_LONG if len(text) >= ADDRESS_MAX else directory.address_with(f"H{text}", _DOWN)
        if not peer.is_inner and is_for_topics(text):
            return FOR_ROUTERS
        treatment = directory.naming.treatment(text, peer.tenant)
        key = directory.naming.terminus_key(
            text, peer.tenant, treatment, terminus.capabilities, is_producer, peer.is_edge
        )
        if len(key) > ADDRESS_MAX:
            return _TOO_LONG
        if treatment.distribution is Distribution.UNAVAILABLE and not self._is_provided(peer, key):
            return _UNAVAILABLE
        return directory.address_with(key, treatment) if key else None

    def _is_provided(self, peer: "Peer", key: str) -> bool:
        # Addresses closed to clients may belong to endpoints inside the router, at this worker or a sibling.
        directory = self._directory
        return (
            peer.is_inner
            or key in directory.addresses
            or directory.remote_consumers(key) > 0
            or directory.network.reaches(key)
        )


class ClientRole(ConnectionRole):
    """The role of a client's connection, and of one that ends inside the router."""

    def __init__(self, claims: "Claims") -> None:
        self._claims = claims

    def attached(self, peer: "Peer", link: "Link", performative: Attach) -> None:
        """Have the link claimed or refused."""
        self._claims.attached(peer, link, performative)


class ConsumerRole(LinkRole):
    """The role of a link that takes the messages of an address."""

    def __init__(self, credit: "Credit", ends: "Ends", clients: Clients) -> None:
        self._credit = credit
        self._ends = ends
        self._clients = clients

    def flow(self, end: Outlet) -> None:
        """Use the consumer's credit."""
        self._credit.of_consumer(end)

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Forget the consumer."""
        outlet: Outlet = end
        was_open = self._ends.begin_outlet(outlet)
        self._clients.consumer_left(outlet)
        self._ends.finish_outlet(outlet, was_open, error)


class LeavingConsumerRole(LinkRole):
    """The role of a link that takes no more messages, while those under way on it are settled."""

    def __init__(self, ends: "Ends") -> None:
        self._ends = ends

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Forget the link."""
        outlet: Outlet = end
        self._ends.finish_outlet(outlet, self._ends.begin_outlet(outlet), error)


class ProducerRole(LinkRole):
    """The role of a link that brings messages, for one address or with an address in each message."""

    def __init__(self, intake: "Intake", credit: "Credit", ends: "Ends", clients: Clients) -> None:
        self._intake = intake
        self._credit = credit
        self._ends = ends
        self._clients = clients

    def transfer(self, end: Inlet, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Take a message."""
        self._intake.from_client(end, delivery, data, start, stop)

    def flow(self, end: Inlet) -> None:
        """Note the credit that the producer gave back."""
        self._credit.of_producer(end)

    def ended(self, end: Inlet, error: Error | None) -> None:
        """Forget the producer."""
        inlet: Inlet = end
        self._ends.begin_inlet(inlet)
        self._clients.producer_left(inlet)
        self._ends.finish_inlet(inlet, error)


class EdgeProducerRole(LinkRole):
    """The role of a link by which an edge router sends, for one address or by annotations."""

    def __init__(
        self, directory: "Directory", intake: "Intake", credit: "Credit", ends: "Ends", clients: Clients
    ) -> None:
        self._directory = directory
        self._intake = intake
        self._credit = credit
        self._ends = ends
        self._clients = clients

    def transfer(self, end: Inlet, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Take a message."""
        self._intake.from_router(end, delivery, data, start, stop)

    def flow(self, end: Inlet) -> None:
        """Note the credit that came back."""
        self._credit.of_producer(end)

    def ended(self, end: Inlet, error: Error | None) -> None:
        """Forget the link."""
        inlet: Inlet = end
        self._ends.begin_inlet(inlet)
        peer, address = inlet.peer, inlet.address
        if address is not None and not _has_other_link(inlet, address):
            self._directory.tracking.sends_no_more(peer, address)
        self._clients.producer_left(inlet)
        self._ends.finish_inlet(inlet, error)


def _has_other_link(inlet: Inlet, address: Address) -> bool:
    """Whether the peer of a link has another link to the address."""
    return any(one.peer is inlet.peer and one is not inlet for one in address.inlets)
