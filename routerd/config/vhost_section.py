"""`vhost` sections (10.2)."""

from collections.abc import Iterable, Mapping
from typing import Any

from routerd.config.entities import Entity
from routerd.config.remote_hosts import Resolve, resolve_host
from routerd.config.schema.values import shown
from routerd.config.values import members_of
from routerd.config.vhost_group import group_settings
from routerd.core import DEFAULT_GROUP, DuplicatePattern, GroupSettings, InvalidPattern, PatternTree, VhostSettings

_GROUP_ALLOWED = ("a group $default", "allowUnknownUser: false")


def vhost_settings(
    entities: Iterable[Entity], *, uses_patterns: bool = False, resolve: Resolve = resolve_host
) -> tuple[VhostSettings, ...]:
    """Return what the sections say; what is wrong with them is noted at them."""
    names = VhostNames(uses_patterns)
    found = []
    for entity in entities:
        clash = names.add(entity.values, f"line {entity.line} of {entity.findings.file}")
        # One that has no name at all has been told of.
        if clash is not None and entity.values["hostname"] is not None:
            entity.refuse(clash[0], _invalid(entity, clash[1]), "names that no other vhost has")
        found.append(_vhost(entity, resolve))
    return tuple(found)


class VhostNames:
    """The hostnames and aliases of all vhosts, of which no two are the same."""

    def __init__(self, uses_patterns: bool) -> None:
        self._patterns: PatternTree[str] | None = PatternTree() if uses_patterns else None
        self._places: dict[str, str] = {}

    def add(self, values: Mapping[str, Any], place: str) -> tuple[str, str] | None:
        """Add the names of a vhost; return attribute and reason if one of them can't be."""
        hostname: str = values["hostname"] or ""
        if not hostname:
            return "hostname", "a vhost without a name"
        for attribute, names in (("hostname", (hostname,)), ("aliases", _members(values["aliases"]))):
            for name in names:
                reason = self._reason(name)
                if reason is not None:
                    return attribute, reason
                self._places[name] = place
        return None

    def _reason(self, name: str) -> str | None:
        if name in self._places:
            return f"the name {shown(name)} is used in {self._places[name]} already"
        if self._patterns is None:
            return None
        try:
            self._patterns.add(name, name)
        except DuplicatePattern:
            return f"the pattern {shown(name)} is that of another vhost"
        except InvalidPattern as error:
            return f"the pattern {shown(name)} {error.reason}"
        return None


def _members(text: str | None) -> tuple[str, ...]:
    return () if text is None else members_of(text, ",")


def _vhost(entity: Entity, resolve: Resolve) -> VhostSettings:
    values = entity.values
    given: Mapping[Any, Any] = values["groups"] or {}
    named = [(str(name), group_settings(entity, str(name), group, resolve)) for name, group in given.items()]
    groups = tuple(group for _, group in named if group is not None)
    if values["allowUnknownUser"] and all(name != DEFAULT_GROUP for name, _ in named):
        reason = f"allowUnknownUser is true and there is no group {DEFAULT_GROUP}"
        entity.refuse("allowUnknownUser", _invalid(entity, reason), *_GROUP_ALLOWED)
    _check_users(entity, groups)
    return VhostSettings(
        hostname=values["hostname"] or "",
        aliases=_members(values["aliases"]),
        max_connections=values["maxConnections"],
        max_connections_per_user=values["maxConnectionsPerUser"],
        max_connections_per_host=values["maxConnectionsPerHost"],
        max_message_size=values["maxMessageSize"],
        allows_unknown_user=values["allowUnknownUser"],
        groups=groups,
    )


def _check_users(entity: Entity, groups: tuple[GroupSettings, ...]) -> None:
    owners: dict[str, str] = {}
    for group in groups:
        for user in dict.fromkeys(group.users):
            other = owners.setdefault(user, group.name)
            if other != group.name:
                reason = f"user {shown(user)} is in multiple user groups {shown(other)} and {shown(group.name)}"
                entity.refuse("groups", _invalid(entity, reason), "each user in one group")


def _invalid(entity: Entity, reason: str) -> str:
    return f"Policy {shown(entity.values['hostname'])} is invalid: {reason}"
