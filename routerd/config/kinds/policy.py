"""`policy`: limits for all connections."""

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.schema.attributes import denials, limit
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, INTEGER, PATH, STRING, Attribute, EntityType, Purpose
from routerd.core import PolicySettings

POLICY = EntityType(
    name="policy",
    description="Limits for all connections, and whether those of virtual hosts hold.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="policy",
    is_singleton=True,
    is_supported=True,
    own_attributes=(
        limit("maxConnections", "Connections from clients at a time.", CREATE, 65535),
        limit("maxMessageSize", "The largest message; 0 means no limit.", CREATE, 0, "octets"),
        Attribute("enableVhostPolicy", BOOLEAN, "Whether the policies of virtual hosts hold.", CREATE, False),
        Attribute(
            "enableVhostNamePatterns", BOOLEAN, "Whether the names of virtual hosts are patterns.", CREATE, False
        ),
        Attribute("policyDir", PATH, "The folder with files of `vhost` sections.", CREATE, ""),
        Attribute("defaultVhost", STRING, "The virtual host for clients that name no other.", CREATE, "$default"),
        Attribute("connectionsProcessed", INTEGER, "Connections from clients so far.", is_graph=True),
        denials("connectionsDenied", "Connections"),
        Attribute("connectionsCurrent", INTEGER, "Connections from clients now.", is_graph=True),
        denials("linksDenied", "Links"),
        denials("maxMessageSizeDenied", "Messages that are too large and"),
        denials("totalDenials", "Things"),
    ),
)


class PolicyKind(Configurable[PolicySettings]):
    """The limits for all."""

    type = POLICY
    example = """policy {
    maxConnections: 10000
    enableVhostPolicy: yes
}
"""
    notes = """There is one such section. `maxConnections` holds always, what vhosts say only with
`enableVhostPolicy: yes`. `policyDir` names a folder: of every file in it whose name ends in `.json` the `vhost`
sections are read, and no others. With `enableVhostNamePatterns`, `*` is one word of a name and `#` any number of words.
[security.md](security.md#policy) tells what is held against what."""
    always_exists = True

    def read(self, entity: Entity, reading: Reading) -> PolicySettings:
        """Return what the section says."""
        values = entity.values
        return PolicySettings(
            max_connections=values["maxConnections"],
            max_message_size=values["maxMessageSize"],
            is_enforced=values["enableVhostPolicy"],
            uses_name_patterns=values["enableVhostNamePatterns"],
            default_vhost=values["defaultVhost"] or "",
        )
