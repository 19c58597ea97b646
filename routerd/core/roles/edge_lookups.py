"""The requests by which an edge router asks whether links are routed (inter-router protocol 6.7).

The attach of a client waits for the answer. Its credit stays with the link meanwhile. It is used once the destination
of the link is known.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.links.end import End
from routerd.core.links.role import LinkRole
from routerd.core.roles.claims import Claims
from routerd.core.roles.uplink_requests import Asker, Request
from routerd.wire import AmqpValue, Error, LinkState, Message, UInt

if TYPE_CHECKING:
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.link_routing import LinkRouting, RoutedAttach
    from routerd.core.roles.uplink_requests import UplinkRequests

LOOKUP = "_$qd.addr_lookup"
OPCODE = UInt(1)
VERSION = UInt(1)
PATIENCE_S = 3.0
"""How long an attach waits for an answer. Without one, the link is treated as if there were no uplink."""

_OWN = ("_", "$management")
"""The beginnings of addresses that the interior router is not asked about."""
_FOUND = 0


class AwaitedEnd(End):
    """A link of a client whose attach waits for an answer."""

    def __init__(self, number: int, attach: "RoutedAttach") -> None:
        End.__init__(self, number, attach.peer)
        self.peer = attach.peer
        self.attach = attach


class EdgeLookups(Asker):
    """Asks the interior router where links of clients go."""

    def __init__(
        self, attaching: "Attaching", claims: Claims, routing: "LinkRouting", requests: "UplinkRequests"
    ) -> None:
        self._attaching = attaching
        self._claims = claims
        self._routing = routing
        self._requests = requests
        self._role = AwaitedRole(self)
        self.awaited: dict[AwaitedEnd, None] = {}

    def ask(self, attach: "RoutedAttach") -> bool:
        """Let a link wait for an answer; return whether the interior router can be asked."""
        if attach.plain_address.startswith(_OWN) or not self._requests.is_usable:
            return False
        end = AwaitedEnd(self._attaching.take_number(), attach)
        end.role = self._role
        if not self._ask(end):
            return False
        attach.link.context = end
        self.awaited[end] = None
        self._count(end, 1)
        return True

    def _ask(self, end: AwaitedEnd) -> bool:
        attach = end.attach
        properties = {"version": VERSION, "opcode": OPCODE}
        body = [attach.plain_address, not attach.link.is_sender]
        return self._requests.ask(Request(self, end, LOOKUP, properties, body, PATIENCE_S))

    def _count(self, end: AwaitedEnd, step: int) -> None:
        # Policy counts it like a routed link.
        if end.attach.link.is_sender:
            end.peer.routed_out += step
        else:
            end.peer.routed_in += step

    def forget(self, end: AwaitedEnd) -> None:
        """Stop waiting for an answer."""
        if end in self.awaited:
            del self.awaited[end]
            self._count(end, -1)

    def answered(self, request: Request, answer: Message | None) -> None:
        """Route a link by the answer, or treat it as a client's."""
        end: AwaitedEnd = request.subject
        if end not in self.awaited:
            return
        link = end.attach.link
        if answer is None and self._is_lost(request) and self._ask(end):
            return
        self.forget(end)
        link.context = None
        if link.state is not LinkState.ATTACH_RCVD or not link.session.is_open:
            return
        is_routed, has_destination = read_answer(answer)
        if is_routed:
            result = self._routing.to_uplink(end.attach, has_destination)
        else:
            result = self._routing.without_uplink(end.attach)
        if isinstance(result, Error):
            self._attaching.refuse(link, result)
        elif not result:
            self._claims.go_on(end.peer, link, end.attach.performative, "link routes")

    def _is_lost(self, request: Request) -> bool:
        """Whether a request has no answer because its uplink was lost, and there is another uplink."""
        return request.generation != self._requests.generation


class AwaitedRole(LinkRole):
    """The role of a link whose attach waits."""

    def __init__(self, lookups: EdgeLookups) -> None:
        self._lookups = lookups

    def ended(self, end: Any, error: Error | None) -> None:
        """Forget the link."""
        self._lookups.forget(end)


def read_answer(answer: Message | None) -> tuple[bool, bool]:
    """Return whether links of an address are routed, and whether there is a container."""
    properties = {} if answer is None else answer.application_properties or {}
    body = answer.body.value if answer is not None and isinstance(answer.body, AmqpValue) else None
    if properties.get("status") != _FOUND or not isinstance(body, list) or len(body) < 2:
        return False, False
    return body[0] is True, body[1] is True
