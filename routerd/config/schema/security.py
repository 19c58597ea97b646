"""What policy counts."""

from routerd.config.schema.attributes import denials
from routerd.config.schema.foundations import OPERATIONAL_ENTITY
from routerd.config.schema.model import INTEGER, MAP, STRING, Attribute, EntityType, Purpose

VHOST_STATS = EntityType(
    name="vhostStats",
    description="What the policy of one virtual host has let in and refused.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("id", STRING, "The name of the virtual host; `hostname` is its name today.", is_deprecated=True),
        Attribute("hostname", STRING, "The name of the virtual host."),
        Attribute("connectionsApproved", INTEGER, "Connections that were let in.", is_graph=True),
        denials("connectionsDenied", "Connections"),
        Attribute("connectionsCurrent", INTEGER, "Connections now.", is_graph=True),
        Attribute("perUserState", MAP, "Connections now, by user."),
        Attribute("perHostState", MAP, "Connections now, by host."),
        denials("sessionDenied", "Sessions"),
        denials("senderDenied", "Links that send and"),
        denials("receiverDenied", "Links that receive and"),
        denials("maxMessageSizeDenied", "Messages that are too large and"),
    ),
)
