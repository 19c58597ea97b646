"""What is configured for addresses."""

from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import BOOLEAN, CREATE, ENUM, INTEGER, STRING, Attribute, EntityType, Purpose

_CREATE_DELETE = ("CREATE", "DELETE")
_IN_OUT = ("in", "out")
_PHASE_MAX = 9

LINK_ROUTE = EntityType(
    name="router.config.linkRoute",
    description="Addresses whose links are led through to a container as a whole.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="linkRoute",
    own_operations=_CREATE_DELETE,
    is_numbered=True,
    own_attributes=(
        Attribute("prefix", STRING, "The addresses that are this one, or begin with it and a `.` or `/`.", CREATE),
        Attribute("pattern", STRING, "The addresses that match.", CREATE),
        Attribute("addExternalPrefix", STRING, "What the address begins with in addition, at the container.", CREATE),
        Attribute("delExternalPrefix", STRING, "What the address begins with here and not at the container.", CREATE),
        Attribute("containerId", STRING, "The container-id of the container.", CREATE),
        Attribute("connection", STRING, "The name of the connector or listener that the container is at.", CREATE),
        Attribute(
            "distribution",
            ENUM,
            "How links are shared among containers.",
            CREATE,
            "linkBalanced",
            tags=("linkBalanced",),
        ),
        Attribute(
            "direction",
            ENUM,
            "`in` for the links of senders, `out` for those of receivers.",
            CREATE,
            tags=_IN_OUT,
            is_required=True,
            old_name="dir",
        ),
        Attribute("operStatus", ENUM, "Whether a container is there.", tags=("inactive", "active")),
    ),
)

AUTO_LINK = EntityType(
    name="router.config.autoLink",
    description="A link that the router attaches to a container, whenever it is connected.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="autoLink",
    own_operations=_CREATE_DELETE,
    is_numbered=True,
    own_attributes=(
        Attribute("address", STRING, "The address here.", CREATE, is_required=True, old_name="addr"),
        Attribute(
            "direction",
            ENUM,
            "`in` for messages from the container, `out` for messages to it.",
            CREATE,
            tags=_IN_OUT,
            is_required=True,
            old_name="dir",
        ),
        Attribute(
            "phase",
            INTEGER,
            "The phase of the address; 1 for `in` and 0 for `out` when not given.",
            CREATE,
            least=0,
            most=_PHASE_MAX,
        ),
        Attribute("containerId", STRING, "The container-id of the container.", CREATE),
        Attribute("connection", STRING, "The name of the connector or listener that the container is at.", CREATE),
        Attribute("externalAddress", STRING, "The address at the container.", CREATE, old_name="externalAddr"),
        Attribute("fallback", BOOLEAN, "Whether the container is the fallback destination.", CREATE, False),
        Attribute("linkRef", STRING, "The identity of the link."),
        Attribute(
            "operStatus",
            ENUM,
            "How the link fares.",
            tags=("inactive", "attaching", "failed", "active", "quiescing", "idle"),
        ),
        Attribute("lastError", STRING, "What the container said when it refused the link."),
    ),
)

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
