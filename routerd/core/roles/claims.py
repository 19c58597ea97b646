"""Who takes a link that a peer attaches, on a connection that is none between routers or workers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.roles.attaching import Attaching
    from routerd.wire import Attach, Error
    from routerd.wire.link import Link


class Claimant:
    """Is asked whether it takes a link. This one takes none."""

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Return whether the link is taken, which means answered; or why it is refused."""
        return False


class Claims:
    """The claimants, in the order in which they are asked, each with a name.

    A feature that has links of its own adds itself by one row in `routerd.core.router`.
    """

    def __init__(self, attaching: "Attaching") -> None:
        self._attaching = attaching
        self.rows: list[tuple[str, Claimant]] = []

    def attached(self, peer: "Peer", link: "Link", performative: "Attach") -> None:
        """Have the first that wants to answer a link, or refuse it."""
        for _, claimant in self.rows:
            answer = claimant.claim(peer, link, performative)
            if answer is True:
                return
            if answer is not False:
                self._attaching.refuse(link, answer)
                return
