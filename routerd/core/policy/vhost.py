"""A compiled vhost: the group of each user, and the rights of each group (10.2 to 10.4)."""

from routerd.core.policy.address_rules import AddressRules, NameRules, PatternRules
from routerd.core.policy.hosts import HostRules
from routerd.core.policy.settings import CONNECTOR_GROUP, DEFAULT_GROUP, GroupSettings, VhostSettings

EVERYBODY = "*"
KNOWN_USERS_MAX = 1000
"""Limit of the users of a group whose link names are remembered."""
KNOWN_NAMES_MAX = 1000
"""Limit of the names remembered for a user."""


class Group:
    """A group of users of a vhost."""

    def __init__(self, vhost: str, settings: GroupSettings) -> None:
        self.vhost = vhost
        self.settings = settings
        self.hosts = HostRules(settings.remote_hosts, from_any_host=settings.from_any_host)
        self.sources = _rules(settings.sources, settings.source_patterns)
        self.targets = _rules(settings.targets, settings.target_patterns)
        self.max_message_size = 0
        """In octets; 0 is no bound."""
        self._known: dict[str, tuple[set[str], set[str]]] = {}

    def known_names(self, user: str) -> tuple[set[str], set[str]]:
        """Return the sources and the targets that a user was allowed before; the caller adds to them."""
        found = self._known.get(user)
        if found is None:
            if len(self._known) >= KNOWN_USERS_MAX:
                self._known.clear()
            found = self._known[user] = (set(), set())
        return found


def _rules(names: tuple[str, ...], patterns: tuple[str, ...]) -> AddressRules:
    return PatternRules(patterns) if patterns else NameRules(names)


class Vhost:
    """A vhost."""

    def __init__(self, settings: VhostSettings, max_message_size: int) -> None:
        """`max_message_size` is that of the router."""
        self.settings = settings
        self.groups: dict[str, Group] = {}
        self._by_user: dict[str, Group] = {}
        ours = settings.max_message_size
        for one in settings.groups:
            group = self.groups[one.name] = Group(settings.hostname, one)
            size = ours if one.max_message_size is None else one.max_message_size
            group.max_message_size = max_message_size if size is None else size
            if one.name != CONNECTOR_GROUP:
                for user in one.users:
                    self._by_user.setdefault(user, group)

    def group_of(self, user: str) -> Group | None:
        """Return the group of a user, or None."""
        # The name that stands for everybody is not a user.
        group = self._by_user.get(user) if user != EVERYBODY else None
        if group is None:
            group = self._by_user.get(EVERYBODY)
        if group is None and self.settings.allows_unknown_user:
            group = self.groups.get(DEFAULT_GROUP)
        return group
