"""Where connections come from, and the connections themselves."""

from routerd.config.schema.foundations import OPERATIONAL_ENTITY
from routerd.config.schema.model import BOOLEAN, ENUM, INTEGER, MAP, STRING, UPDATE, Attribute, EntityType, Purpose

CONNECTION = EntityType(
    name="connection",
    description="A connection that is open.",
    purpose=Purpose.OPERATIONAL,
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
