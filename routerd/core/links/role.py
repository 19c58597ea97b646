"""Roles of connections and of links: they take the engine's events.

A feature with a new kind of link adds a role for it. The code of other links need not ask about it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.wire import Attach, Error, Open
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link


class LinkRole:
    """Takes the events of one kind of link, which has one kind of `End`. This base class does nothing."""

    def transfer(self, end: Any, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Octets of a message have come: data[start:stop], which is lent for this call."""

    def flow(self, end: Any) -> None:
        """The credit of the link has changed, or its drain."""

    def answered(self, end: Any) -> None:
        """The peer has answered our attach, or refuses the link."""

    def ended(self, end: Any, error: "Error | None") -> None:
        """The link is over."""


class ConnectionRole:
    """Takes the events of one kind of connection. This base class does nothing."""

    def opened(self, peer: "Peer", performative: "Open") -> None:
        """Both ends have opened the connection."""

    def closed(self, peer: "Peer") -> None:
        """The connection is over, and so are its links."""

    def attached(self, peer: "Peer", link: "Link", performative: "Attach") -> None:
        """The peer has attached a link, which must be answered or refused."""


NO_LINK_ROLE = LinkRole()
NO_CONNECTION_ROLE = ConnectionRole()
