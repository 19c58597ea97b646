"""Where connections come from, and the connections themselves."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY, OPERATIONAL_ENTITY
from routerd.config.schema.model import (
    BOOLEAN,
    CREATE,
    ENUM,
    INTEGER,
    MAP,
    PATH,
    PROPERTIES,
    STRING,
    UPDATE,
    Attribute,
    EntityType,
    Kind,
)

_UINT_MAX = 0xFFFF_FFFF
_ROLES = ("normal", "inter-router", "route-container", "edge")
_PORT = "The port's number, or the name of its service."
_COST = "What a message that takes this way to another router is charged."
_SESSION_FRAMES = "Frames that a session may have under way; 0, as if not given, is no bound."
_LOG_COMPONENTS = "Parts of messages that the log of module MESSAGE has at level trace; `all`, `none`, or some of them."
_STRIP = "Where the router's own annotations are taken from messages: entering, leaving, both or never."
_OPEN_PROPERTIES = "Properties to add to those in the router's open."
_FAMILIES = ("IPv4", "IPv6")
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

LISTENER = EntityType(
    name="listener",
    description="An address and port where clients, brokers and other routers connect.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="listener",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    own_attributes=(
        Attribute("host", STRING, "The address or host name to listen on; all addresses when empty.", CREATE, ""),
        Attribute("port", STRING, f"{_PORT} 0 is any free one.", CREATE, "amqp"),
        Attribute(
            "socketAddressFamily",
            ENUM,
            "The only family of addresses to listen on; both when not given.",
            CREATE,
            tags=_FAMILIES,
            old_name="protocolFamily",
        ),
        Attribute(
            "role",
            ENUM,
            "What connects here: clients, other routers, containers that links are routed to, edge routers.",
            CREATE,
            "normal",
            tags=_ROLES,
            unsupported_tags=("route-container",),
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
        Attribute("healthz", BOOLEAN, "With `http`: whether `/healthz` answers.", CREATE, True),
        Attribute("metrics", BOOLEAN, "With `http`: whether `/metrics` answers.", CREATE, True),
        Attribute("websockets", BOOLEAN, "With `http`: whether AMQP over WebSocket is taken.", CREATE, True),
        Attribute("http", BOOLEAN, "Whether HTTP and WebSocket are taken here.", CREATE, False, is_supported=False),
        Attribute(
            "httpRootDir",
            PATH,
            "The folder with the files to serve over HTTP; it implies `http`.",
            CREATE,
            old_name="httpRoot",
            is_supported=False,
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
            "Links that a connection may have; 0 is no bound. If not given: 10000 for clients, no bound for routers.",
            CREATE,
            least=0,
            most=0x7FFF_FFFF,
        ),
    ),
)
"""`dedicatedActor` and `maxLinks` are Mobula's own."""

CONNECTOR = EntityType(
    name="connector",
    description="A peer that the router connects to by itself, and again when the connection is lost.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="connector",
    own_operations=("CREATE", "DELETE"),
    is_supported=True,
    own_attributes=(
        Attribute("host", STRING, "The address or host name to connect to.", CREATE, "127.0.0.1"),
        Attribute("port", STRING, _PORT, CREATE, "amqp"),
        Attribute("protocolFamily", ENUM, "The only family of addresses to use.", CREATE, tags=_FAMILIES),
        Attribute(
            "role",
            ENUM,
            "What is connected to: a client or broker, another router, a container that links are routed to,"
            " a router of the network that an edge router belongs to.",
            CREATE,
            "normal",
            tags=_ROLES,
            unsupported_tags=("route-container",),
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
            "How the connection fares: `INITIALIZING`, `CONNECTING`, `SUCCESS` or `FAILED`.",
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
    ),
)
"""`dedicatedActor` is Mobula's own."""

CONNECTION = EntityType(
    name="connection",
    description="A connection that is open.",
    kind=Kind.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute(
            "adminStatus",
            ENUM,
            "Set to `deleted`, it closes the connection.",
            UPDATE,
            "enabled",
            tags=("enabled", "deleted"),
        ),
        Attribute("operStatus", ENUM, "Whether the connection is about to close.", tags=("up", "closing")),
        Attribute("protocol", STRING, "Always `amqp`."),
        Attribute("container", STRING, "The container-id of the peer."),
        Attribute("opened", BOOLEAN, "Whether the peer has opened."),
        Attribute("host", STRING, "Address and port of the peer."),
        Attribute("dir", ENUM, "Whether the peer connected to the router, or the router to it.", tags=("in", "out")),
        Attribute("role", STRING, "The role of its listener or connector."),
        Attribute("isAuthenticated", BOOLEAN, "Whether the peer went through SASL."),
        Attribute("isEncrypted", BOOLEAN, "Whether the connection is encrypted."),
        Attribute("enableProtocolTrace", BOOLEAN, "Whether its frames are logged.", UPDATE, False),
        Attribute("sasl", STRING, "The SASL mechanism that was used."),
        Attribute("user", STRING, "Who the peer is."),
        Attribute("ssl", BOOLEAN, "Whether the connection uses TLS."),
        Attribute("sslProto", STRING, "The version of TLS."),
        Attribute("sslCipher", STRING, "The cipher suite of TLS."),
        Attribute("sslSsf", INTEGER, "The strength of the encryption.", unit="bit"),
        Attribute("tenant", STRING, "What the addresses of its virtual host begin with."),
        Attribute("uptimeSeconds", INTEGER, "Time since it was made.", unit="s", is_graph=True),
        Attribute("properties", MAP, "The properties that the peer opened with."),
        Attribute("lastDlvSeconds", INTEGER, "Time since the last delivery.", unit="s", is_graph=True),
    ),
)
