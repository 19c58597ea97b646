"""The links of a connection by name: a name and a direction identify a link between two containers (2.6.1)."""

from typing import TYPE_CHECKING

from routerd.wire.errors import StateError

if TYPE_CHECKING:
    from routerd.wire.link import Link


class LinkNames:
    """Our endpoints on all sessions of a connection."""

    def __init__(self) -> None:
        self._senders: dict[str, Link] = {}
        self._receivers: dict[str, Link] = {}
        # The number of endpoints without a name: refused links that are not detached yet.
        self.turned_away = 0

    def __len__(self) -> int:
        return len(self._senders) + len(self._receivers)

    def find(self, name: str, is_sender: bool) -> "Link | None":
        """Return our endpoint of a name and direction."""
        return (self._senders if is_sender else self._receivers).get(name)

    def add(self, link: "Link") -> None:
        """Register an endpoint whose name is free."""
        names = self._senders if link.is_sender else self._receivers
        if link.name in names:
            raise StateError(f"link {link.name!r} exists already")
        names[link.name] = link

    def drop(self, link: "Link") -> None:
        """Free the name of an endpoint, unless another one has it by now."""
        names = self._senders if link.is_sender else self._receivers
        if names.get(link.name) is link:
            del names[link.name]
