"""`connector`: a peer that the router connects to by itself."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from routerd.config.configurable import Configurable, Other, Reading
from routerd.config.entity import Entity
from routerd.config.errors import ChangeRefused
from routerd.config.kinds.connection_attributes import (
    COST,
    FAMILIES,
    FRAME_SIZE,
    IDLE_TIMEOUT,
    LINK_CAPACITY,
    LOG_COMPONENTS,
    NO_PORT,
    OPEN_PROPERTIES,
    PORT,
    ROLES,
    SESSION_FRAMES,
    SESSIONS,
    STRIP_ANNOTATIONS,
    Role,
    check_host,
    check_no_own_actor,
    check_open_properties,
    check_role,
    frame_size,
    identity_by_place,
    logged_parts,
    mechanisms_of,
    port_of,
    session_limit,
)
from routerd.config.passwords import FILE, PASSWORDS_ALLOWED, is_plain, password_of
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, ENUM, STRING, Attribute, EntityType, Purpose
from routerd.config.schema.values import ValueRefused
from routerd.core import RouterMode
from routerd.wire.sasl import SCRAM_MECHANISMS

INTER_ROUTER_MAX = 128
"""Connections of role inter-router that a router may have, including incoming ones."""

CONNECTOR = EntityType(
    name="connector",
    description="A peer that the router connects to by itself, and again when the connection is lost.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="connector",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    own_attributes=(
        Attribute("host", STRING, "The address or host name to connect to.", CREATE, "127.0.0.1"),
        Attribute("port", STRING, PORT, CREATE, "amqp"),
        Attribute("protocolFamily", ENUM, "The only family of addresses to use.", CREATE, tags=FAMILIES),
        Attribute(
            "role",
            ENUM,
            "What is connected to: a client or broker, another router, a container that links are routed to,"
            " a router of the network that an edge router belongs to.",
            CREATE,
            "normal",
            tags=ROLES,
        ),
        COST,
        Attribute("sslProfile", STRING, "The name of the `sslProfile` that TLS is used with.", CREATE),
        Attribute(
            "saslMechanisms",
            STRING,
            "The SASL mechanisms that may be used, the best first; all there are when not given.",
            CREATE,
            separator=" ",
        ),
        Attribute("allowRedirect", BOOLEAN, "Whether the peer may name a container to go to instead.", CREATE, True),
        FRAME_SIZE,
        SESSIONS,
        SESSION_FRAMES,
        IDLE_TIMEOUT,
        STRIP_ANNOTATIONS,
        LINK_CAPACITY,
        Attribute(
            "verifyHostname",
            BOOLEAN,
            "Whether the certificate must name the host.",
            CREATE,
            True,
            old_name="verifyHostName",
        ),
        Attribute("saslUsername", STRING, "Who the router is to the peer.", CREATE),
        Attribute(
            "saslPassword", STRING, "Its password, or `env:NAME`, `file:PATH` or `pass:TEXT`.", CREATE, is_hidden=True
        ),
        LOG_COMPONENTS,
        Attribute(
            "failoverUrls",
            STRING,
            "Where the peer said that it can be reached as well, the next one to try first.",
            old_name="failoverList",
            separator=",",
        ),
        Attribute(
            "connectionStatus",
            STRING,
            "How the connection fares: `INITIALIZING`, `CONNECTING`, also between attempts, or `SUCCESS`.",
        ),
        Attribute("connectionMsg", STRING, "What was last said of the connection."),
        Attribute(
            "policyVhost",
            STRING,
            "The virtual host whose policy holds for the connection.",
            CREATE,
        ),
        OPEN_PROPERTIES,
        Attribute(
            "dedicatedActor",
            BOOLEAN,
            "Whether a connection actor serves this connector and nothing else.",
            CREATE,
            False,
        ),
        Attribute(
            "websockets",
            BOOLEAN,
            "Whether AMQP goes over WebSocket: `ws`, or `wss` with an `sslProfile`.",
            CREATE,
            False,
        ),
        Attribute("webSocketPath", STRING, "With `websockets`: the path to ask for, and a query.", CREATE, "/"),
    ),
)
"""`dedicatedActor`, `websockets` and `webSocketPath` are Mobula's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorConfig:
    """A peer to connect to, again and again, and the settings of the connection."""

    host: str
    port: int
    """Never 0."""
    given_port: str | None = None
    """The port as written, if it is the name of a service."""
    name: str | None = None
    family: str | None = None
    """`IPv4` or `IPv6`; None is both."""
    role: Role = Role.NORMAL
    cost: int = 1
    max_frame_size: int = 16_384
    """Largest frame that is accepted, in octets; at least 512."""
    max_sessions: int = 32_768
    session_frames: int | None = None
    """Frames that a session may have on their way to us; None is the router's default."""
    idle_timeout_s: int = 16
    """A peer that is silent for longer counts as lost; 0 is never."""
    strip_in: bool = True
    """The router's annotations are taken from messages that enter."""
    strip_out: bool = True
    """The router's annotations are taken from messages that leave."""
    link_capacity: int = 0
    """Deliveries that a producer may have under way; 0 is the router's default."""
    sasl_mechanisms: tuple[str, ...] | None = None
    """The allowed mechanisms; the router may not know some of them. None allows all of them."""
    sasl_username: str | None = None
    """The user that the router logs in as."""
    sasl_password: str | None = field(default=None, repr=False)
    """As it is sent."""
    ssl_profile: str | None = None
    """The name of the profile for TLS; None is no TLS."""
    verify_hostname: bool = True
    """The peer's certificate has to be for the host."""
    allow_redirect: bool = True
    """The peer may name another container for reconnections."""
    open_properties: Mapping[str, object] = field(default_factory=dict)
    policy_vhost: str | None = None
    """The vhost whose policy applies, by its group `$connector`."""
    dedicated_actor: bool = False
    """A connection actor serves this connector and nothing else."""
    message_log_components: tuple[str, ...] = ()
    """The parts of messages that the log of module MESSAGE has."""
    websockets: bool = False
    """AMQP goes over WebSocket."""
    websocket_path: str = "/"
    """The path of the request for a WebSocket, perhaps with a query."""

    @property
    def address(self) -> str:
        """Host and port as they were configured."""
        return f"{self.host}:{self.given_port or self.port}"

    @property
    def identity(self) -> str:
        """The connector's identity in management (4.1)."""
        return f"connector/{self.address}:{self.name}" if self.name else f"connector/{self.address}"


_PATH = re.compile("/[!-~]{0,1023}")
"""Characters that a head may have; others are written with `%`."""
_TOO_MANY = f"a router has at most {INTER_ROUTER_MAX} connections with role='inter-router'"
MECHANISMS_WITH_PASSWORD = (*SCRAM_MECHANISMS, "PLAIN")
GSSAPI = "GSSAPI"
USABLE_MECHANISMS = ("EXTERNAL", GSSAPI, *MECHANISMS_WITH_PASSWORD, "ANONYMOUS")
"""The mechanisms that connectors can use; others may be named beside them."""


class ConnectorKind(Configurable[ConnectorConfig]):
    """The router's own connections."""

    type = CONNECTOR
    example = """router {
    id: Router.A
    mode: interior
}
# For other routers, which have such connectors.
listener {
    port: 20672
    role: inter-router
}
# To another router, which has such a listener.
connector {
    name: north
    host: north.example.com
    port: 20672
    role: inter-router
    cost: 10
}
# To a server that sends and receives messages.
connector {
    host: server.example.com
    port: amqp
    saslMechanisms: ANONYMOUS
}
"""
    notes = f"""A connector without a name is known by host and port; no two have the same name, or none and the
same host and port. Several with names may lead to one place. The router connects again and again, for as long as the
connector is there.

What `role` can be depends on the `mode` of the router:

| mode | roles of listeners | roles of connectors |
|---|---|---|
| `standalone` | `normal`, `route-container` | `normal`, `route-container` |
| `interior` | `normal`, `inter-router`, `route-container`, `edge` | `normal`, `inter-router`, `route-container` |
| `edge` | `normal`, `route-container` | `normal`, `route-container`, `edge` |

Both ends of a connection between routers have the same role. A router has at most {INTER_ROUTER_MAX} connections with
role `inter-router`. `cost` counts for these; of the costs of both ends the higher one does.

`saslMechanisms` are names with blanks between them. Of {", ".join(f"`{one}`" for one in USABLE_MECHANISMS)} at least
one is among them; others are passed over. `PLAIN` needs `saslUsername` and `saslPassword`; for `GSSAPI`, `saslUsername`
says whose ticket it is. A password is written as

* `env:NAME`, to be found in a variable of the environment,
* `file:PATH`, to be found in the first line of a file,
* `pass:TEXT`, or as it is, with a warning.

It is looked for once, when the file is read. `openProperties` and `messageLoggingComponents` are as for listeners.

With `websockets: yes` AMQP goes over WebSocket, to a listener with `http: yes` or to a proxy before one. Hosts that
such a peer names as well are not connected to."""
    change_notes = (
        "Its connection is closed when it goes. It has no `dedicatedActor`. Its password is the password itself,"
        " `pass:TEXT`, or `file:PATH` of a file in `managementFileDir`, which is read once."
    )
    references: ClassVar = {"sslProfile": "sslProfile"}
    passwords = ("saslPassword",)
    lets_in = True

    def read(self, entity: Entity, reading: Reading) -> ConnectorConfig:
        """Return the configuration of a section."""
        check_role(entity, reading.mode)
        connector = _connector(entity, reading.environment)
        if connector.role is Role.EDGE and reading.mode is RouterMode.INTERIOR:
            entity.warn("role", "only a router with mode='edge' makes use of such a connection")
        return connector

    def compare(self, found: Sequence[tuple[Entity, ConnectorConfig]], reading: Reading) -> None:
        """Note which connectors are too many, or exist already."""
        lines: dict[str, int | None] = {}
        to_routers = 0
        for entity, connector in found:
            to_routers += connector.role is Role.INTER_ROUTER
            if connector.role is Role.INTER_ROUTER and to_routers > INTER_ROUTER_MAX:
                entity.refuse("role", _TOO_MANY, "fewer connectors")
            if connector.port != NO_PORT and connector.identity in lines:
                existing = f"existing connector of line {lines[connector.identity]}"
                reason = f"adding {connector.identity} duplicates unique attribute 'identity' from {existing}"
                entity.refuse("port", reason, "another host or port", "a name for each of the two")
            lines.setdefault(connector.identity, entity.line)

    def settled(self, values: Mapping[str, Any], config: ConnectorConfig) -> dict[str, Any]:
        """Return the values with the password itself, not with a reference to it."""
        password = config.sasl_password
        return {**values, "saslPassword": None if password is None else f"pass:{password}"}

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return host, port and name."""
        return identity_by_place(self.section, values, name)

    def admit(self, identity: str, values: Mapping[str, Any], others: Iterable[Other], reading: Reading) -> None:
        """Refuse a connector that takes another process, and one to a router too many."""
        check_no_own_actor(self.section, values)
        to_routers = sum(one["role"] == Role.INTER_ROUTER.value for _, one in others)
        if values["role"] == Role.INTER_ROUTER.value and to_routers >= INTER_ROUTER_MAX:
            raise ChangeRefused(_TOO_MANY)


def _path(entity: Entity) -> str:
    path: str = entity.values["webSocketPath"]
    if not _PATH.fullmatch(path):
        entity.refuse("webSocketPath", "a path begins with / and has no blanks", "/", "/amqp")
    if path != "/" and not entity.values["websockets"]:
        entity.warn("webSocketPath", "it is of use with websockets: yes only")
    return path


def _connector(entity: Entity, environment: Mapping[str, str]) -> ConnectorConfig:
    values = entity.values
    strip = values["stripAnnotations"]
    port = port_of(entity)
    if port == 0:
        entity.refuse("port", "0 is not a port to connect to", "1 to 65535", "the name of a service")
    if not values["host"]:
        entity.refuse("host", "is empty", "an address", "the name of a host")
    check_host(entity, "protocolFamily")
    check_open_properties(entity)
    password = _password(entity, environment)
    mechanisms = _mechanisms(entity)
    _check_credentials(entity, mechanisms)
    return ConnectorConfig(
        name=values["name"],
        host=values["host"],
        port=port,
        given_port=None if values["port"] == str(port) else values["port"],
        family=values["protocolFamily"],
        role=Role(values["role"]),
        cost=values["cost"],
        max_frame_size=frame_size(entity),
        max_sessions=session_limit(entity),
        session_frames=values["maxSessionFrames"] or None,
        idle_timeout_s=values["idleTimeoutSeconds"],
        strip_in=strip in ("in", "both"),
        strip_out=strip in ("out", "both"),
        link_capacity=values["linkCapacity"] or 0,
        sasl_mechanisms=mechanisms,
        sasl_username=values["saslUsername"],
        sasl_password=password,
        ssl_profile=values["sslProfile"],
        verify_hostname=values["verifyHostname"],
        allow_redirect=values["allowRedirect"],
        open_properties=values["openProperties"] or {},
        policy_vhost=values["policyVhost"],
        dedicated_actor=values["dedicatedActor"],
        message_log_components=logged_parts(entity),
        websockets=values["websockets"],
        websocket_path=_path(entity),
    )


def _password(entity: Entity, environment: Mapping[str, str]) -> str | None:
    text = entity.values["saslPassword"]
    if text is None:
        return None
    if is_plain(text):
        entity.warn("saslPassword", "It is unsafe to provide plain text passwords in the config file")
    try:
        return password_of(text, environment)
    except ValueRefused as refused:
        object_to = entity.tolerate if text.startswith(FILE) else entity.refuse
        object_to("saslPassword", str(refused), *PASSWORDS_ALLOWED)
        return None


def _check_credentials(entity: Entity, mechanisms: tuple[str, ...] | None) -> None:
    for given, missing in (("saslUsername", "saslPassword"), ("saslPassword", "saslUsername")):
        if given == "saslUsername" and GSSAPI in (mechanisms or ()):
            # It is the name of the ticket's owner.
            continue
        if entity.values[given] is not None and entity.values[missing] is None:
            entity.warn(given, f"is of no use without '{missing}'")


def _mechanisms(entity: Entity) -> tuple[str, ...] | None:
    names = mechanisms_of(entity)
    if names is None:
        return None
    usable = [one for one in names if one in USABLE_MECHANISMS]
    if not usable:
        entity.refuse("saslMechanisms", "none of these mechanisms is supported", *USABLE_MECHANISMS)
    elif set(usable) <= set(MECHANISMS_WITH_PASSWORD) and None in (
        entity.values["saslUsername"],
        entity.values["saslPassword"],
    ):
        reason = f"{usable[0]} needs 'saslUsername' and 'saslPassword'"
        entity.refuse("saslMechanisms", reason, "both of them", "ANONYMOUS")
    return names
