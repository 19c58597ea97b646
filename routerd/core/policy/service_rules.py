"""The rights that an authentication service gave a peer, in place of its group's address rules (9.6)."""

from collections.abc import Mapping
from dataclasses import replace

from routerd.core.policy.settings import GroupSettings
from routerd.core.policy.vhost import Group

SEND, RECEIVE = "send", "recv"
SERVICE_GROUP = "authServicePlugin"
"""The name of the group of a peer without a vhost."""
_ALONE = GroupSettings(
    name=SERVICE_GROUP,
    allows_waypoint_links=False,
    allows_fallback_links=False,
    allows_dynamic_link_routes=False,
    allows_admin_status_update=False,
)


class ServiceRules:
    """The addresses of one peer; as in policy, a name that ends in `*` is a prefix."""

    def __init__(self, grants: Mapping[str, tuple[str, ...]]) -> None:
        self._targets = tuple(address for address, rights in grants.items() if SEND in rights)
        self._sources = tuple(address for address, rights in grants.items() if RECEIVE in rights)

    def group(self, vhost: str, base: Group | None) -> Group:
        """Return a group with the addresses of the service, and the other rights of the base."""
        settings = replace(
            _ALONE if base is None else base.settings,
            sources=self._sources,
            targets=self._targets,
            source_patterns=(),
            target_patterns=(),
            allows_dynamic_source=True,
            allows_anonymous_sender=True,
        )
        found = Group(vhost, settings)
        found.max_message_size = 0 if base is None else base.max_message_size
        return found
