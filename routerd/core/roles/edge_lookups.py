"""The requests by which an edge router asks whether links are routed (inter-router protocol 6.7).

The attach of a client waits for the answer.
"""

from typing import TYPE_CHECKING

from routerd.core.roles.uplink_requests import Asker, Request
from routerd.wire import AmqpValue, Message, UInt

if TYPE_CHECKING:
    from routerd.core.roles.awaited_attaches import AwaitedAttaches, AwaitedEnd
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


class EdgeLookups(Asker):
    """Asks the interior router where links of clients go."""

    def __init__(self, awaited: "AwaitedAttaches", routing: "LinkRouting", requests: "UplinkRequests") -> None:
        self._awaited = awaited
        self._routing = routing
        self._requests = requests

    def ask(self, attach: "RoutedAttach") -> bool:
        """Let a link wait for an answer; return whether the interior router can be asked."""
        if attach.plain_address.startswith(_OWN) or not self._requests.is_usable:
            return False
        end = self._awaited.new_end(attach)
        if not self._ask(end):
            return False
        self._awaited.hold(end)
        return True

    def _ask(self, end: "AwaitedEnd") -> bool:
        attach = end.attach
        properties = {"version": VERSION, "opcode": OPCODE}
        body = [attach.plain_address, not attach.link.is_sender]
        return self._requests.ask(Request(self, end, LOOKUP, properties, body, PATIENCE_S))

    def answered(self, request: Request, answer: Message | None) -> None:
        """Route a link by the answer, or treat it as a client's."""
        end: AwaitedEnd = request.subject
        if end not in self._awaited:
            return
        if answer is None and self._is_lost(request) and self._ask(end):
            return
        if not self._awaited.take(end):
            return
        is_routed, has_destination = read_answer(answer)
        if is_routed:
            result = self._routing.to_uplink(end.attach, has_destination)
        else:
            result = self._routing.without_uplink(end.attach)
        self._awaited.conclude(end, result)

    def _is_lost(self, request: Request) -> bool:
        """Whether a request has no answer because its uplink was lost, and there is another uplink."""
        return request.generation != self._requests.generation


def read_answer(answer: Message | None) -> tuple[bool, bool]:
    """Return whether links of an address are routed, and whether there is a container."""
    properties = {} if answer is None else answer.application_properties or {}
    body = answer.body.value if answer is not None and isinstance(answer.body, AmqpValue) else None
    if properties.get("status") != _FOUND or not isinstance(body, list) or len(body) < 2:
        return False, False
    return body[0] is True, body[1] is True
