"""What takes links of an address out of the hands of the router: to refuse them, or to answer for them itself."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire import Attach, Error, Link


class LinkKeeper:
    """Is asked about each link that a peer attaches to the address; this one leaves them all to the router.

    A link that is kept has no place in the router: its messages are ignored, and its keeper is told of it.
    """

    def refusal(self, link: "Link") -> "Error | None":
        """Return why the link is refused, if it is."""
        return None

    def keeps(self, link: "Link") -> bool:
        """Whether this answers for the link."""
        return False

    def attached(self, link: "Link", performative: "Attach") -> None:
        """The peer attached a link that is kept; it may be the answer to one that this has attached."""

    def detached(self, link: "Link", error: "Error | None") -> None:
        """A link that was kept is over."""
