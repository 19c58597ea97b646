"""`listener`: a port for clients, brokers and other routers."""

import ipaddress
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

from routerd.config.configurable import Configurable, Other, Reading
from routerd.config.entity import Entity
from routerd.config.errors import meant_among
from routerd.config.kinds.connection_attributes import (
    COST,
    FAMILIES,
    FRAME_SIZE,
    IDLE_TIMEOUT,
    LINK_CAPACITY,
    LOG_COMPONENTS,
    MESSAGE_COMPONENTS,
    NO_PORT,
    OPEN_PROPERTIES,
    PORT,
    RESERVED_PREFIXES,
    RESERVED_PROPERTIES,
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
    text_of,
)
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, ENUM, INTEGER, PATH, STRING, Attribute, EntityType, Purpose
from routerd.config.schema.values import ValueRefused
from routerd.config.values import URLS_ALLOWED, FailoverUrl, failover_urls
from routerd.wire.sasl import SCRAM_MECHANISMS

LISTENER = EntityType(
    name="listener",
    description="An address and port where clients, brokers and other routers connect.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="listener",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    own_attributes=(
        Attribute("host", STRING, "The address or host name to listen on; all addresses when empty.", CREATE, ""),
        Attribute("port", STRING, f"{PORT} 0 is any free one.", CREATE, "amqp"),
        Attribute(
            "socketAddressFamily",
            ENUM,
            "The only family of addresses to listen on; both when not given.",
            CREATE,
            tags=FAMILIES,
            old_name="protocolFamily",
        ),
        Attribute(
            "role",
            ENUM,
            "What connects here: clients, other routers, containers that links are routed to, edge routers.",
            CREATE,
            "normal",
            tags=ROLES,
        ),
        COST,
        Attribute("sslProfile", STRING, "The name of the `sslProfile` that makes this a TLS port.", CREATE),
        Attribute(
            "saslMechanisms",
            STRING,
            "The SASL mechanisms that are offered; all there are when not given.",
            CREATE,
            separator=" ",
        ),
        Attribute(
            "authenticatePeer",
            BOOLEAN,
            "Whether a peer must say who it is, with proof.",
            CREATE,
            False,
        ),
        Attribute(
            "saslPlugin",
            STRING,
            "The name of the `authServicePlugin` that is asked who a peer is.",
            CREATE,
        ),
        Attribute(
            "requireEncryption", BOOLEAN, "Whether a connection must be encrypted.", CREATE, False
        ),
        Attribute(
            "requireSsl",
            BOOLEAN,
            "Whether a connection must use TLS, rather than may.",
            CREATE,
            False,
        ),
        Attribute(
            "trustedCertsFile",
            PATH,
            "Who may sign the certificates of clients at this listener, if not all whom the `sslProfile` trusts.",
            CREATE,
            is_deprecated=True,
            old_name="trustedCerts",
        ),
        FRAME_SIZE,
        SESSIONS,
        SESSION_FRAMES,
        IDLE_TIMEOUT,
        Attribute(
            "initialHandshakeTimeoutSeconds",
            INTEGER,
            "A peer that has not opened after so long is cut off; 0 is 60 s.",
            CREATE,
            0,
            unit="s",
            least=0,
            most=4_294_967,
        ),
        STRIP_ANNOTATIONS,
        LINK_CAPACITY,
        Attribute(
            "multiTenant",
            BOOLEAN,
            "Whether the clients of each virtual host have addresses of their own.",
            CREATE,
            False,
        ),
        Attribute(
            "failoverUrls",
            STRING,
            "Where clients can connect instead, as `[scheme://]host[:port]`.",
            CREATE,
            old_name="failoverList",
            separator=",",
        ),
        Attribute(
            "healthz",
            BOOLEAN,
            "With `http`: whether `/healthz`, `/livez`, `/readyz` and `/startupz` answer.",
            CREATE,
            True,
        ),
        Attribute("metrics", BOOLEAN, "With `http`: whether `/metrics` answers.", CREATE, True),
        Attribute("websockets", BOOLEAN, "With `http`: whether AMQP over WebSocket is taken.", CREATE, True),
        Attribute(
            "http", BOOLEAN, "Whether HTTP and AMQP over WebSocket are taken here, and no plain AMQP.", CREATE, False
        ),
        Attribute(
            "httpRootDir",
            PATH,
            "The folder with the files to serve over HTTP, in the place of the console; it implies `http`.",
            CREATE,
            old_name="httpRoot",
        ),
        LOG_COMPONENTS,
        Attribute(
            "policyVhost",
            STRING,
            "The virtual host whose policy holds here, whatever a client asks for.",
            CREATE,
        ),
        OPEN_PROPERTIES,
        Attribute(
            "dedicatedActor",
            BOOLEAN,
            "Whether a connection actor serves this listener and nothing else.",
            CREATE,
            False,
        ),
        Attribute(
            "maxLinks",
            INTEGER,
            "Links that a connection may have; 0 means no limit. Default: 10000 for clients, no limit for routers.",
            CREATE,
            least=0,
            most=0x7FFF_FFFF,
        ),
        Attribute(
            "webSocketOrigins",
            STRING,
            "With `http`: the origins of pages that may connect besides the pages served here; `*` is all.",
            CREATE,
            separator=",",
        ),
    ),
)
"""`dedicatedActor`, `maxLinks` and `webSocketOrigins` are Mobula's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerConfig:
    """A port to listen on, and the settings of its connections."""

    host: str
    """Empty for all addresses."""
    port: int
    """0 for any free one."""
    name: str | None = None
    family: str | None = None
    """`IPv4` or `IPv6`; None is both."""
    role: Role = Role.NORMAL
    cost: int = 1
    max_frame_size: int = 16_384
    """Largest frame that is accepted, in octets; at least 512."""
    max_sessions: int = 32_768
    max_links: int | None = None
    """Links that a connection may have; 0 is no bound, and None is the router's default for its role."""
    session_frames: int | None = None
    """Frames that a session may have on their way to us; None is the router's default."""
    idle_timeout_s: int = 16
    """A peer that is silent for longer counts as lost; 0 is never."""
    handshake_timeout_s: int = 0
    """A peer that does not open within this time is cut off; 0 is 60 s."""
    strip_in: bool = True
    """The router's annotations are taken from messages that enter."""
    strip_out: bool = True
    """The router's annotations are taken from messages that leave."""
    link_capacity: int = 0
    """Deliveries that a producer may have under way; 0 is the router's default."""
    sasl_mechanisms: tuple[str, ...] | None = None
    """None allows all of them."""
    authenticate_peer: bool = False
    """A peer has to authenticate: one that leaves SASL out, or uses ANONYMOUS, is refused."""
    sasl_plugin: str | None = None
    """The name of the service that authenticates peers."""
    require_encryption: bool = False
    ssl_profile: str | None = None
    """The name of the profile that makes this a TLS port."""
    require_ssl: bool = False
    """Whether a connection must use TLS, or may; only with a profile."""
    trusted_file: str | None = None
    """The authorities for certificates of clients, in place of those of the profile."""
    open_properties: Mapping[str, object] = field(default_factory=dict)
    policy_vhost: str | None = None
    """The vhost whose policy applies, whatever a client asks for."""
    failover_urls: tuple[FailoverUrl, ...] = ()
    is_multi_tenant: bool = False
    dedicated_actor: bool = False
    """A connection actor serves this listener and nothing else."""
    takes_http: bool = False
    """HTTP and AMQP over WebSocket are spoken, and no plain AMQP."""
    http_root: str | None = None
    """The folder with the files that are served."""
    healthz: bool = True
    metrics: bool = True
    websockets: bool = True
    websocket_origins: tuple[str, ...] = ()
    """The origins of pages that may connect, in small letters, besides those of this listener; `*` is all."""
    message_log_components: tuple[str, ...] = ()
    """The parts of messages that the log of module MESSAGE has."""

    @property
    def address(self) -> str:
        """Host and port as they were configured, for people."""
        return f"{self.host}:{self.port}"

    @property
    def serves_console(self) -> bool:
        """Whether the console is at `/`; without WebSocket it could not reach the router."""
        return self.takes_http and self.websockets and self.http_root is None

    @property
    def is_open_to_all(self) -> bool:
        """Whether other hosts can connect without authentication."""
        return not self.authenticate_peer and not _is_this_host(self.host)

    @property
    def identity(self) -> str:
        """The listener's identity in management (4.1)."""
        return f"listener/{self.address}:{self.name}" if self.name else f"listener/{self.address}"


def _is_this_host(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("localhost", "ip6-localhost")


ANONYMOUS, EXTERNAL, GSSAPI = "ANONYMOUS", "EXTERNAL", "GSSAPI"
OFFERED_MECHANISMS = (EXTERNAL, GSSAPI, *SCRAM_MECHANISMS, "PLAIN", ANONYMOUS)
"""The mechanisms that listeners can offer by themselves."""
CYRUS_MECHANISMS = (
    *("CRAM-MD5", "DIGEST-MD5", "GS2-IAKERB", "GS2-KRB5", "GSS-SPNEGO", "KERBEROS_V4", "LOGIN", "NTLM", "OTP"),
    *("PASSDSS-3DES-1", "SRP", *(f"{one}-PLUS" for one in SCRAM_MECHANISMS)),
)
"""Further mechanisms that Cyrus SASL may have."""


class ListenerKind(Configurable[ListenerConfig]):
    """Ports of the router."""

    type = LISTENER
    example = """# For clients on this host.
listener {
    host: 127.0.0.1
    port: 5672
}
# For clients in a network that is trusted; with an actor of its own.
listener {
    name: outside
    port: 5673
    maxFrameSize: 65536
    linkCapacity: 1000
    dedicatedActor: yes
}
"""
    notes = f"""A link beyond `maxLinks` is refused with `amqp:resource-limit-exceeded`. The connection and its
other links stay. A client loses its connection if it leaves 1000 links that were refused so without a detach. Where a
policy holds, `maxSenders` and `maxReceivers` of its groups bound the links of a connection, too.

Two listeners with the same host and port are an error. A listener without a name is
known by host and port. In a router with mode `standalone` no listener has role `inter-router` or `edge`.

`failoverUrls` are `[scheme://]host[:port]` with commas between them, `saslMechanisms` names with blanks between them.
`messageLoggingComponents` are of {", ".join(f"`{one}`" for one in MESSAGE_COMPONENTS)}.

A listener with `http` or `httpRootDir` takes HTTP and AMQP over WebSocket, and no plain AMQP. Its
role is `normal` or `route-container`. The [console](console.md) is at `/`, unless `httpRootDir` or
`websockets: no` is given.

`openProperties` can't have the keys {", ".join(f"`{one}`" for one in RESERVED_PROPERTIES)}, nor keys that begin with
{" or ".join(f"`{one}`" for one in RESERVED_PREFIXES)}."""
    change_notes = "Its connections stay when it goes. It has the number of a port, and no `dedicatedActor`."
    references: ClassVar = {"sslProfile": "sslProfile", "saslPlugin": "authServicePlugin"}
    lets_in = True

    def read(self, entity: Entity, reading: Reading) -> ListenerConfig:
        """Return the configuration of a section."""
        check_role(entity, reading.mode)
        return _listener(entity)

    def compare(self, found: Sequence[tuple[Entity, ListenerConfig]], reading: Reading) -> None:
        """Note which listeners exclude each other."""
        at: dict[tuple[str, int], list[tuple[ListenerConfig, int | None]]] = {}
        for entity, listener in found:
            if listener.port != NO_PORT:
                others = at.setdefault((listener.host, listener.port), [])
                _check_clash(entity, listener, others)
                others.append((listener, entity.line))

    def settled(self, values: Mapping[str, Any], config: ListenerConfig) -> dict[str, Any]:
        """Return the values with absolute names of files."""
        return {**values, "trustedCertsFile": config.trusted_file, "httpRootDir": config.http_root}

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return host, port and name."""
        return identity_by_place(self.section, values, name)

    def admit(self, identity: str, values: Mapping[str, Any], others: Iterable[Other], reading: Reading) -> None:
        """Refuse a listener that takes another process."""
        check_no_own_actor(self.section, values)


def _listener(entity: Entity) -> ListenerConfig:
    values = entity.values
    strip = values["stripAnnotations"]
    mechanisms = mechanisms_of(entity)
    _check_mechanisms(entity, mechanisms or ())
    if values["authenticatePeer"] and mechanisms == (ANONYMOUS,):
        entity.warn("saslMechanisms", "nobody can connect: ANONYMOUS proves nothing, and 'authenticatePeer' is set")
    check_host(entity, "socketAddressFamily")
    check_open_properties(entity)
    takes_http = _takes_http(entity)
    return ListenerConfig(
        name=values["name"],
        host=values["host"],
        port=port_of(entity),
        family=values["socketAddressFamily"],
        role=Role(values["role"]),
        cost=values["cost"],
        max_frame_size=frame_size(entity),
        max_sessions=session_limit(entity),
        max_links=values["maxLinks"],
        session_frames=values["maxSessionFrames"] or None,
        idle_timeout_s=values["idleTimeoutSeconds"],
        handshake_timeout_s=values["initialHandshakeTimeoutSeconds"],
        strip_in=strip in ("in", "both"),
        strip_out=strip in ("out", "both"),
        link_capacity=values["linkCapacity"] or 0,
        sasl_mechanisms=mechanisms,
        authenticate_peer=values["authenticatePeer"],
        sasl_plugin=values["saslPlugin"],
        require_encryption=values["requireEncryption"],
        ssl_profile=values["sslProfile"],
        require_ssl=_requires_ssl(entity),
        trusted_file=_trusted_file(entity, mechanisms),
        open_properties=values["openProperties"] or {},
        policy_vhost=values["policyVhost"],
        failover_urls=text_of(entity, "failoverUrls", failover_urls, URLS_ALLOWED, ()),
        is_multi_tenant=values["multiTenant"],
        dedicated_actor=values["dedicatedActor"],
        takes_http=takes_http,
        http_root=_http_root(entity),
        healthz=values["healthz"],
        metrics=values["metrics"],
        websockets=values["websockets"],
        websocket_origins=text_of(entity, "webSocketOrigins", _origins, _ORIGINS_ALLOWED, ()),
        message_log_components=logged_parts(entity),
    )


def _check_mechanisms(entity: Entity, names: tuple[str, ...]) -> None:
    """Check the mechanisms against those that can be offered. Only a service knows its own."""
    known = (*OFFERED_MECHANISMS, *CYRUS_MECHANISMS)
    unknown = [one for one in names if one not in known]
    if not unknown or entity.values["saslPlugin"] is not None:
        return
    text = f"{unknown[0]} is not a mechanism that this router can offer"
    meant = GSSAPI if "KERB" in unknown[0] else meant_among(unknown[0], OFFERED_MECHANISMS)
    if len(unknown) == len(names) and entity.values["authenticatePeer"]:
        reason = f"nobody can connect: {text}, and 'authenticatePeer' is set"
        entity.refuse("saslMechanisms", reason, *OFFERED_MECHANISMS, meant=meant)
    else:
        hint = f"did you mean {meant}?" if meant else f"it has {', '.join(OFFERED_MECHANISMS)}"
        entity.warn("saslMechanisms", f"{text}, and is passed over; {hint}")


_ORIGINS_ALLOWED = ("scheme://host[:port], with commas between several", "*")


def _takes_http(entity: Entity) -> bool:
    return bool(entity.values["http"]) or entity.values["httpRootDir"] is not None


def _http_root(entity: Entity) -> str | None:
    folder: str | None = entity.values["httpRootDir"]
    if folder is None:
        return None
    if not os.path.isdir(folder):
        entity.refuse("httpRootDir", f"there is no folder {folder}", "a folder with files to serve")
    return os.path.abspath(folder)


def _origins(text: str) -> tuple[str, ...]:
    """Return origins as browsers send them. Raises ValueRefused."""
    origins = tuple(one.strip().lower() for one in text.split(","))
    for one in origins:
        parts = urlsplit(one)
        if one != "*" and (not parts.scheme or not parts.netloc or one != f"{parts.scheme}://{parts.netloc}"):
            raise ValueRefused(f"'{one}' is no origin")
    return origins


def _requires_ssl(entity: Entity) -> bool:
    is_required: bool = entity.values["requireSsl"]
    if is_required and entity.values["sslProfile"] is None:
        entity.refuse("requireSsl", "TLS needs an 'sslProfile'", "sslProfile as well", "no")
    return is_required


def _trusted_file(entity: Entity, mechanisms: tuple[str, ...] | None) -> str | None:
    file: str | None = entity.values["trustedCertsFile"]
    if file is None:
        return None
    if entity.values["sslProfile"] is None or EXTERNAL not in (mechanisms or ()):
        reason = "no client is asked for a certificate: add an 'sslProfile', and EXTERNAL to 'saslMechanisms'"
        entity.warn("trustedCertsFile", reason)
    return os.path.abspath(file)


def _check_clash(entity: Entity, one: ListenerConfig, others: list[tuple[ListenerConfig, int | None]]) -> None:
    """Check a listener against those with the same host and port."""
    for other, line in others:
        if one.name is None and other.name is None:
            reason = (
                f"adding {one.identity} duplicates unique attribute 'identity' from existing listener of line {line}"
            )
            entity.refuse("port", reason, "another port", "a name for each of the two")
        elif one.port and (one.family is None or other.family is None or one.family == other.family):
            reason = f"the listener of line {line} listens on {one.address} already"
            entity.refuse("port", reason, "another port or host")
