"""Links of peers whose attaches wait, since others are asked first where they go.

The credit of such a link stays with it. It is used once the destination has answered, or once the router has attached
the link itself.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.links.end import End
from routerd.core.links.role import LinkRole
from routerd.wire import Error, LinkState

if TYPE_CHECKING:
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.claims import Claims
    from routerd.core.roles.link_routing import RoutedAttach


class AwaitedEnd(End):
    """A link whose attach waits."""

    def __init__(self, number: int, attach: "RoutedAttach") -> None:
        End.__init__(self, number, attach.peer)
        self.peer = attach.peer
        self.attach = attach


class AwaitedAttaches:
    """The links whose attaches wait."""

    def __init__(self, attaching: "Attaching", claims: "Claims") -> None:
        self._attaching = attaching
        self._claims = claims
        self._role = AwaitedRole(self)
        self._ends: dict[AwaitedEnd, None] = {}

    def __contains__(self, end: AwaitedEnd) -> bool:
        return end in self._ends

    def new_end(self, attach: "RoutedAttach") -> AwaitedEnd:
        """Return the end of a link that is to wait."""
        end = AwaitedEnd(self._attaching.take_number(), attach)
        end.role = self._role
        return end

    def hold(self, end: AwaitedEnd) -> None:
        """Let a link wait."""
        end.attach.link.context = end
        self._ends[end] = None
        self._count(end, 1)

    def forget(self, end: AwaitedEnd) -> None:
        """Let a link wait no more."""
        if end in self._ends:
            del self._ends[end]
            self._count(end, -1)

    def take(self, end: AwaitedEnd) -> bool:
        """End the wait of a link; return whether its attach can still be answered."""
        if end not in self._ends:
            return False
        self.forget(end)
        link = end.attach.link
        link.context = None
        return link.state is LinkState.ATTACH_RCVD and link.session.is_open

    def conclude(self, end: AwaitedEnd, result: "bool | Error") -> None:
        """Refuse a link by the result of its routing; or treat it as a client's if it is not routed."""
        if isinstance(result, Error):
            self._attaching.refuse(end.attach.link, result)
        elif not result:
            self._claims.go_on(end.peer, end.attach.link, end.attach.performative, "link routes")

    def _count(self, end: AwaitedEnd, step: int) -> None:
        # Policy counts it like a routed link.
        if end.attach.link.is_sender:
            end.peer.routed_out += step
        else:
            end.peer.routed_in += step


class AwaitedRole(LinkRole):
    """The role of a link whose attach waits."""

    def __init__(self, attaches: AwaitedAttaches) -> None:
        self._attaches = attaches

    def ended(self, end: Any, error: Error | None) -> None:
        """Forget the link."""
        self._attaches.forget(end)
