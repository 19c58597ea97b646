"""`vhost`: what the clients of one virtual host may do (10.2)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from routerd.config.configurable import Configurable, Other, Reading
from routerd.config.entity import Entity
from routerd.config.errors import PolicyRefused
from routerd.config.kinds.vhost_group import VHOST_USER_GROUP_SETTINGS, group_settings
from routerd.config.remote_hosts import Resolve
from routerd.config.schema.attributes import limit
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, MAP, STRING, UPDATE, Attribute, EntityType, Purpose
from routerd.config.schema.values import shown
from routerd.config.values import members_of
from routerd.core import (
    DEFAULT_GROUP,
    DuplicatePattern,
    GroupSettings,
    InvalidPattern,
    PatternTree,
    Router,
    VhostSettings,
)

VHOST = EntityType(
    name="vhost",
    description="What the clients of one virtual host may do.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="vhost",
    own_operations=("CREATE", "UPDATE", "DELETE"),
    is_supported=True,
    own_attributes=(
        Attribute("hostname", STRING, "The name of the virtual host.", CREATE, is_required=True, old_name="id"),
        Attribute("aliases", STRING, "Other names of it.", CREATE | UPDATE, separator=","),
        limit("maxConnections", "Connections at a time.", CREATE | UPDATE, 65535),
        limit("maxMessageSize", "The largest message; 0 means no limit.", CREATE | UPDATE, unit="octets"),
        limit("maxConnectionsPerUser", "Connections of one user at a time.", CREATE | UPDATE, 65535),
        limit("maxConnectionsPerHost", "Connections from one host at a time.", CREATE | UPDATE, 65535),
        Attribute(
            "allowUnknownUser", BOOLEAN, "Whether users of no group belong to `$default`.", CREATE | UPDATE, False
        ),
        Attribute("groups", MAP, "Groups of users, by name, and what they may do.", CREATE | UPDATE),
    ),
)

_GROUP_ALLOWED = ("a group $default", "allowUnknownUser: false")


class VhostNames:
    """The hostnames and aliases of all vhosts; no two are the same."""

    def __init__(self, uses_patterns: bool) -> None:
        self._patterns: PatternTree[str] | None = PatternTree() if uses_patterns else None
        self._places: dict[str, str] = {}

    def add(self, values: Mapping[str, Any], place: str) -> tuple[str, str] | None:
        """Add the names of a vhost; return attribute and reason if one of them can't be."""
        hostname: str = values["hostname"] or ""
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
        if self._patterns is None or not name:
            return None
        try:
            self._patterns.add(name, name)
        except DuplicatePattern:
            return f"the optimized pattern conflicts with existing pattern {shown(name)} of another vhost"
        except InvalidPattern as error:
            return f"the pattern {shown(name)} {error.reason}"
        return None


class VhostKind(Configurable[VhostSettings]):
    """Virtual hosts."""

    type = VHOST
    example = """policy {
    enableVhostPolicy: yes
}
vhost {
    hostname: $default
    maxConnectionsPerHost: 100
    allowUnknownUser: yes
    groups: {
        "operators": {
            "users": "ann, bob",
            "remoteHosts": "10.0.0.1-10.0.0.9, ::1",
            "allowDynamicSource": true,
            "sources": "*",
            "targets": "*"
        },
        "$default": {
            "remoteHosts": "*",
            "maxMessageSize": 1048576,
            "sources": "events.*, inbox.${user}",
            "targetPattern": "inbox.*"
        }
    }
}
"""
    notes = """`aliases` are names with commas between them; no two vhosts have a name in common. A vhost whose
`hostname` is empty is for connections that name no host. No user is named in two groups. `groups` is a map of names
and settings:

| setting of a group | value | default | meaning |
|---|---|---|---|
GROUP_ROWS

* `users` are names with commas between them; `*` is everybody who is named in no group. Users of no group are in
  `$default` where `allowUnknownUser` is true. The group `$connector` is for connections that the router makes.
* `remoteHosts` are addresses, ranges of them, names that are one address each, or `*`. Without it nobody gets in.
* Of `sources` and `sourcePattern`, and of `targets` and `targetPattern`, a group has one; without either it allows
  nothing. The first are names, or beginnings of names that end in `*`; the second are patterns, as of `address`.
  `${user}` is the user; in a pattern it is the first or the last word.
* 0 is no bound for `maxSenders`, `maxReceivers` and `maxMessageSize`, and as the listener has it for the sizes of
  frames, windows and sessions. Limits of connections are as they are: 0 lets nobody in.
* An unknown setting is passed over with a warning. Of words only `true` is yes."""
    change_notes = "A change holds for what begins after it."
    inner_types: ClassVar = {"GROUP_ROWS": VHOST_USER_GROUP_SETTINGS}
    fixed = ("hostname",)
    is_replaced_at_once = True

    def read(self, entity: Entity, reading: Reading) -> VhostSettings:
        """Return what a section says."""
        return _vhost(entity, reading.resolve)

    def compare(self, found: Sequence[tuple[Entity, VhostSettings]], reading: Reading) -> None:
        """Note which names several vhosts have."""
        names = _names(reading)
        for entity, _ in found:
            clash = names.add(entity.values, f"line {entity.line} of {entity.findings.file}")
            # One that has no name at all has been told of.
            if clash is not None and entity.values["hostname"] is not None:
                entity.refuse(clash[0], _invalid(entity.values, clash[1]), "names that no other vhost has")

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return the hostname."""
        return f"vhost/{values['hostname']}"

    def admit(self, identity: str, values: Mapping[str, Any], others: Iterable[Other], reading: Reading) -> None:
        """Refuse names that others have."""
        names = _names(reading)
        for other, of_other in others:
            names.add(of_other, other)
        clash = names.add(values, identity)
        if clash is not None:
            _, reason = clash
            raise PolicyRefused(policy_error(values, reason))

    def apply(self, router: Router, config: VhostSettings) -> None:
        """Hold what begins from now on against the vhost, in the place of one with its name."""
        assert router.policy.gate is not None, "a worker has one"
        router.policy.gate.configure(config)

    def remove(self, router: Router, config: VhostSettings) -> None:
        """Do without the vhost."""
        assert router.policy.gate is not None, "a worker has one"
        router.policy.gate.forget(config.hostname)


def _names(reading: Reading) -> VhostNames:
    return VhostNames(reading.policy.get("enableVhostNamePatterns", False))


def _members(text: str | None) -> tuple[str, ...]:
    return () if text is None else members_of(text, ",")


def _vhost(entity: Entity, resolve: Resolve) -> VhostSettings:
    values = entity.values
    given: Mapping[Any, Any] = values["groups"] or {}
    named = [(str(name), group_settings(entity, str(name), group, resolve)) for name, group in given.items()]
    groups = tuple(group for _, group in named if group is not None)
    if values["allowUnknownUser"] and all(name != DEFAULT_GROUP for name, _ in named):
        reason = f"allowUnknownUser is true and there is no group {DEFAULT_GROUP}"
        entity.refuse("allowUnknownUser", _invalid(entity.values, reason), *_GROUP_ALLOWED)
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
                entity.refuse("groups", _invalid(entity.values, reason), "each user in one group")


def _invalid(values: Mapping[str, Any], reason: str) -> str:
    return f"Policy {shown(values['hostname'])} is invalid: {reason}"


def policy_error(values: Mapping[str, Any], reason: str) -> str:
    """Return the error that a client gets when its vhost is refused."""
    start = _invalid(values, "")
    return f"PolicyError: {reason if reason.startswith(start) else start + reason}"
