"""The members of `groups` of a `vhost`: what the users of each may do (10.2 to 10.4)."""

from collections.abc import Mapping
from typing import Any

from routerd.config.entity import Entity
from routerd.config.remote_hosts import HOSTS_ALLOWED, Resolve, host_range
from routerd.config.schema.attributes import limit
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, STRING, Attribute, EntityType, Purpose, ValueType
from routerd.config.schema.values import ValueRefused, convert, shown
from routerd.config.values import members_of
from routerd.core import CONNECTOR_GROUP, GroupSettings, HostRange, InvalidPattern, PatternTree, is_pattern_of_user

_MANY = 2_147_483_647

VHOST_USER_GROUP_SETTINGS = EntityType(
    name="vhostUserGroupSettings",
    description="What each member of `groups` of a `vhost` has; it has no section of its own.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="vhostUserGroupSettings",
    is_configurable=False,
    own_attributes=(
        Attribute("users", STRING, "The users of the group.", is_required=True, separator=","),
        Attribute("remoteHosts", STRING, "The hosts that they may connect from.", is_required=True, separator=","),
        limit("maxConnectionsPerUser", "Connections of one user at a time."),
        limit("maxConnectionsPerHost", "Connections from one host at a time."),
        limit("maxMessageSize", "The largest message.", unit="octets"),
        limit("maxFrameSize", "The largest frame.", CREATE, unit="octets"),
        limit("maxSessionWindow", "What a session may have under way.", CREATE, unit="octets"),
        limit("maxSessions", "Sessions of a connection.", CREATE),
        limit("maxSenders", "Links of a connection that send.", CREATE, _MANY),
        limit("maxReceivers", "Links of a connection that receive.", CREATE, _MANY),
        Attribute("allowDynamicSource", BOOLEAN, "Whether addresses may be made up by the router.", CREATE, False),
        Attribute("allowAnonymousSender", BOOLEAN, "Whether a sender may do without an address.", CREATE, False),
        Attribute("allowUserIdProxy", BOOLEAN, "Whether messages may be in the name of other users.", CREATE, False),
        Attribute("allowWaypointLinks", BOOLEAN, "Whether links may be those of a waypoint.", CREATE, True),
        Attribute("allowDynamicLinkRoutes", BOOLEAN, "Whether link routes may be made while connected.", CREATE, True),
        Attribute("allowAdminStatusUpdate", BOOLEAN, "Whether connections may be closed by management.", CREATE, True),
        Attribute(
            "allowManagementChanges",
            BOOLEAN,
            "Whether requests to management may create, update and delete.",
            CREATE,
            True,
        ),
        Attribute("allowFallbackLinks", BOOLEAN, "Whether links may be those of a fallback destination.", CREATE, True),
        Attribute("sources", STRING, "The addresses that may be received from.", CREATE, separator=","),
        Attribute("targets", STRING, "The addresses that may be sent to.", CREATE, separator=","),
        Attribute("sourcePattern", STRING, "Patterns of addresses that may be received from.", CREATE, separator=","),
        Attribute("targetPattern", STRING, "Patterns of addresses that may be sent to.", CREATE, separator=","),
    ),
)

_INHERITED = ("name", "identity", "type")
_NUMBER_MAX = 0xFFFFFFFF
_PATTERNS_ALLOWED = ("patterns with commas between them; ${user} is the first or the last word of one",)


def group_settings(entity: Entity, name: str, given: object, resolve: Resolve) -> GroupSettings | None:
    """Return what a group says; what is wrong with it is noted at its vhost."""
    return _Group(entity, name, resolve).settings(given)


class _Group:
    def __init__(self, entity: Entity, name: str, resolve: Resolve) -> None:
        self._entity = entity
        self._name = name
        self._resolve = resolve
        self._hostname = entity.values["hostname"]

    def settings(self, given: object) -> GroupSettings | None:
        if not isinstance(given, Mapping):
            self._refuse("is not a map", "a map")
            return None
        values = self._values(given)
        self._check_conflicts(values)
        is_connector = self._name == CONNECTOR_GROUP
        hosts = () if is_connector else self._list(values, "remoteHosts")
        return GroupSettings(
            name=self._name,
            users=self._list(values, "users"),
            from_any_host="*" in hosts,
            remote_hosts=self._hosts(hosts),
            max_connections_per_user=values["maxConnectionsPerUser"],
            max_connections_per_host=values["maxConnectionsPerHost"],
            max_message_size=values["maxMessageSize"],
            max_frame_size=values["maxFrameSize"] or 0,
            max_session_window=values["maxSessionWindow"] or 0,
            max_sessions=values["maxSessions"] or 0,
            max_senders=values["maxSenders"],
            max_receivers=values["maxReceivers"],
            allows_dynamic_source=values["allowDynamicSource"],
            allows_anonymous_sender=values["allowAnonymousSender"],
            allows_user_id_proxy=values["allowUserIdProxy"],
            allows_waypoint_links=values["allowWaypointLinks"],
            allows_fallback_links=values["allowFallbackLinks"],
            allows_dynamic_link_routes=values["allowDynamicLinkRoutes"],
            allows_admin_status_update=values["allowAdminStatusUpdate"],
            allows_management_changes=values["allowManagementChanges"],
            sources=self._list(values, "sources"),
            targets=self._list(values, "targets"),
            source_patterns=self._patterns(values, "sourcePattern"),
            target_patterns=self._patterns(values, "targetPattern"),
        )

    def _refuse(self, reason: str, *allowed: str) -> None:
        start = f"Policy vhost {shown(self._hostname)} user group {shown(self._name)}"
        self._entity.refuse("groups", f"{start} {reason}", *allowed)

    def _values(self, given: Mapping[Any, Any]) -> dict[str, Any]:
        attributes = {name: one for name, one in VHOST_USER_GROUP_SETTINGS.attributes.items() if name not in _INHERITED}
        values: dict[str, Any] = {name: one.default for name, one in attributes.items()}
        for name, value in given.items():
            attribute = attributes.get(name) if isinstance(name, str) else None
            if attribute is None:
                text = f"Policy vhost {shown(self._hostname)} user group {shown(self._name)} option {shown(name)}"
                self._entity.warn("groups", f"{text} is ignored.")
            elif value is not None:
                values[attribute.name] = self._value(attribute, value)
        return values

    def _value(self, attribute: Attribute, value: object) -> object:
        if attribute.type is ValueType.BOOLEAN:
            # As it always was: other words, `yes` among them, mean no.
            return value if isinstance(value, bool) else value == "true"
        try:
            found = convert(attribute, value)
            if attribute.type is ValueType.INTEGER and found > _NUMBER_MAX:
                raise ValueRefused(f"{shown(found)} is too large")
        except ValueRefused as refused:
            self._refuse(f"option '{attribute.name}': {refused}", *attribute.allowed)
            return attribute.default
        return found

    def _list(self, values: Mapping[str, Any], attribute: str) -> tuple[str, ...]:
        text: str | None = values[attribute]
        return () if text is None else members_of(text, ",")

    def _check_conflicts(self, values: Mapping[str, Any]) -> None:
        for names, patterns in (("sources", "sourcePattern"), ("targets", "targetPattern")):
            if values[names] is not None and values[patterns] is not None:
                self._refuse(f"specifies conflicting '{names}' and '{patterns}' attributes", "one of them")

    def _hosts(self, hosts: tuple[str, ...]) -> tuple[HostRange, ...]:
        found = []
        for host in hosts:
            if host == "*":
                continue
            try:
                found.append(host_range(host, self._resolve))
            except ValueRefused as refused:
                self._refuse(f"option 'remoteHosts': {refused}", *HOSTS_ALLOWED)
        return tuple(found)

    def _patterns(self, values: Mapping[str, Any], attribute: str) -> tuple[str, ...]:
        patterns = self._list(values, attribute)
        for pattern in patterns:
            try:
                PatternTree[None]().add(pattern, None)
                if is_pattern_of_user(pattern):
                    continue
                reason = "has ${user} where it means nothing"
            except InvalidPattern as error:
                reason = error.reason
            self._refuse(f"option '{attribute}': {shown(pattern)} {reason}", *_PATTERNS_ALLOWED)
        return patterns
