"""What one connection may do, by the group that its user is in."""

from routerd.core.policy.settings import LINKS_MAX
from routerd.core.policy.vhost import Group


class Grant:
    """Of a connection that was let in; new links are held against the group of now."""

    group: Group | None
    sources: set[str]
    targets: set[str]

    def __init__(self, vhost: str, group: Group, user: str, host: str, version: int) -> None:
        self.vhost = vhost
        """The configured name, whatever the peer called it."""
        self.user = user
        self.host = host
        self.use(group, version)
        self.sessions = 0
        self.sessions_denied = 0
        self.senders_denied = 0
        self.receivers_denied = 0
        self.message_size_denied = 0

    def use(self, group: Group | None, version: int) -> None:
        """Go by a group of this version of the policy; None once nothing is configured for the user any more."""
        self.group = group
        self.version = version
        self.sources, self.targets = (set(), set()) if group is None else group.known_names(self.user)
        self.most_receivers = LINKS_MAX if group is None else group.settings.max_receivers or LINKS_MAX
        self.most_senders = LINKS_MAX if group is None else group.settings.max_senders or LINKS_MAX

    @property
    def denials(self) -> int:
        """How often something was refused."""
        return self.sessions_denied + self.senders_denied + self.receivers_denied + self.message_size_denied
