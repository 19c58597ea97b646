"""The two ends of links that a mesh routes: clients that attach them, and containers that answer."""

from collections import deque
from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from routerd.core import ROUTE_CONTAINER
from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Data,
    Error,
    LinkState,
    Message,
    Modified,
    Rejected,
    SessionState,
    Source,
    Target,
    is_outcome,
)
from tests.sim.client import Client
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.mesh_links import RoutedSimulation

PREFIX = "routed/"
CONTAINER = "broker"
LOST = frozenset({"qd:routed-link-lost", "amqp:connection:forced", "amqp:session:errant-link", None})
REFUSED = frozenset({"qd:no-route-to-dest", "amqp:not-found"})
WITHDRAWN = Error(condition="x:withdrawn", description="the other end has had enough")
OUTCOMES = (ACCEPTED, ACCEPTED, ACCEPTED, RELEASED, Rejected(), Modified(undeliverable_here=True))
SETTLED = "settled"
LEFT = Modified(delivery_failed=True)
"""What routers say of messages whose receiver has left or is lost."""


class RoutedLink:
    """One link that a client attaches, with an address that no other has; what both its ends have seen."""

    def __init__(self, number: int, is_in: bool) -> None:
        self.number = number
        self.is_in = is_in
        """Whether the client sends."""
        self.near: Any = None
        self.far: Any = None
        """The container's end, once it has been attached there."""
        self.is_seen = False
        """Whether a container has attached it, though that may be over."""
        self.is_answered = False
        self.is_given_up = False
        """Whether a router has said what became of a message: the client that receives is lost."""
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.decided: list[Any] = []
        """What the receiver has said of each message; None while it has not."""
        self.told: dict[int, Any] = {}
        """What the sender has heard, by the place of the message; of settled ones nothing is heard."""
        self._rest = b""
        """What is still to be sent of the last message."""

    def __repr__(self) -> str:
        return f"routed link {self.number} {'in' if self.is_in else 'out'}"

    @property
    def address(self) -> str:
        """What is attached to."""
        return f"{PREFIX}{self.number}"

    @property
    def sender(self) -> Any:
        """The end that sends."""
        return self.near if self.is_in else self.far

    @property
    def receiver(self) -> Any:
        """The end that receives."""
        return self.far if self.is_in else self.near

    @property
    def is_whole(self) -> bool:
        """Whether both ends are attached, as far as they know."""
        return all(_is_attached(end) for end in (self.near, self.far))

    @property
    def is_torn(self) -> bool:
        """Whether one end is attached and the other is not, an attach has no answer, or the receiver was given up."""
        return not (self.is_whole or self.is_over) or (self.is_given_up and not self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether it has no end any more."""
        return self.near is None and self.far is None

    @property
    def is_done(self) -> bool:
        """Whether all messages have come, and their sender knows what became of them; or the link is over."""
        is_all = len(self.sent) == len(self.received) == len(self.told) and None not in self.decided
        return is_all or not self.is_whole

    def account(self) -> str:
        """How far its messages are."""
        return f"{self}: {len(self.sent)} sent, {len(self.received)} received, {len(self.told)} told"

    def send(self, size: int = 0, *, settled: bool = False, is_whole: bool = True) -> None:
        """Send a message if there is credit, or the rest of the one that was begun."""
        link = self.sender
        if not _is_attached(link):
            return
        if link.current is not None:
            self.end_message()
        elif link.credit > 0:
            place = len(self.sent)
            octets = bytes(Message(body=Data([b"%d/%d" % (self.number, place), b"." * size])).encode())
            self.sent.append(octets)
            if settled:
                self.told[place] = SETTLED
            delivery = link.begin(settled=settled)
            delivery.context = (self, place)
            stop = len(octets) if is_whole else len(octets) // 2
            self._rest = octets[stop:]
            link.write(delivery, octets, 0, stop, not is_whole)

    def end_message(self) -> None:
        """Send the rest of the message that was begun."""
        link = self.sender
        if _is_attached(link) and link.current is not None:
            link.write(link.current, self._rest, 0, len(self._rest), False)

    def abort(self) -> None:
        """Give up a message in the middle."""
        link = self.sender
        if _is_attached(link) and link.current is not None:
            link.current.context = None
            link.abort(link.current)
            self.sent.pop()
            self.told.pop(len(self.sent), None)

    def want_more(self) -> None:
        """Have a receiver without credit grant some."""
        if _is_attached(self.receiver) and self.receiver.credit == 0:
            self.receiver.grant(100)

    def take(self, delivery: Any, octets: bytes) -> None:
        """A message has come: those before it have, too, and it has not come before."""
        place = len(self.received)
        if place >= len(self.sent) or self.sent[place] != octets:
            raise Broken(f"{self}: message {place} is {octets!r}")
        if delivery.remote_settled is not (self.told.get(place) is SETTLED):
            raise Broken(f"{self}: message {place} is not settled as it was sent")
        self.received.append(octets)
        self.decided.append(SETTLED if delivery.remote_settled else None)
        if not delivery.remote_settled:
            delivery.context = (self, place)

    def decide(self, delivery: Any, outcome: Any) -> None:
        """Say what becomes of a message."""
        if delivery.settled or delivery.remote_settled or delivery.state is not None or not delivery.link.is_attached:
            return
        self.decided[delivery.context[1]] = outcome
        delivery.decide(outcome)

    def hear(self, place: int, outcome: Any) -> None:
        """The sender hears of a message what its receiver has said, or that a client has left."""
        if outcome == LEFT and not self.is_in:
            self.is_given_up = True
            return
        if place in self.told and self.told[place] != outcome:
            raise Broken(f"{self}: message {place} is {self.told[place]!r}, and now {outcome!r}")
        if place >= len(self.decided) or self.decided[place] != outcome:
            raise Broken(f"{self}: message {place} is said to be {outcome!r}, which its receiver never said")
        self.told[place] = outcome


def _is_attached(end: Any) -> bool:
    return end is not None and bool(end.is_attached)


class RoutedEnd(Client):
    """What a client and a container have in common."""

    def __init__(self, simulation: "RoutedSimulation", name: str) -> None:
        super().__init__(simulation, name)
        self.mesh = simulation
        self.links: dict[Any, RoutedLink] = {}
        """The links that are attached or being attached, as far as it knows."""
        self.undecided: deque[Any] = deque()
        self._octets: dict[Any, bytes] = {}

    def lost(self, end: Any) -> None:
        """All links end with the connection."""
        for one in self.links.values():
            self.over(one)
        self.links = {}
        self.undecided.clear()
        self._octets.clear()
        super().lost(end)

    def over(self, routed: RoutedLink) -> None:
        """Note that a link has ended here."""
        raise NotImplementedError

    def decide_some(self, count: int) -> None:
        """Say what becomes of the oldest messages."""
        for _ in range(min(count, len(self.undecided))):
            delivery = self.undecided.popleft()
            delivery.context[0].decide(delivery, self.world.choice(OUTCOMES))
        self.turn_ends()

    def detach(self, link: Any, error: Error | None = None) -> None:
        """End a link."""
        if link.is_attached:
            link.detach(closed=self.world.chance(0.7), error=error)
            self.turn_ends()

    # --- what the engine tells

    def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
        """Note that a link is over; reasons are those of the other end, or that there is none any more."""
        for delivery in list((link.suspended or {}).values()):
            link.session.untrack(delivery)
        link.suspended = None
        routed = self.links.pop(link, None)
        if routed is None:
            return
        known = LOST | {str(WITHDRAWN.condition)} | (REFUSED if not routed.is_answered else frozenset())
        condition = None if error is None else str(error.condition)
        if condition not in known:
            raise Broken(f"{routed} is detached at {self.name} with {error!r}")
        if not routed.is_answered:
            self.mesh.count("refused")
        elif not self.mesh.may_end:
            raise Broken(f"{routed} ends at {self.name} with {error!r}, and nothing went wrong")
        self.over(routed)

    def on_session_ended(self, session: Any, error: Any) -> None:
        """End the links of a session, as the engine has."""
        super().on_session_ended(session, error)
        for link in [one for one in self.links if one.session is session]:
            self.over(self.links.pop(link))

    def on_link_flow(self, link: Any) -> None:
        """Give back what is drained, perhaps after a last message; other credit waits."""
        if link.is_sender and link.drain and link.credit > 0 and link.is_attached:
            if self.world.chance(0.5):
                self.links[link].send()
            link.drained()
            self.turn_ends()

    def on_transfer(self, receiver: Any, delivery: Any, data: bytes | bytearray, start: int, end: int) -> None:
        """Take a part of a message."""
        octets = self._octets.pop(delivery, b"") + bytes(data[start:end])
        if delivery.is_partial:
            self._octets[delivery] = octets
            return
        routed = self.links.get(receiver)
        if routed is None or delivery.is_aborted:
            return
        routed.take(delivery, octets)
        self.mesh.count("received")
        if not delivery.remote_settled:
            self.undecided.append(delivery)

    def on_disposition(self, delivery: Any) -> None:
        """Hear of a delivery."""
        if delivery.is_incoming or delivery.context is None:
            return
        routed, place = delivery.context
        if is_outcome(delivery.remote_state):
            routed.hear(place, delivery.remote_state)
            self.mesh.count("told")
        if not delivery.settled:
            delivery.settle()


class LinkClient(RoutedEnd):
    """Attaches links to addresses of containers."""

    def attach(self, is_in: bool) -> RoutedLink:
        """Attach a link."""
        routed = self.mesh.new_link(is_in)
        session = self.begin() if self.world.chance(0.2) else self.world.choice(self.shared)
        # A name is taken again once it is free here; towards the container it may not be free yet.
        # A link that the router attaches once more to close it (2.6.6) has its name for that long.
        names = session.connection.links
        name = next(one for one in map(str, count()) if names.find(one, is_in) is None)
        link = session.sender(name) if is_in else session.receiver(name)
        source = Source() if is_in else Source(address=routed.address)
        link.attach(source=source, target=Target(address=routed.address) if is_in else Target())
        routed.near = link
        self.links[link] = routed
        if not is_in and self.world.chance(0.5):
            link.grant(10)
        self.turn_ends()
        return routed

    def over(self, routed: RoutedLink) -> None:
        """Nobody expects anything of it any more."""
        routed.near = None

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """An answer without a terminus announces a refusal."""
        if performative.source is None and performative.target is None and link not in self.links:
            # A router that has detached a link which the client has closed meanwhile closes it, too (2.6.6).
            return
        routed = self.links[link]
        answer = performative.target if routed.is_in else performative.source
        if answer is None:
            return
        if not routed.is_seen:
            raise Broken(f"{routed} is answered, and no container has seen it")
        routed.is_answered = True
        self.mesh.count("attached")


class LinkContainer(RoutedEnd):
    """Answers what the routers attach."""

    options: Mapping[str, Any] = MappingProxyType({"role": ROUTE_CONTAINER, "place": "brokers"})

    @property
    def container_id(self) -> str:
        """All of them are connections of one container."""
        return CONTAINER

    def over(self, routed: RoutedLink) -> None:
        """Nobody expects anything of it any more."""
        routed.far = None

    def on_session_begun(self, session: Any, performative: Any) -> None:
        """Answer the session of a routed link."""
        if session.state is SessionState.BEGIN_RCVD:
            session.begin()
            self.turn_ends()

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Answer a link, or refuse it."""
        if link.state is not LinkState.ATTACH_RCVD:
            return
        terminus = performative.source if link.is_sender else performative.target
        if terminus is None:
            # It is attached once more, to be closed (2.6.6).
            return
        routed = self.mesh.routed[str(terminus.address)]
        if routed.far is not None:
            raise Broken(f"{routed} is attached at a second container")
        if routed.is_in is link.is_sender:
            raise Broken(f"{routed} has the wrong direction at {self.name}")
        if self.mesh.refuses():
            link.refuse(Error(condition="amqp:not-found"))
            self.turn_ends()
            return
        link.attach(source=link.remote_source, target=link.remote_target)
        routed.far = link
        routed.is_seen = True
        self.links[link] = routed
        if not link.is_sender:
            link.grant(self.world.choice((1, 5, 50)))
        self.turn_ends()
