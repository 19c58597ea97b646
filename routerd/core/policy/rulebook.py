"""All vhosts of a router: they determine the vhost of a connection and the rights of its user."""

from collections.abc import Iterable
from dataclasses import dataclass

from routerd.core.directory.pattern_tree import PatternTree
from routerd.core.errors import DuplicatePattern, InvalidPattern
from routerd.core.policy.grant import Edition
from routerd.core.policy.settings import CONNECTOR_GROUP, PolicySettings, VhostSettings
from routerd.core.policy.vhost import Group, Vhost

NO_VHOST = "No policy defined for vhost"
NO_GROUP = "User is not in a user group and unknown users are denied"
WRONG_HOST = "User is not allowed to connect from this network host"
NO_CONNECTOR_GROUP = f"No group '{CONNECTOR_GROUP}' defined for vhost"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of a connection."""

    reason: str


class Rulebook:
    """The compiled configuration of vhosts."""

    def __init__(self, settings: PolicySettings, vhosts: Iterable[VhostSettings] = ()) -> None:
        self.settings = settings
        self.edition = Edition()
        self._vhosts: dict[str, Vhost] = {}
        self._by_name: dict[str, Vhost] = {}
        self._patterns: PatternTree[Vhost] = PatternTree()
        for one in vhosts:
            self.configure(one)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the vhosts."""
        return tuple(self._vhosts)

    def configure(self, settings: VhostSettings) -> None:
        """Add a vhost, or replace the one of this name."""
        self.forget(settings.hostname)
        vhost = self._vhosts[settings.hostname] = Vhost(settings, self.settings.max_message_size)
        for name in (settings.hostname, *settings.aliases):
            self._by_name.setdefault(name, vhost)
            self._add_pattern(name, vhost)

    def forget(self, hostname: str) -> None:
        """Remove a vhost if it exists."""
        self.edition.number += 1
        vhost = self._vhosts.pop(hostname, None)
        if vhost is None:
            return
        for name in [name for name, owner in self._by_name.items() if owner is vhost]:
            del self._by_name[name]
        self._patterns = PatternTree()
        for other in self._vhosts.values():
            for name in (other.settings.hostname, *other.settings.aliases):
                self._add_pattern(name, other)

    def _add_pattern(self, name: str, vhost: Vhost) -> None:
        if not self.settings.uses_name_patterns or not name:
            return
        try:
            self._patterns.add(name, vhost)
        except (DuplicatePattern, InvalidPattern):
            # The configuration has been checked. Only two updates that cross can fail here.
            return

    def vhost_for(self, name: str) -> Vhost | None:
        """Return the vhost of a name, or the default vhost."""
        found = None if name and self.settings.uses_name_patterns else self._by_name.get(name)
        if found is None and self.settings.uses_name_patterns:
            found = self._patterns.match(name)
        if found is None and self.settings.default_vhost:
            found = self._vhosts.get(self.settings.default_vhost)
        return found

    def group_for(self, name: str, user: str, host: str) -> Group | Refusal:
        """Return the group of a user who connects from a host, or the refusal of the connection."""
        vhost = self.vhost_for(name)
        if vhost is None:
            return Refusal(NO_VHOST)
        group = vhost.group_of(user)
        if group is None:
            return Refusal(NO_GROUP)
        return group if group.hosts.allow(host) else Refusal(WRONG_HOST)

    def connector_group(self, name: str) -> Group | Refusal:
        """Return the group of a connection that the router makes."""
        vhost = self.vhost_for(name)
        if vhost is None:
            return Refusal(NO_VHOST)
        return vhost.groups.get(CONNECTOR_GROUP) or Refusal(NO_CONNECTOR_GROUP)

    def current_group(self, vhost: str, user: str, *, is_connector: bool) -> Group | None:
        """Return the present group of an admitted connection, or None."""
        found = self._vhosts.get(vhost)
        if found is None:
            return None
        return found.groups.get(CONNECTOR_GROUP) if is_connector else found.group_of(user)

    def settings_of(self, vhost: str) -> VhostSettings:
        """Return the settings of a vhost."""
        return self._vhosts[vhost].settings
