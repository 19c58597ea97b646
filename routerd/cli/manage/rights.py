"""The rights that policy gives to send to an address, and to receive from it, from what a router's management tells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routerd.cli.manage.node import Entity
from routerd.core.policy import NameRules, PatternRules

_USER = "${user}"
_EVERYBODY, _DEFAULT, _CONNECTOR = "*", "$default", "$connector"
_ANONYMOUS = "anonymous"
_NO_USER = "\0"
"""No user has this name, so that only rules for all users allow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """The rights of one group of a virtual host; None depends on the user."""

    vhost: str
    group: str
    may_send: bool | None
    may_receive: bool | None
    is_asker: bool = False
    """Whether the connection that asks belongs to this group."""


@dataclass(frozen=True, slots=True)
class Membership:
    """The user, the virtual host and the group of a connection."""

    user: str
    vhost: str
    group: str | None


def membership(
    asker: str | None, connections: Iterable[Entity], vhost_stats: Iterable[Entity], vhosts: Iterable[Entity]
) -> Membership | None:
    """Return the membership of the connection that asks; None if it is at another router, or has no virtual host.

    `asker` is its container-id.
    """
    row = next((one for one in connections if asker is not None and one.get("container") == asker), None)
    if row is None:
        return None
    user = str(row.get("user") or _ANONYMOUS)
    names = [one.get("hostname") for one in vhost_stats if row.get("host") in _connections_of(one, user)]
    found = next((one for one in vhosts if one.get("hostname") in names), None)
    return None if found is None else Membership(user, str(found.get("hostname")), _group_of(found, user))


def _connections_of(stats: Entity, user: str) -> Sequence[Any]:
    return (stats.get("perUserState") or {}).get(user) or ()


def _group_of(vhost: Entity, user: str) -> str | None:
    groups = [(str(name), settings) for name, settings in _groups(vhost) if name != _CONNECTOR]
    for wanted in (user, _EVERYBODY):
        for name, settings in groups:
            if wanted in _items(settings.get("users")):
                return name
    return _DEFAULT if vhost.get("allowUnknownUser") and any(name == _DEFAULT for name, _ in groups) else None


def rights(address: str, vhosts: Sequence[Entity], asker: Membership | None) -> list[Right]:
    """Return the rights of all groups of clients."""
    found = []
    for vhost in vhosts:
        hostname = str(vhost.get("hostname"))
        for group, settings in _groups(vhost):
            if group != _CONNECTOR:
                is_asker = asker is not None and (asker.vhost, asker.group) == (hostname, group)
                user = asker.user if asker is not None and is_asker else None
                found.append(
                    Right(
                        vhost=hostname,
                        group=str(group),
                        may_send=_allows(address, settings, ("targets", "targetPattern"), user),
                        may_receive=_allows(address, settings, ("sources", "sourcePattern"), user),
                        is_asker=is_asker,
                    )
                )
    return found


def _allows(
    address: str, settings: Mapping[str, Any], attributes: tuple[str, str], user: str | None
) -> bool | None:
    names, patterns = (_items(settings.get(one)) for one in attributes)
    rules = PatternRules(patterns) if patterns else NameRules(names)
    if rules.allow(address, user or _NO_USER):
        return True
    return None if user is None and any(_USER in item for item in patterns or names) else False


def _groups(vhost: Entity) -> Iterable[tuple[Any, Mapping[str, Any]]]:
    return [one for one in (vhost.get("groups") or {}).items() if isinstance(one[1], Mapping)]


def _items(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value or ()
    return [str(part).strip() for part in parts if str(part).strip()]
