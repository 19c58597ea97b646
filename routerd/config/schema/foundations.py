"""The types that all others are built on, and the management node itself."""

from routerd.config.schema.model import CREATE, STRING, Attribute, EntityType, Purpose

ENTITY = EntityType(
    name="entity",
    description="What every entity has.",
    purpose=Purpose.BASE,
    own_attributes=(
        Attribute(
            "name", STRING, "A name of your choice; no two entities of a type have the same.", CREATE, is_unique=True
        ),
        Attribute("identity", STRING, "Names the entity for ever; the router chooses it.", is_unique=True),
        Attribute("type", STRING, "The full name of the entity's type.", CREATE, is_required=True),
    ),
)

CONFIGURATION_ENTITY = EntityType(
    name="configurationEntity",
    description="What can be configured.",
    purpose=Purpose.BASE,
    base=ENTITY,
    own_operations=("READ",),
)

OPERATIONAL_ENTITY = EntityType(
    name="operationalEntity",
    description="What the router makes itself and lets be watched.",
    purpose=Purpose.BASE,
    base=ENTITY,
    own_operations=("READ",),
)

AMQP_MANAGEMENT = EntityType(
    name="org.amqp.management",
    description="A management node as AMQP Management describes it.",
    purpose=Purpose.BASE,
    base=OPERATIONAL_ENTITY,
    own_operations=("QUERY", "GET-TYPES", "GET-ANNOTATIONS", "GET-OPERATIONS", "GET-ATTRIBUTES", "GET-MGMT-NODES"),
)

MANAGEMENT = EntityType(
    name="management",
    description="The management node of this router.",
    purpose=Purpose.OPERATIONAL,
    base=AMQP_MANAGEMENT,
    own_operations=("GET-SCHEMA", "GET-JSON-SCHEMA", "GET-LOG", "PROFILE"),
    is_singleton=True,
)
