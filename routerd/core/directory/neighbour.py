"""A sibling, as this worker knows it."""

from typing import TYPE_CHECKING

from routerd.core.directory.membership import Sibling

if TYPE_CHECKING:
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer


class Neighbour:
    """A sibling: its fabric connection, the interests of its consumers, and the links to it."""

    def __init__(self, sibling: Sibling) -> None:
        self.sibling = sibling
        self.peer: Peer | None = None
        self.is_lost = False
        self.interests: dict[str, int] = {}
        self.outlets: dict[str, Outlet] = {}
