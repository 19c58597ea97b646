"""The rights of one connection, from the group of its user."""

from typing import TYPE_CHECKING, Any

from routerd.core.policy.settings import LINKS_MAX
from routerd.wire import Source, Target

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.policy.vhost import Group
    from routerd.wire import Attach
    from routerd.wire.link import Link


_SOURCE = Source
_TARGET = Target


class Edition:
    """The present state of the rules, shared by all grants."""

    def __init__(self) -> None:
        self.number = 0
        """Increases with each change."""


class Grant:
    """The grant of an admitted connection; new links are checked against the present group."""

    def __init__(self, edition: Edition, group: "Group", user: str, host: str) -> None:
        self._edition = edition
        self.vhost: str = group.vhost
        """The configured name of the vhost, which may differ from the peer's."""
        self.user = user
        self.host = host
        self.use(group)
        self.sessions = 0
        self.sessions_denied = 0
        self.senders_denied = 0
        self.receivers_denied = 0
        self.message_size_denied = 0

    def use(self, group: "Group | None") -> None:
        """Switch to the present group; None if none is configured for the user any more."""
        self.group: Group | None = group
        self._version = self._edition.number
        names: tuple[set[str], set[str]] = (set(), set()) if group is None else group.known_names(self.user)
        self.sources, self.targets = names
        self._most_receivers = LINKS_MAX if group is None else group.settings.max_receivers or LINKS_MAX
        self._most_senders = LINKS_MAX if group is None else group.settings.max_senders or LINKS_MAX

    @property
    def is_current(self) -> bool:
        """Whether the group is the present one."""
        return self._version == self._edition.number

    def knows(self, peer: "Peer", link: "Link", performative: "Attach") -> bool:
        """Whether a link resembles an allowed one and requests nothing else, as nearly all links do."""
        if self._version != self._edition.number:
            return False
        terminus: Any
        if link.is_sender:
            terminus, names = performative.source, self.sources
            if type(terminus) is not _SOURCE or len(peer.outlets) + peer.routed_out >= self._most_receivers:
                return False
        else:
            terminus, names = performative.target, self.targets
            if type(terminus) is not _TARGET or len(peer.inlets) + peer.routed_in >= self._most_senders:
                return False
        address = terminus.address
        return type(address) is str and address in names and not terminus.dynamic and not terminus.capabilities

    @property
    def denials(self) -> int:
        """The number of refusals."""
        return self.sessions_denied + self.senders_denied + self.receivers_denied + self.message_size_denied
