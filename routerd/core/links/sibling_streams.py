"""Streams: the links to a sibling for the large messages of one address, so that a slow one stops no other message."""

from typing import TYPE_CHECKING

from routerd.core.links.trunk import STREAMS_MAX

if TYPE_CHECKING:
    from routerd.core.links.outlet import Outlet

IDLE_STREAMS_MAX = 4
"""Idle links that are kept for later messages."""

_STREAMS_MAX = STREAMS_MAX
_IDLE_MAX = IDLE_STREAMS_MAX


class Streams:
    """The links for large messages beside an outlet to a sibling; each carries one message at a time.

    The outlet itself carries the messages that have come as a whole, in their order.
    """

    links: "dict[Outlet, None]"
    uneven: "dict[Streams, None]"

    def __init__(self, main: "Outlet", uneven: "dict[Streams, None]") -> None:
        self.main = main
        self.links = {}
        self.is_wanted = False
        # Those of all outlets that need another link, or have one too many. They are looked at at the end of the turn.
        self.uneven = uneven

    def pick(self) -> "Outlet | None":
        """Return a link that can send now; otherwise ask for another one, unless one is about to be free."""
        is_coming = False
        for stream in self.links:
            if stream.can_send():
                return stream
            link = stream.link
            is_coming = is_coming or (link.current is None and (link.credit <= 0 or not stream.is_open))
        peer = self.main.peer
        # Without room on the connection, a further link would wait like the others.
        if not (is_coming or peer.is_blocked or peer.is_full) and len(self.links) < _STREAMS_MAX:
            self.is_wanted = True
            self.uneven[self] = None
        return None

    def load(self) -> int:
        """Return the unsettled deliveries on all links."""
        load = 0
        for stream in self.links:
            load += stream.link.unsettled_count
        return load

    def became_free(self) -> None:
        """Note that a link is free again."""
        if len(self.links) > _IDLE_MAX:
            self.uneven[self] = None

    def surplus(self) -> "list[Outlet]":
        """Take out the links that are not needed any more, and return them."""
        idle = [stream for stream in self.links if stream.is_open and stream.link.current is None]
        for stream in idle[_IDLE_MAX:]:
            del self.links[stream]
        return idle[_IDLE_MAX:]

    def take_all(self) -> "list[Outlet]":
        """Take out all links, as their outlet is over, and return them."""
        links, self.links = self.links, {}
        self.uneven.pop(self, None)
        return list(links)
