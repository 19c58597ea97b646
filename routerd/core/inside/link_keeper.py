"""Link keepers: they take links of an address from the router, to refuse them or to answer them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire import Attach, Error, Link


class LinkKeeper:
    """Is asked about each link that a peer attaches to the address; this base class leaves all links to the router.

    The router ignores the messages of a kept link, and tells its keeper the events.
    """

    def refusal(self, link: "Link") -> "Error | None":
        """Return the error if the link is refused."""
        return None

    def keeps(self, link: "Link") -> bool:
        """Whether it keeps the link."""
        return False

    def attached(self, link: "Link", performative: "Attach") -> None:
        """A peer attached a kept link, perhaps in answer to an attach of the keeper."""

    def detached(self, link: "Link", error: "Error | None") -> None:
        """A kept link is over."""
