"""Claimants for links that peers attach, except on connections between routers or workers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.roles.attaching import Attaching
    from routerd.wire import Attach, Error
    from routerd.wire.link import Link


class Claimant:
    """Is asked whether it takes a link. This base class takes none."""

    def claim(self, peer: "Peer", link: "Link", performative: "Attach") -> "bool | Error":
        """Return whether the link is taken, and so answered; or the error of its refusal."""
        return False


class Claims:
    """The claimants with their names, in the order in which they are asked.

    A feature that has new kinds of links adds one row in `routerd.core.router`.
    """

    def __init__(self, attaching: "Attaching") -> None:
        self._attaching = attaching
        self.rows: list[tuple[str, Claimant]] = []

    def attached(self, peer: "Peer", link: "Link", performative: "Attach") -> None:
        """Have the first claimant that wants a link answer or refuse it."""
        self._ask(peer, link, performative, self.rows)

    def go_on(self, peer: "Peer", link: "Link", performative: "Attach", name: str) -> None:
        """Ask the claimants behind one that has waited, and does not want the link."""
        names = [row[0] for row in self.rows]
        self._ask(peer, link, performative, self.rows[names.index(name) + 1 :])

    def _ask(
        self, peer: "Peer", link: "Link", performative: "Attach", rows: list[tuple[str, Claimant]]
    ) -> None:
        for row in rows:
            claimant = row[1]
            answer = claimant.claim(peer, link, performative)
            if answer is True:
                return
            if answer is not False:
                self._attaching.refuse(link, answer)
                return
