"""What is configured for addresses."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import CREATE, ENUM, INTEGER, STRING, Attribute, EntityType, Purpose

_CREATE_DELETE = ("CREATE", "DELETE")
_IN_OUT = ("in", "out")
_PHASE_MAX = 9

EXCHANGE = EntityType(
    name="router.config.exchange",
    description="An address whose messages are sent on by their subjects.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="exchange",
    own_operations=_CREATE_DELETE,
    is_experimental=True,
    is_numbered=True,
    own_attributes=(
        Attribute("address", STRING, "The address that is sent to.", CREATE, is_required=True),
        Attribute("phase", INTEGER, "Its phase.", CREATE, least=0, most=_PHASE_MAX),
        Attribute("alternateAddress", STRING, "Where messages go that no binding takes.", CREATE),
        Attribute("alternatePhase", INTEGER, "The phase of that address.", CREATE, least=0, most=_PHASE_MAX),
        Attribute("matchMethod", ENUM, "The rules that binding keys follow.", CREATE, "amqp", tags=("amqp", "mqtt")),
        Attribute("bindingCount", INTEGER, "Its bindings."),
        Attribute("receivedCount", INTEGER, "Messages that arrived."),
        Attribute("droppedCount", INTEGER, "Messages that nobody took."),
        Attribute("forwardedCount", INTEGER, "Messages that were sent on."),
        Attribute("divertedCount", INTEGER, "Messages that went to the alternate address."),
    ),
)

BINDING = EntityType(
    name="router.config.binding",
    description="Which messages of an exchange go to one address.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="binding",
    own_operations=_CREATE_DELETE,
    is_experimental=True,
    is_numbered=True,
    own_attributes=(
        Attribute("exchangeName", STRING, "The name of the exchange.", CREATE, is_required=True),
        Attribute("bindingKey", STRING, "What the subject must match; any does when not given.", CREATE),
        Attribute("nextHopAddress", STRING, "The address.", CREATE, is_required=True),
        Attribute("nextHopPhase", INTEGER, "Its phase.", CREATE, least=0, most=_PHASE_MAX),
        Attribute("matchedCount", INTEGER, "Messages that matched."),
    ),
)

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
