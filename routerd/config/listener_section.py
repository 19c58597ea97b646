"""`listener` sections, and what they have in common with `connector` sections."""

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from routerd.config.entities import Entity
from routerd.config.errors import meant_among
from routerd.config.listener import ListenerConfig, Role
from routerd.config.values import PORTS_ALLOWED, URLS_ALLOWED, failover_urls, members_of, port_number
from routerd.core import RouterMode
from routerd.management import ValueRefused, shown

T = TypeVar("T")

MIN_MAX_FRAME_SIZE = 512
MAX_SESSIONS = 32_768
MESSAGE_COMPONENTS = (
    *("message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type", "content-encoding"),
    *("absolute-expiry-time", "creation-time", "group-id", "group-sequence", "reply-to-group-id", "app-properties"),
)
RESERVED_PROPERTIES = ("product", "version", "failover-server-list", "network-host", "port", "scheme", "hostname")
RESERVED_PREFIXES = ("qd.", "x-opt-qd.")

_MECHANISM = re.compile(r"[A-Z0-9_-]{1,20}")
_ROUTER_ROLES = ("inter-router", "edge")
_NO_PORT = -1


def listener_configs(entities: Iterable[Entity], mode: RouterMode) -> tuple[ListenerConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them."""
    listeners: list[ListenerConfig] = []
    at: dict[tuple[str, int], list[tuple[ListenerConfig, int | None]]] = {}
    for entity in entities:
        check_role(entity, mode)
        listener = _listener(entity)
        listeners.append(listener)
        if listener.port != _NO_PORT:
            others = at.setdefault((listener.host, listener.port), [])
            _check_clash(entity, listener, others)
            others.append((listener, entity.line))
    return tuple(listeners)


def check_role(entity: Entity, mode: RouterMode) -> None:
    """Hold a role against the mode of the router (1.8)."""
    role = entity.values["role"]
    is_edge_listener = role == "edge" and entity.type.name == "listener"
    if mode is RouterMode.STANDALONE and role in _ROUTER_ROLES:
        reason = f"role='{mode.value}' not allowed to connect to or accept connections from other routers."
    elif mode is RouterMode.EDGE and (role == "inter-router" or is_edge_listener):
        reason = f"role='{role}' only allowed with router mode='interior'"
    else:
        return
    entity.refuse("role", reason, *(one for one in entity.type.attributes["role"].allowed if one not in _ROUTER_ROLES))


SUPPORTED_MECHANISMS = frozenset({"ANONYMOUS"})
"""Those that listeners offer; others may be named beside them."""


def _listener(entity: Entity) -> ListenerConfig:
    values = entity.values
    strip = values["stripAnnotations"]
    mechanisms = _text_of(
        entity, "saslMechanisms", _mechanisms, ("names of mechanisms with blanks between them",), None
    )
    if mechanisms and not SUPPORTED_MECHANISMS.intersection(mechanisms):
        entity.refuse("saslMechanisms", "none of these mechanisms is supported yet", *sorted(SUPPORTED_MECHANISMS))
    _check_host(entity)
    _check_open_properties(entity)
    return ListenerConfig(
        name=values["name"],
        host=values["host"],
        port=_text_of(entity, "port", port_number, PORTS_ALLOWED, _NO_PORT),
        family=values["socketAddressFamily"],
        role=Role(values["role"]),
        cost=values["cost"],
        max_frame_size=_frame_size(entity),
        max_sessions=min(values["maxSessions"] or MAX_SESSIONS, MAX_SESSIONS),
        session_frames=values["maxSessionFrames"] or None,
        idle_timeout_s=values["idleTimeoutSeconds"],
        handshake_timeout_s=values["initialHandshakeTimeoutSeconds"],
        strip_in=strip in ("in", "both"),
        strip_out=strip in ("out", "both"),
        link_capacity=values["linkCapacity"] or 0,
        sasl_mechanisms=mechanisms or None,
        authenticate_peer=values["authenticatePeer"],
        require_encryption=values["requireEncryption"],
        open_properties=values["openProperties"] or {},
        failover_urls=_text_of(entity, "failoverUrls", failover_urls, URLS_ALLOWED, ()),
        is_multi_tenant=values["multiTenant"],
        dedicated_actor=values["dedicatedActor"],
        message_log_components=_components(entity),
    )


def _text_of(entity: Entity, attribute: str, read: Callable[[str], T], allowed: tuple[str, ...], otherwise: T) -> T:
    """Return what a text says, or something else if it is not given or wrong."""
    text = entity.values[attribute]
    try:
        return otherwise if text is None else read(text)
    except ValueRefused as refused:
        entity.refuse(attribute, str(refused), *allowed)
        return otherwise


def _mechanisms(text: str) -> tuple[str, ...] | None:
    names = tuple(name.upper() for name in members_of(text, " "))
    for name in names:
        if not _MECHANISM.fullmatch(name):
            raise ValueRefused(f"{shown(name)} is no name of a SASL mechanism")
    return names


def _check_host(entity: Entity) -> None:
    host, family = entity.values["host"], entity.values["socketAddressFamily"]
    if any(one.isspace() or not one.isprintable() for one in host):
        entity.refuse("host", "a host has no blanks in its name", "an address", "the name of a host")
    if host.startswith("["):
        entity.refuse("host", "an address stands here without brackets", host.strip("[]"))
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        return
    if family is not None and family != f"IPv{version}":
        entity.refuse("socketAddressFamily", f"host {host} is of the other family", f"IPv{version}")


def _frame_size(entity: Entity) -> int:
    size: int = entity.values["maxFrameSize"]
    if size < MIN_MAX_FRAME_SIZE:
        entity.warn("maxFrameSize", f"{size} is taken as {MIN_MAX_FRAME_SIZE}, the least there is")
    return max(size, MIN_MAX_FRAME_SIZE)


def _components(entity: Entity) -> tuple[str, ...]:
    names = members_of(entity.values["messageLoggingComponents"], ",")
    if names == ("all",):
        return MESSAGE_COMPONENTS
    if names == ("none",):
        return ()
    for name in names:
        if name not in MESSAGE_COMPONENTS:
            meant = meant_among(name, MESSAGE_COMPONENTS)
            reason = f"{shown(name)} is no part of a message"
            entity.refuse("messageLoggingComponents", reason, "all", "none", *MESSAGE_COMPONENTS, meant=meant)
    return names


def _check_open_properties(entity: Entity) -> None:
    properties = entity.values["openProperties"]
    role = entity.values["role"]
    if properties and role in _ROUTER_ROLES:
        entity.refuse("openProperties", f"openProperties not allowed for role {role}", "no such attribute here")
    for key, value in (properties or {}).items():
        if key in RESERVED_PROPERTIES or key.startswith(RESERVED_PREFIXES):
            reason = f"Reserved key {shown(key)} not allowed in openProperties"
            entity.refuse(
                "openProperties", reason, f"keys other than {', '.join(RESERVED_PROPERTIES)}, qd.*, x-opt-qd.*"
            )
        elif not _fits_amqp(value):
            reason = f"the number of key {shown(key)} is too large for AMQP"
            entity.refuse("openProperties", reason, "whole numbers from -2**63 to 2**63 - 1")


def _fits_amqp(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_fits_amqp, value.values()))
    if isinstance(value, list):
        return all(map(_fits_amqp, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _check_clash(entity: Entity, one: ListenerConfig, others: list[tuple[ListenerConfig, int | None]]) -> None:
    """Hold a listener against those with its host and port."""
    for other, line in others:
        if one.name is None and other.name is None:
            reason = (
                f"adding {one.identity} duplicates unique attribute 'identity' from existing listener of line {line}"
            )
            entity.refuse("port", reason, "another port", "a name for each of the two")
        elif one.port and (one.family is None or other.family is None or one.family == other.family):
            reason = f"the listener of line {line} listens on {one.address} already"
            entity.refuse("port", reason, "another port or host")
