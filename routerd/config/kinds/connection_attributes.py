"""What `listener` and `connector` sections have in common: roles, sizes, lists, properties."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from routerd.config.entity import Entity
from routerd.config.errors import ChangeRefused, meant_among
from routerd.config.schema.model import CREATE, ENUM, INTEGER, PROPERTIES, STRING, Attribute
from routerd.config.schema.values import ValueRefused, shown
from routerd.config.values import PORTS_ALLOWED, members_of, port_number
from routerd.core import RouterMode

_UINT_MAX = 0xFFFF_FFFF
ROLES = ("normal", "inter-router", "route-container", "edge")
PORT = "The port's number, or the name of its service."
_COST = "What a message that takes this way to another router is charged."
_SESSION_FRAMES = "Frames that a session may have under way; 0 means no limit, and so does no value."
_LOG_COMPONENTS = "Parts of messages that the log of module MESSAGE has at level trace; `all`, `none`, or some of them."
_STRIP = "Where the router's own annotations are taken from messages: entering, leaving, both or never."
_OPEN_PROPERTIES = "Properties to add to those in the router's open."
FAMILIES = ("IPv4", "IPv6")
_STRIPS = ("in", "out", "both", "no")
_IDLE = "A peer that is silent for so long has its connection closed; 0 is never."

FRAME_SIZE = Attribute(
    "maxFrameSize",
    INTEGER,
    "The largest frame that is accepted; less than 512 is taken as 512.",
    CREATE,
    16384,
    unit="octets",
    least=0,
    most=_UINT_MAX,
)

SESSIONS = Attribute(
    "maxSessions",
    INTEGER,
    "Sessions that a connection may have; 0 and more than 32768 are taken as 32768.",
    CREATE,
    32768,
    least=0,
)

SESSION_FRAMES = Attribute(
    "maxSessionFrames", INTEGER, _SESSION_FRAMES, CREATE, unit="frames", least=0, most=0x7FFF_FFFF
)

IDLE_TIMEOUT = Attribute("idleTimeoutSeconds", INTEGER, _IDLE, CREATE, 16, unit="s", least=0, most=4_294_967)

LINK_CAPACITY = Attribute(
    "linkCapacity",
    INTEGER,
    "Deliveries that a producer may have under way; 0, as if not given, is 250.",
    CREATE,
    unit="deliveries",
    least=0,
    most=0x7FFF_FFFF,
)

COST = Attribute("cost", INTEGER, _COST, CREATE, 1, least=1, most=0x7FFF_FFFF)
STRIP_ANNOTATIONS = Attribute("stripAnnotations", ENUM, _STRIP, CREATE, "both", tags=_STRIPS)

LOG_COMPONENTS = Attribute(
    "messageLoggingComponents", STRING, _LOG_COMPONENTS, CREATE, "none", old_name="logMessage", separator=","
)

OPEN_PROPERTIES = Attribute("openProperties", PROPERTIES, _OPEN_PROPERTIES, CREATE)


class Role(Enum):
    """What connects at a listener."""

    NORMAL = "normal"
    INTER_ROUTER = "inter-router"
    ROUTE_CONTAINER = "route-container"
    EDGE = "edge"


T = TypeVar("T")

MIN_MAX_FRAME_SIZE = 512
MAX_SESSIONS = 32_768
MESSAGE_COMPONENTS = (
    *("message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type", "content-encoding"),
    *("absolute-expiry-time", "creation-time", "group-id", "group-sequence", "reply-to-group-id", "app-properties"),
)
RESERVED_PROPERTIES = ("product", "version", "failover-server-list", "network-host", "port", "scheme", "hostname")
RESERVED_PREFIXES = ("qd.", "x-opt-qd.")

ROUTER_ROLES = ("inter-router", "edge")
"""Those of connections between routers."""
NO_PORT = -1
"""Stands in for a port that is none."""

_MECHANISM = re.compile(r"[A-Z0-9_-]{1,20}")


def check_role(entity: Entity, mode: RouterMode) -> None:
    """Hold a role against the mode of the router (1.8)."""
    role, section = entity.values["role"], entity.type.name
    if _has_role(section, role, mode):
        return
    if mode is RouterMode.STANDALONE:
        reason = f"role='{mode.value}' not allowed to connect to or accept connections from other routers."
    else:
        reason = f"role='{role}' only allowed with router mode='interior'"
    allowed = entity.type.attributes["role"].allowed
    entity.refuse("role", reason, *(one for one in allowed if _has_role(section, one, mode)))


def _has_role(section: str, role: str, mode: RouterMode) -> bool:
    if mode is RouterMode.INTERIOR or role not in ROUTER_ROLES:
        return True
    return mode is RouterMode.EDGE and section == "connector" and role == "edge"


def text_of(entity: Entity, attribute: str, read: Callable[[str], T], allowed: tuple[str, ...], otherwise: T) -> T:
    """Return what a text says, or something else if it is not given or wrong."""
    text = entity.values[attribute]
    try:
        return otherwise if text is None else read(text)
    except ValueRefused as refused:
        entity.refuse(attribute, str(refused), *allowed)
        return otherwise


def port_of(entity: Entity) -> int:
    """Return the number of the port, NO_PORT if there is none."""
    return text_of(entity, "port", port_number, PORTS_ALLOWED, NO_PORT)


def mechanisms_of(entity: Entity) -> tuple[str, ...] | None:
    """Return the SASL mechanisms that are named, in capitals; None if none is."""
    return text_of(entity, "saslMechanisms", _mechanisms, ("names of mechanisms with blanks between them",), None)


def _mechanisms(text: str) -> tuple[str, ...] | None:
    names = tuple(name.upper() for name in members_of(text, " "))
    for name in names:
        if not _MECHANISM.fullmatch(name):
            raise ValueRefused(f"{shown(name)} is not the name of a SASL mechanism")
    return names or None


def check_host(entity: Entity, family_attribute: str) -> None:
    """Hold the host against what there is, and against the family of addresses if one is given."""
    host, family = entity.values["host"], entity.values[family_attribute]
    if any(one.isspace() or not one.isprintable() for one in host):
        entity.refuse("host", "the name of the host contains a blank", "an address", "the name of a host")
    if host.startswith("["):
        entity.refuse("host", "an address stands here without brackets", host.strip("[]"))
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        return
    if family is not None and family != f"IPv{version}":
        entity.refuse(family_attribute, f"host {host} is of the other family", f"IPv{version}")


def session_limit(entity: Entity) -> int:
    """Return how many sessions a connection may have."""
    return min(entity.values["maxSessions"] or MAX_SESSIONS, MAX_SESSIONS)


def frame_size(entity: Entity) -> int:
    """Return the largest frame that is accepted."""
    size: int = entity.values["maxFrameSize"]
    if size < MIN_MAX_FRAME_SIZE:
        entity.warn("maxFrameSize", f"{size} is taken as {MIN_MAX_FRAME_SIZE}, the least there is")
    return max(size, MIN_MAX_FRAME_SIZE)


def logged_parts(entity: Entity) -> tuple[str, ...]:
    """Return which parts of messages are logged."""
    names = members_of(entity.values["messageLoggingComponents"], ",")
    if names == ("all",):
        return MESSAGE_COMPONENTS
    if names == ("none",):
        return ()
    for name in names:
        if name not in MESSAGE_COMPONENTS:
            meant = meant_among(name, MESSAGE_COMPONENTS)
            reason = f"{shown(name)} is not a part of a message"
            entity.refuse("messageLoggingComponents", reason, "all", "none", *MESSAGE_COMPONENTS, meant=meant)
    return names


def check_open_properties(entity: Entity) -> None:
    """Hold the properties against those that the router has itself, and against AMQP."""
    properties = entity.values["openProperties"]
    role = entity.values["role"]
    if properties and role in ROUTER_ROLES:
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


def identity_by_place(section: str, values: Mapping[str, Any], name: str | None) -> str:
    """Return what management calls a listener or connector."""
    host_and_port = f"{section}/{values['host']}:{values['port']}"
    return f"{host_and_port}:{name}" if name else host_and_port


def check_no_own_actor(section: str, values: Mapping[str, Any]) -> None:
    """Refuse one that comes at run time and takes another connection actor; raises ChangeRefused."""
    if values["dedicatedActor"]:
        raise ChangeRefused(f"a {section} with an actor of its own can only be in the configuration file")
