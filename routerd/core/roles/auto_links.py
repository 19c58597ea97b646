"""Auto-links: links that the router attaches to containers by itself, one on each connection to the container.

A link that the container refuses or ends is attached again, later and later while that fails. All links share a
session. A link whose attach had no answer when the container ended the session may be the cause. It gets a separate
session from then on. A link that is removed takes no new messages, and is detached when those under way are settled.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from routerd.core.directory.addresses import FALLBACK_PHASE
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import LinkRole
from routerd.core.roles.containers import AUTO_LINK, ContainerUse
from routerd.core.roles.leaving import QUIET_S
from routerd.core.settings import AutoLinkSettings, LinkDirection
from routerd.wire import ConnectionState, Error, FrameTooLarge, Source, StateError, Symbol, Target

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.delivery.intake import Intake
    from routerd.core.directory.directory import Directory
    from routerd.core.links.address import Address
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.clients import Clients
    from routerd.core.roles.containers import Containers
    from routerd.core.roles.ends import Ends
    from routerd.wire.delivery import Delivery
    from routerd.wire.session import Session

INACTIVE, ATTACHING, FAILED, ACTIVE, QUIESCING = ("inactive", "attaching", "failed", "active", "quiescing")
_BY_MERIT = (ACTIVE, ATTACHING, FAILED, QUIESCING)
"""The states of an auto-link. Its state over several connections is the first of these."""

RETRY_S = 2.0
"""The delay before a failed link is attached again. It doubles with each further failure."""
RETRY_MAX_S = 60.0
RETRY_SPREAD = 0.25
"""The greatest random extension of such a delay, as a share of it, so that links do not all come at once."""
ANSWER_S = 60.0
"""The time for a container's answer to an attach."""
QUIESCE_S = 10.0
"""The time for messages under way on a removed link to settle."""
UNANSWERED_FIRST = 64
"""The limit of unanswered attaches before the container has said how many links it takes."""
UNANSWERED_MAX = 1000
"""The limit of unanswered attaches on a connection."""

_LINK_DETACH = Symbol("link-detach")
_MODIFIED = "amqp:modified:list"
_OPENED = ConnectionState.OPENED
_REFUSED = "the container refuses the link"
_NO_ADDRESS = "the container answers without an address"
_NO_ANSWER = f"the container has not answered for {ANSWER_S:.0f} s"
_NO_SESSION = "the container takes no more sessions or links"
_NO_ROOM = "the attach does not fit the frames that the container takes"


@dataclass(frozen=True, slots=True)
class AutoLinkState:
    """The state of an auto-link."""

    status: str
    link: int | None
    last_error: str | None


class ContainerLink:
    """An auto-link on one connection."""

    def __init__(self, use: "AutoLinkUse", peer: "Peer") -> None:
        self.use = use
        self.peer = peer
        self.state = ATTACHING
        # The inlet or outlet, from the attach to the end of the link.
        self.end: Any = None
        self.is_answered = False
        # Whether it has, or shall have, a separate session.
        self.is_alone = False
        # The time of the next step: the answer is late, the link is attached again, or it is detached.
        self.due = 0.0
        # The delay after the next failure.
        self.delay = RETRY_S
        self.last_error: str | None = None


class AutoLinkUse(ContainerUse):
    """One auto-link, with its links by connection."""

    def __init__(self, settings: AutoLinkSettings, address: "Address", auto_links: "AutoLinks") -> None:
        ContainerUse.__init__(self, AUTO_LINK, settings.name, settings.container_id, settings.connection)
        self.settings = settings
        self.address = address
        self.links: dict[Peer, ContainerLink] = {}
        self._auto_links = auto_links

    def activated(self, peer: "Peer") -> None:
        """Attach a link."""
        self._auto_links.begin(self, peer)

    def deactivated(self, peer: "Peer") -> None:
        """Detach it, if the connection is still there."""
        self._auto_links.finish(self, peer)

    def state(self) -> AutoLinkState:
        """Return its state over all connections."""
        links = list(self.links.values())
        states = [link.state for link in links]
        status = ([one for one in _BY_MERIT if one in states] or [INACTIVE])[0]
        numbers = [link.end.number for link in links if link.end is not None]
        errors = [link.last_error for link in links if link.last_error is not None]
        return AutoLinkState(status, numbers[-1] if numbers else None, errors[-1] if errors else None)


class ContainerConnection:
    """The data that auto-links share on a connection."""

    def __init__(self) -> None:
        self.session: Session | None = None
        # Links to attach once others have been answered.
        self.waiting: deque[ContainerLink] = deque()
        self.unanswered = 0


class AutoLinks:
    """The auto-links of a worker, by their names."""

    inlet_role: LinkRole
    outlet_role: LinkRole
    """Set once by the builder of the parts."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        directory: "Directory",
        attaching: "Attaching",
        clients: "Clients",
        containers: "Containers",
        chance: Callable[[], float],
    ) -> None:
        """`chance` returns a random number from 0 to 1."""
        self._clock = clock
        self._observer = observer
        self._directory = directory
        self._attaching = attaching
        self._clients = clients
        self._containers = containers
        self._chance = chance
        self.uses: dict[str, AutoLinkUse] = {}
        self._connections: dict[Peer, ContainerConnection] = {}
        self._by_end: dict[Any, ContainerLink] = {}
        # The links to check each second, in the order in which they came.
        self._unanswered: dict[ContainerLink, None] = {}
        self._failed: dict[ContainerLink, None] = {}
        self._quiescing: dict[ContainerLink, None] = {}

    # --- what is configured

    def add(self, settings: AutoLinkSettings) -> None:
        """Attach a link to a container whenever it is connected; another auto-link of the name is replaced."""
        self.remove(settings.name)
        directory = self._directory
        is_fallback = settings.is_fallback and settings.direction is LinkDirection.OUT
        key = directory.space.key(settings.address, FALLBACK_PHASE if is_fallback else settings.phase)
        address = directory.address_with(key, directory.treatments.of_container(settings.address))
        address.uses += 1
        use = self.uses[settings.name] = AutoLinkUse(settings, address, self)
        self._containers.add(use)

    def remove(self, name: str) -> None:
        """Remove an auto-link; an unknown name is ignored."""
        use = self.uses.pop(name, None)
        if use is not None:
            self._containers.remove(use)
            use.address.uses -= 1
            self._directory.forget_if_idle(use.address)

    # --- connections

    def begin(self, use: AutoLinkUse, peer: "Peer") -> None:
        """Attach an auto-link's link to a container."""
        link = use.links[peer] = ContainerLink(use, peer)
        self._attach_soon(link)

    def finish(self, use: AutoLinkUse, peer: "Peer") -> None:
        """End the link of an auto-link."""
        link = use.links.pop(peer)
        self._failed.pop(link, None)
        if peer.connection.state is not _OPENED:
            # The link is over already.
            self._connections.pop(peer, None)
        elif link.end is not None:
            self._quiesce(link)

    def each_second(self, now: float) -> None:
        """Attach failed links again, and detach settled ones."""
        for link in list(self._unanswered):
            if link.due > now:
                break
            self._give_up(link, _REFUSED if link.end.link.is_attached else _NO_ANSWER)
        for link in list(self._failed):
            if link.due <= now:
                del self._failed[link]
                self._attach_soon(link)
        for link in list(self._quiescing):
            if isinstance(link.end, Inlet) and link.due - QUIESCE_S + QUIET_S <= now:
                # Some containers never answer.
                link.end.is_quiet = True
            if link.due <= now or _is_settled(link.end):
                self._detach(link)

    # --- attaches

    def _attach_soon(self, link: ContainerLink) -> None:
        if self._attaching.is_draining:
            return
        link.state = ATTACHING
        connection = self._connections.get(link.peer)
        if connection is None:
            connection = self._connections[link.peer] = ContainerConnection()
        connection.waiting.append(link)
        self._go_on(link.peer)

    def _go_on(self, peer: "Peer") -> None:
        """Attach links of a connection, as many as may be unanswered."""
        connection = self._connections.get(peer)
        if connection is None or peer.connection.state is not _OPENED or self._attaching.is_draining:
            return
        while connection.waiting and connection.unanswered < _room(connection):
            link = connection.waiting.popleft()
            if link.use.links.get(peer) is link and link.state == ATTACHING:
                self._attach(connection, link)

    def _attach(self, connection: ContainerConnection, link: ContainerLink) -> None:
        peer, settings = link.peer, link.use.settings
        text = settings.external_address or settings.address
        is_in = settings.direction is LinkDirection.IN
        source: Source = Source(address=text, expiry_policy=_LINK_DETACH) if is_in else Source()
        target: Target = Target() if is_in else Target(address=text, expiry_policy=_LINK_DETACH)
        try:
            wire = self._attached(connection, link, is_in, source, target)
        except (StateError, FrameTooLarge) as error:
            self._fail(link, _NO_ROOM if isinstance(error, FrameTooLarge) else _NO_SESSION)
            return
        if link.end is not None:
            # The container has not answered its detach.
            self._by_end.pop(link.end, None)
        number = self._attaching.take_number()
        if is_in:
            inlet = Inlet(number, peer, wire, link.use.address)
            inlet.role = self.inlet_role
            inlet.diverts = not link.use.settings.is_fallback
            peer.inlets[inlet] = None
            link.end = wire.context = inlet
        else:
            outlet = Outlet(number, peer, wire, link.use.address)
            outlet.role = self.outlet_role
            peer.outlets[outlet] = None
            link.end = wire.context = outlet
        self._by_end[link.end] = link
        link.is_answered = False
        link.due = self._clock.now + ANSWER_S
        self._unanswered[link] = None
        connection.unanswered += 1

    def _attached(
        self, connection: ContainerConnection, link: ContainerLink, is_in: bool, source: Source, target: Target
    ) -> Any:
        """Attach and return a link of the engine; raises StateError, FrameTooLarge."""
        session = self._session(connection, link)
        name = self._attaching.link_name()
        wire: Any = session.receiver(name) if is_in else session.sender(name)
        try:
            wire.attach(source=source, target=target)
        except StateError:
            # The session has as many links as the container takes on one session.
            session = connection.session = _begun(link.peer)
            wire = session.receiver(name) if is_in else session.sender(name)
            wire.attach(source=source, target=target)
        if is_in:
            wire.is_lenient = True
        return wire

    def _session(self, connection: ContainerConnection, link: ContainerLink) -> "Session":
        if link.is_alone:
            try:
                return _begun(link.peer)
            except StateError:
                # There is no session left for this link alone.
                link.is_alone = False
        if connection.session is None or not connection.session.is_open:
            connection.session = _begun(link.peer)
        return connection.session

    def answered(self, end: Any) -> None:
        """Use a link that the container has answered, or attach it again later."""
        link = self._by_end.get(end)
        if link is None:
            return
        wire = end.link
        terminus = wire.remote_target if wire.is_sender else wire.remote_source
        if terminus is None and wire.is_attached and link.state != QUIESCING:
            # A detach with the reason comes next.
            return
        self._note_answer(link)
        if wire.is_attached and link.state == QUIESCING:
            self._detach(link)
        elif wire.is_attached:
            if not getattr(terminus, "address", None):
                self._give_up(link, _NO_ADDRESS)
            else:
                self._use(link)
        self._go_on(link.peer)

    def _note_answer(self, link: ContainerLink) -> None:
        if not link.is_answered:
            link.is_answered = True
            self._unanswered.pop(link, None)
            connection = self._connections.get(link.peer)
            if connection is not None:
                connection.unanswered -= 1

    def _use(self, link: ContainerLink) -> None:
        link.state = ACTIVE
        link.last_error = None
        link.delay = RETRY_S
        if link.use.settings.direction is LinkDirection.IN:
            self._use_inlet(link.end)
        else:
            outlet: Outlet = link.end
            outlet.is_open = True
            self._clients.consumer_came(outlet)
            self._clients.serve_consumer(outlet)

    def _use_inlet(self, inlet: Inlet) -> None:
        source: Any = inlet.link.remote_source
        inlet.takes_modified = not source.outcomes or _MODIFIED in source.outcomes
        assert inlet.address is not None
        inlet.is_open = True
        self._clients.serve_producer(inlet, inlet.address.key[2:])

    # --- ends

    def ended(self, end: Any, error: Error | None) -> bool:
        """Attach a link again later, as it is over; return whether it was in use until now."""
        link = self._by_end.pop(end, None)
        if link is None:
            return False
        was_used = link.state == ACTIVE
        was_answered = link.is_answered
        self._note_answer(link)
        self._quiescing.pop(link, None)
        link.end = None
        if link.is_alone:
            end.link.session.end_unused()
        if link.peer.connection.state is not _OPENED:
            return was_used
        reason = _reason(error) or (None if was_answered else _REFUSED)
        if link.state == FAILED:
            link.last_error = reason or link.last_error
        elif link.use.links.get(link.peer) is link:
            link.is_alone = link.is_alone or (end.link.session.is_over and not was_answered)
            self._fail(link, reason)
        self._go_on(link.peer)
        return was_used

    def _give_up(self, link: ContainerLink, reason: str) -> None:
        """Give up a link as it is; later answers of the container are still read."""
        self._fail(link, reason)
        self._detach(link)

    def _fail(self, link: ContainerLink, reason: str | None) -> None:
        link.state = FAILED
        link.last_error = reason
        link.due = self._clock.now + link.delay * (1.0 + RETRY_SPREAD * self._chance())
        link.delay = min(2 * link.delay, RETRY_MAX_S)
        self._failed[link] = None
        self._observer.auto_link_failed(link.use, reason or "")

    def _quiesce(self, link: ContainerLink) -> None:
        """Stop new messages of a link, and detach it when those under way are settled."""
        was_used = link.state == ACTIVE
        link.state = QUIESCING
        link.due = self._clock.now + QUIESCE_S
        if was_used and link.use.settings.direction is LinkDirection.IN:
            inlet: Inlet = link.end
            inlet.is_quiet = inlet.link.credit == 0
            inlet.withdraw()
            inlet.is_open = False
            if not inlet.is_quiet:
                # The answer comes behind all messages that were sent on the earlier credit.
                inlet.link.flow(echo=True)
        elif was_used:
            outlet: Outlet = link.end
            outlet.address.remove(outlet)
            self._clients.consumer_left(outlet)
        if was_used and _is_settled(link.end):
            self._detach(link)
        elif link.is_answered:
            self._quiescing[link] = None

    def look_whether_settled(self, end: Any) -> None:
        """Detach a removed link if nothing is under way on it any more."""
        link = self._by_end.get(end)
        if link in self._quiescing and _is_settled(end):
            self._detach(link)

    def _detach(self, link: ContainerLink) -> None:
        self._quiescing.pop(link, None)
        self._note_answer(link)
        wire = link.end.link
        if wire.session.is_open and not wire.is_over:
            try:
                wire.detach()
            except StateError:
                # The detach is under way already.
                return


class AutoLinkInletRole(LinkRole):
    """The role of a link for messages from a container."""

    def __init__(
        self, intake: "Intake", credit: "Credit", ends: "Ends", clients: "Clients", auto_links: AutoLinks
    ) -> None:
        self._intake = intake
        self._credit = credit
        self._ends = ends
        self._clients = clients
        self._auto_links = auto_links

    def transfer(self, end: Inlet, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Take a message."""
        self._intake.from_client(end, delivery, data, start, stop)

    def flow(self, end: Inlet) -> None:
        """Note the credit that the container has given back."""
        self._credit.of_producer(end)
        self._auto_links.look_whether_settled(end)

    def answered(self, end: Inlet) -> None:
        """Use the link, or give it up."""
        self._auto_links.answered(end)

    def ended(self, end: Inlet, error: Error | None) -> None:
        """Forget the link, which is attached again."""
        inlet: Inlet = end
        self._ends.begin_inlet(inlet)
        self._auto_links.ended(inlet, error)
        self._clients.producer_left(inlet)
        self._ends.finish_inlet(inlet, error)


class AutoLinkOutletRole(LinkRole):
    """The role of a link for messages to a container."""

    def __init__(self, credit: "Credit", ends: "Ends", clients: "Clients", auto_links: AutoLinks) -> None:
        self._credit = credit
        self._ends = ends
        self._clients = clients
        self._auto_links = auto_links

    def flow(self, end: Outlet) -> None:
        """Use the container's credit."""
        self._credit.of_consumer(end)

    def answered(self, end: Outlet) -> None:
        """Use the link, or give it up."""
        self._auto_links.answered(end)

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Forget the link, which is attached again."""
        outlet: Outlet = end
        was_open = self._ends.begin_outlet(outlet)
        if self._auto_links.ended(outlet, error):
            self._clients.consumer_left(outlet)
        self._ends.finish_outlet(outlet, was_open, error)


def _room(connection: ContainerConnection) -> int:
    """Return how many attaches may be unanswered."""
    session = connection.session
    is_known = session is not None and session.remote_channel >= 0
    return UNANSWERED_MAX if is_known else UNANSWERED_FIRST


def _begun(peer: "Peer") -> "Session":
    session: Session = peer.connection.session()
    session.begin()
    return session


def _is_settled(end: Any) -> bool:
    """Whether nothing is under way on a link."""
    if end is None:
        return True
    if end.link.unsettled_count:
        return False
    if end.link.is_sender:
        return end.link.current is None
    return bool(end.is_quiet) and not end.waiting and end.current is None


def _reason(error: Error | None) -> str | None:
    """Return the container's reason for the end of a link."""
    return None if error is None else error.description or str(error.condition)
