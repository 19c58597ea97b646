"""What a connection, or the end of a link, is for: the engine's events go to its role.

A feature that has links of its own kind makes a role for them. Nothing on the way of other links asks about it then.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.wire import Attach, Error, Open
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link


class LinkRole:
    """Takes the events of the links of one kind, each of which has the same kind of `End`. This one does nothing."""

    def transfer(self, end: Any, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Octets of a message have come: data[start:stop], which is lent for this call."""

    def flow(self, end: Any) -> None:
        """The credit of the link has changed, or its drain."""

    def answered(self, end: Any) -> None:
        """The peer has answered an attach of ours, or refuses the link."""

    def ended(self, end: Any, error: "Error | None") -> None:
        """The link is over."""


class ConnectionRole:
    """Takes the events of the connections of one kind. This one does nothing."""

    def opened(self, peer: "Peer", performative: "Open") -> None:
        """Both ends have opened the connection."""

    def closed(self, peer: "Peer") -> None:
        """The connection is over, and so are its links."""

    def attached(self, peer: "Peer", link: "Link", performative: "Attach") -> None:
        """The peer has attached a link: it is to be answered or refused."""


NO_LINK_ROLE = LinkRole()
NO_CONNECTION_ROLE = ConnectionRole()
