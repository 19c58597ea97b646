"""What is configured for addresses."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, ENUM, STRING, Attribute, EntityType, Purpose

_CREATE_DELETE = ("CREATE", "DELETE")
_IN_OUT = ("in", "out")

CONNECTION_LINK_ROUTE = EntityType(
    name="router.connection.linkRoute",
    description="A link route that a container makes for itself, for as long as it is connected.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    is_configurable=False,
    own_operations=_CREATE_DELETE,
    is_experimental=True,
    own_attributes=(
        Attribute("pattern", STRING, "The addresses that match.", CREATE, is_required=True),
        Attribute(
            "direction",
            ENUM,
            "`in` for the links of senders, `out` for those of receivers.",
            CREATE,
            tags=_IN_OUT,
            is_required=True,
        ),
        Attribute("containerId", STRING, "The container-id of the container."),
    ),
)
