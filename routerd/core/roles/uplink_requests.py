"""The requests of an edge router to its interior router: is a link routed, and please route links to my containers.

All answers come on one receiver with a dynamic source. There is a sender for each service of the interior router. A
request waits here for credit. If no answer comes in time, or the uplink is lost, the asker gets None.
"""

from collections import deque
from typing import TYPE_CHECKING, Any

from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import LinkRole
from routerd.core.roles.control import ControlRole
from routerd.core.roles.uplinks import UplinkOutletRole
from routerd.wire import (
    AmqpValue,
    ConnectionState,
    Error,
    Header,
    Message,
    Properties,
    Source,
    Target,
    WireError,
)

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.links.trunk import Trunk
    from routerd.core.observer import Observer
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.ends import Ends
    from routerd.core.roles.trunks import Trunks
    from routerd.core.roles.uplinks import Uplinks
    from routerd.wire import Link, Receiver, Sender, Session


SENT_SHARE = 5
"""The share of the credit for answers that requests may use at a time. New credit is sent behind the next requests."""


class Asker:
    """Asks the interior router. This base class ignores the answers."""

    def answered(self, request: "Request", answer: Message | None) -> None:
        """Take an answer; None if there is none."""


class Request:
    """A request to the interior router."""

    def __init__(
        self, asker: Asker, subject: Any, service: str, properties: dict[str, Any], body: Any, patience_s: float
    ) -> None:
        self.asker = asker
        self.subject = subject
        self.service = service
        self.properties = properties
        self.body = body
        self.patience_s = patience_s
        self.asked_at = 0.0
        # The uplink that was asked.
        self.generation = 0


class UplinkRequests:
    """The links for requests of the active uplink, and the requests that are not answered yet."""

    outlet_role: LinkRole
    inlet_role: LinkRole
    """Set once by the builder of the parts."""

    def __init__(self, clock: "Clock", attaching: "Attaching", trunks: "Trunks") -> None:
        self._clock = clock
        self._attaching = attaching
        self._trunks = trunks
        self._trunk: Trunk | None = None
        self._session: Session | None = None
        self._replies: Receiver | None = None
        self._senders: dict[str, Sender] = {}
        """By service."""
        self._waiting: dict[str, deque[str]] = {}
        """By service, the requests that were not sent."""
        self._requests: dict[str, Request] = {}
        """By the correlation-id of the answer."""
        self._capacity = 0
        # The sent ones among them.
        self._sent: dict[str, None] = {}
        self._last = 0
        # The number of uplinks so far.
        self.generation = 0

    # --- the uplink

    def begin(self, trunk: "Trunk", session: "Session") -> None:
        """Start using an uplink."""
        self.generation += 1
        self._trunk = trunk
        self._session = session
        self._capacity = trunk.peer.capacity
        self._replies = session.receiver(self._attaching.link_name())
        self._trunks.new_inlet(trunk.peer, trunk, self._replies, self.inlet_role).is_control = True
        self._replies.attach(source=Source(dynamic=True), target=Target())

    def end(self) -> list[Request]:
        """Stop using it; return the requests without an answer."""
        self._trunk = self._session = self._replies = None
        self._senders.clear()
        self._waiting.clear()
        self._sent.clear()
        requests, self._requests = list(self._requests.values()), {}
        return requests

    def fail(self, requests: list[Request]) -> None:
        """Tell the askers that there is no answer."""
        for request in requests:
            request.asker.answered(request, None)

    @property
    def is_usable(self) -> bool:
        """Whether there is an uplink that may answer."""
        replies = self._replies
        if replies is None or replies.is_over:
            return False
        return not replies.is_attached or bool(self._reply_to())

    def _reply_to(self) -> str:
        """Return the address for the answers; empty if there is none."""
        replies = self._replies
        address = getattr(replies.remote_source, "address", None) if replies is not None else None
        return str(address) if isinstance(address, str) else ""

    def link_ended(self, link: "Link") -> None:
        """Ask no more on a link that the interior router does not want. A lost uplink is handled elsewhere."""
        if self._trunk is None or self._trunk.peer.connection.state is not ConnectionState.OPENED:
            return
        if link is self._replies:
            self._replies = None
            self.fail(self._take_all())
        else:
            services = [service for service, sender in self._senders.items() if sender is link]
            for service in services:
                self.fail([self._taken(number) for number in self._of_service(service)])
                self._waiting.pop(service, None)

    def _take_all(self) -> list[Request]:
        requests, self._requests = list(self._requests.values()), {}
        self._waiting.clear()
        self._sent.clear()
        return requests

    def _of_service(self, service: str) -> list[str]:
        return [number for number, request in self._requests.items() if request.service == service]

    # --- requests

    def ask(self, request: Request) -> bool:
        """Send a request, now or when there is credit; return whether the interior router can be asked."""
        if not self.is_usable:
            return False
        sender = self._senders.get(request.service)
        if sender is not None and sender.is_over:
            return False
        self._last += 1
        number = f"edge-{self._last:x}"
        request.asked_at = self._clock.now
        request.generation = self.generation
        self._requests[number] = request
        self._waiting.setdefault(request.service, deque()).append(number)
        self.go_on()
        return True

    def _sender(self, service: str) -> "Sender":
        sender = self._senders.get(service)
        if sender is None:
            trunk, session = self._trunk, self._session
            assert trunk is not None
            assert session is not None
            sender = self._senders[service] = session.sender(self._attaching.link_name())
            self._trunks.new_outlet(trunk.peer, trunk, sender, self.outlet_role)
            sender.attach(source=Source(), target=Target(address=service))
        return sender

    def go_on(self) -> None:
        """Send requests that wait, if there is credit and an address for the answers."""
        if self._replies is None or not self._replies.is_attached:
            return
        reply_to = self._reply_to()
        most = max(1, self._capacity // SENT_SHARE)
        if not reply_to:
            self.fail(self._take_all())
            return
        for service, waiting in list(self._waiting.items()):
            # The link is attached only when there is credit for answers: an answer without credit would be lost.
            sender = self._sender(service)
            while waiting and sender.is_attached and sender.credit > 0 and len(self._sent) < most:
                number = waiting.popleft()
                request = self._requests.get(number)
                if request is not None:
                    octets = Message(
                        header=Header(),
                        properties=Properties(reply_to=reply_to, correlation_id=number),
                        application_properties=request.properties,
                        body=AmqpValue(request.body),
                    ).encode()
                    self._sent[number] = None
                    sender.send(octets, None, True)

    def take(self, octets: bytes) -> None:
        """Take an answer."""
        try:
            answer = Message.decode(octets)
        except WireError:
            return
        number = None if answer.properties is None else answer.properties.correlation_id
        if isinstance(number, str) and number in self._requests:
            request = self._taken(str(number))
            request.asker.answered(request, answer)
            self.go_on()

    def _taken(self, number: str) -> Request:
        self._sent.pop(number, None)
        return self._requests.pop(number)

    def each_second(self, now: float) -> None:
        """Stop waiting for answers that are late."""
        late = [number for number, one in self._requests.items() if now - one.asked_at >= one.patience_s]
        self.fail([self._taken(number) for number in late])
        self.go_on()


class RequestRole(UplinkOutletRole):
    """The role of a link for requests."""

    def __init__(
        self, credit: "Credit", ends: "Ends", trunks: "Trunks", uplinks: "Uplinks", requests: UplinkRequests
    ) -> None:
        UplinkOutletRole.__init__(self, credit, ends, trunks, uplinks)
        self._requests = requests

    def flow(self, end: Any) -> None:
        """Send what waited for credit."""
        self._requests.go_on()

    def answered(self, end: Any) -> None:
        """Use the link."""
        UplinkOutletRole.answered(self, end)
        self._requests.go_on()

    def ended(self, end: Any, error: Error | None) -> None:
        """Forget the link."""
        outlet: Outlet = end
        link = outlet.link
        UplinkOutletRole.ended(self, outlet, error)
        self._requests.link_ended(link)


class ReplyRole(ControlRole):
    """The role of the link for answers."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        settlement: Any,
        credit: "Credit",
        ends: "Ends",
        requests: UplinkRequests,
    ) -> None:
        ControlRole.__init__(self, clock, observer, settlement, credit, ends)
        self._requests = requests

    def take(self, inlet: Inlet, octets: bytes) -> None:
        """Take an answer."""
        self._requests.take(octets)

    def answered(self, end: Any) -> None:
        """Grant credit, and send what waited for the address of the answers."""
        ControlRole.answered(self, end)
        self._requests.go_on()

    def left(self, inlet: Inlet) -> None:
        """Stop asking, and end the session that the link had alone."""
        self._requests.link_ended(inlet.link)
        inlet.link.session.end_unused()
