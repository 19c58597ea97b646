"""Encryption, authentication and policy."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY, OPERATIONAL_ENTITY
from routerd.config.schema.model import (
    BOOLEAN,
    CREATE,
    INTEGER,
    MAP,
    NONE,
    PATH,
    STRING,
    UPDATE,
    Attribute,
    EntityType,
    Kind,
    Rights,
)

_CREATE_DELETE = ("CREATE", "DELETE")
_MANY = 2_147_483_647


def _limit(
    name: str, description: str, rights: Rights = NONE, default: int | None = None, unit: str | None = None
) -> Attribute:
    return Attribute(name, INTEGER, description, rights, default, unit=unit, least=0)


def _denials(name: str, of_what: str) -> Attribute:
    return Attribute(name, INTEGER, f"{of_what} that were refused.", is_graph=True)


SSL_PROFILE = EntityType(
    name="sslProfile",
    description="Certificates and settings of TLS that listeners and connectors name.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="sslProfile",
    own_operations=_CREATE_DELETE,
    is_referential=True,
    is_supported=True,
    own_attributes=(
        Attribute("ciphers", STRING, "The cipher suites, as OpenSSL lists them.", CREATE),
        Attribute("protocols", STRING, "The versions of TLS.", CREATE, separator=" "),
        Attribute("caCertFile", PATH, "The certificates of authorities that are trusted.", CREATE, old_name="certDb"),
        Attribute("certFile", PATH, "The router's certificate.", CREATE),
        Attribute("privateKeyFile", PATH, "The private key of the certificate.", CREATE, old_name="keyFile"),
        Attribute("passwordFile", PATH, "The file with the password of the key.", CREATE, is_deprecated=True),
        Attribute(
            "password",
            STRING,
            "The password of the key, or `env:NAME`, `file:PATH`, `pass:TEXT` or `literal:TEXT`.",
            CREATE,
            is_hidden=True,
        ),
        Attribute("uidFormat", STRING, "Which fields of a client's certificate are its user name.", CREATE),
        Attribute(
            "uidNameMappingFile",
            STRING,
            "The file that gives such user names other names.",
            CREATE,
            old_name="displayNameFile",
        ),
    ),
)

AUTH_SERVICE_PLUGIN = EntityType(
    name="authServicePlugin",
    description="A service that says who a peer is.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="authServicePlugin",
    own_operations=_CREATE_DELETE,
    is_experimental=True,
    is_referential=True,
    is_supported=True,
    own_attributes=(
        Attribute("authService", STRING, "Host and port of the service in one.", CREATE, is_deprecated=True),
        Attribute("host", STRING, "The host of the service.", CREATE, ""),
        Attribute("port", STRING, "The port of the service.", CREATE, "amqp"),
        Attribute("realm", STRING, "The host name that the service is given.", CREATE, old_name="saslInitHostname"),
        Attribute("sslProfile", STRING, "The `sslProfile` of connections to it.", CREATE, old_name="authSslProfile"),
    ),
)

POLICY = EntityType(
    name="policy",
    description="Limits for all connections, and whether those of virtual hosts hold.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="policy",
    is_singleton=True,
    is_supported=True,
    own_attributes=(
        _limit("maxConnections", "Connections from clients at a time.", CREATE, 65535),
        _limit("maxMessageSize", "The largest message; 0 is no bound.", CREATE, 0, "octets"),
        Attribute("enableVhostPolicy", BOOLEAN, "Whether the policies of virtual hosts hold.", CREATE, False),
        Attribute(
            "enableVhostNamePatterns", BOOLEAN, "Whether the names of virtual hosts are patterns.", CREATE, False
        ),
        Attribute("policyDir", PATH, "The folder with files of `vhost` sections.", CREATE, ""),
        Attribute("defaultVhost", STRING, "The virtual host for clients that name no other.", CREATE, "$default"),
        Attribute("connectionsProcessed", INTEGER, "Connections from clients so far.", is_graph=True),
        _denials("connectionsDenied", "Connections"),
        Attribute("connectionsCurrent", INTEGER, "Connections from clients now.", is_graph=True),
        _denials("linksDenied", "Links"),
        _denials("maxMessageSizeDenied", "Messages that are too large and"),
        _denials("totalDenials", "Things"),
    ),
)

VHOST = EntityType(
    name="vhost",
    description="What the clients of one virtual host may do.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="vhost",
    own_operations=("CREATE", "UPDATE", "DELETE"),
    is_supported=True,
    own_attributes=(
        Attribute("hostname", STRING, "The name of the virtual host.", CREATE, is_required=True, old_name="id"),
        Attribute("aliases", STRING, "Other names of it.", CREATE | UPDATE, separator=","),
        _limit("maxConnections", "Connections at a time.", CREATE | UPDATE, 65535),
        _limit("maxMessageSize", "The largest message; 0 is no bound.", CREATE | UPDATE, unit="octets"),
        _limit("maxConnectionsPerUser", "Connections of one user at a time.", CREATE | UPDATE, 65535),
        _limit("maxConnectionsPerHost", "Connections from one host at a time.", CREATE | UPDATE, 65535),
        Attribute(
            "allowUnknownUser", BOOLEAN, "Whether users of no group belong to `$default`.", CREATE | UPDATE, False
        ),
        Attribute("groups", MAP, "Groups of users, by name, and what they may do.", CREATE | UPDATE),
    ),
)

VHOST_USER_GROUP_SETTINGS = EntityType(
    name="vhostUserGroupSettings",
    description="What each member of `groups` of a `vhost` has; it has no section of its own.",
    kind=Kind.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="vhostUserGroupSettings",
    is_configurable=False,
    own_attributes=(
        Attribute("users", STRING, "The users of the group.", is_required=True, separator=","),
        Attribute("remoteHosts", STRING, "The hosts that they may connect from.", is_required=True, separator=","),
        _limit("maxConnectionsPerUser", "Connections of one user at a time."),
        _limit("maxConnectionsPerHost", "Connections from one host at a time."),
        _limit("maxMessageSize", "The largest message.", unit="octets"),
        _limit("maxFrameSize", "The largest frame.", CREATE, unit="octets"),
        _limit("maxSessionWindow", "What a session may have under way.", CREATE, unit="octets"),
        _limit("maxSessions", "Sessions of a connection.", CREATE),
        _limit("maxSenders", "Links of a connection that send.", CREATE, _MANY),
        _limit("maxReceivers", "Links of a connection that receive.", CREATE, _MANY),
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

VHOST_STATS = EntityType(
    name="vhostStats",
    description="What the policy of one virtual host has let in and refused.",
    kind=Kind.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("id", STRING, "The name of the virtual host; `hostname` is its name today.", is_deprecated=True),
        Attribute("hostname", STRING, "The name of the virtual host."),
        Attribute("connectionsApproved", INTEGER, "Connections that were let in.", is_graph=True),
        _denials("connectionsDenied", "Connections"),
        Attribute("connectionsCurrent", INTEGER, "Connections now.", is_graph=True),
        Attribute("perUserState", MAP, "Connections now, by user."),
        Attribute("perHostState", MAP, "Connections now, by host."),
        _denials("sessionDenied", "Sessions"),
        _denials("senderDenied", "Links that send and"),
        _denials("receiverDenied", "Links that receive and"),
        _denials("maxMessageSizeDenied", "Messages that are too large and"),
    ),
)
