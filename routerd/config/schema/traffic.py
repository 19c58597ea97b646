"""What moves through the router, and where to."""

from routerd.config.schema.foundations import OPERATIONAL_ENTITY
from routerd.config.schema.model import ENTITY_ID, ENUM, INTEGER, LIST, STRING, UPDATE, Attribute, EntityType, Purpose

ROUTER_LINK = EntityType(
    name="router.link",
    description="A link that is attached.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_operations=("UPDATE",),
    own_attributes=(
        Attribute(
            "adminStatus", ENUM, "Whether the link may be used.", UPDATE, "enabled", tags=("enabled", "disabled")
        ),
        Attribute("operStatus", ENUM, "How the link fares.", tags=("up", "down", "quiescing", "idle")),
        Attribute("linkName", STRING, "The name that the peer gave it."),
        Attribute("linkType", ENUM, "What the link is for.", tags=("endpoint", "router-control", "inter-router")),
        Attribute("linkDir", ENUM, "Whether deliveries enter or leave the router.", tags=("in", "out")),
        Attribute("owningAddr", STRING, "The key of its address."),
        Attribute("capacity", INTEGER, "Deliveries that may be under way.", unit="deliveries"),
        Attribute("peer", STRING, "The identity of the link that a routed link goes on as."),
        Attribute("undeliveredCount", INTEGER, "Deliveries that wait now.", is_graph=True),
        Attribute("unsettledCount", INTEGER, "Deliveries without a settlement now.", is_graph=True),
        Attribute("deliveryCount", INTEGER, "Deliveries in all.", is_graph=True),
        Attribute("presettledCount", INTEGER, "Deliveries that arrived settled.", is_graph=True),
        Attribute(
            "droppedPresettledCount", INTEGER, "Deliveries that arrived settled and were dropped.", is_graph=True
        ),
        Attribute("acceptedCount", INTEGER, "Deliveries that were accepted.", is_graph=True),
        Attribute("rejectedCount", INTEGER, "Deliveries that were rejected.", is_graph=True),
        Attribute("releasedCount", INTEGER, "Deliveries that were released.", is_graph=True),
        Attribute("modifiedCount", INTEGER, "Deliveries that were modified.", is_graph=True),
        Attribute(
            "deliveriesDelayed1Sec", INTEGER, "Deliveries settled after more than 1 s, up to 10 s.", is_graph=True
        ),
        Attribute("deliveriesDelayed10Sec", INTEGER, "Deliveries settled after more than 10 s.", is_graph=True),
        Attribute("deliveriesStuck", INTEGER, "Deliveries under way for more than 10 s now.", is_graph=True),
        Attribute("creditAvailable", INTEGER, "Credit that is left now.", is_graph=True),
        Attribute("zeroCreditSeconds", INTEGER, "Time without credit until now.", unit="s"),
        Attribute("settleRate", INTEGER, "Settlements a second, over the last 5 s.", unit="1/s", is_graph=True),
        Attribute("ingressHistogram", LIST, "Settled deliveries by the router where they entered the network."),
        Attribute("priority", INTEGER, "The priority of what the link carries."),
        Attribute("abortedCount", INTEGER, "Deliveries that their producer aborted.", is_graph=True),
    ),
)

ROUTER_ADDRESS = EntityType(
    name="router.address",
    description="An address that is in use.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute(
            "distribution",
            ENUM,
            "Who gets a message.",
            tags=("flood", "multicast", "closest", "balanced", "linkBalanced", "unavailable"),
        ),
        Attribute("inProcess", INTEGER, "Consumers inside the router."),
        Attribute("subscriberCount", INTEGER, "Links of consumers at this router.", is_graph=True),
        Attribute("remoteCount", INTEGER, "Other routers with consumers.", is_graph=True),
        Attribute("containerCount", INTEGER, "Containers that its links can be routed to.", is_graph=True),
        Attribute("deliveriesIngress", INTEGER, "Deliveries received from clients.", is_graph=True),
        Attribute("deliveriesEgress", INTEGER, "Deliveries sent to clients.", is_graph=True),
        Attribute("deliveriesTransit", INTEGER, "Deliveries sent on to other routers.", is_graph=True),
        Attribute("deliveriesToContainer", INTEGER, "Deliveries to consumers inside the router.", is_graph=True),
        Attribute("deliveriesFromContainer", INTEGER, "Deliveries from inside the router.", is_graph=True),
        Attribute(
            "deliveriesIngressRouteContainer", INTEGER, "Deliveries received from route containers.", is_graph=True
        ),
        Attribute("deliveriesEgressRouteContainer", INTEGER, "Deliveries sent to route containers.", is_graph=True),
        Attribute(
            "deliveriesRedirectedToFallback", INTEGER, "Deliveries sent to the fallback destination.", is_graph=True
        ),
        Attribute("key", STRING, "What the router calls the address."),
        Attribute("remoteHostRouters", LIST, "The ids of the other routers with consumers."),
        Attribute("transitOutstanding", LIST, "Deliveries without a settlement, by neighbour."),
        Attribute("trackedDeliveries", INTEGER, "Deliveries that are under way to several consumers."),
        Attribute("priority", INTEGER, "The configured priority; -1 for none."),
    ),
)

ROUTER_NODE = EntityType(
    name="router.node",
    description="A router of the network.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("id", STRING, "The id of the router."),
        Attribute("protocolVersion", INTEGER, "The version of the routing protocol that it speaks."),
        Attribute("instance", INTEGER, "When it started, in seconds since 1970."),
        Attribute("linkState", LIST, "The ids of its neighbours."),
        Attribute("nextHop", STRING, "The id of the neighbour on the way to it."),
        Attribute("validOrigins", LIST, "The ids of the routers whose messages to many may come from it."),
        Attribute("address", STRING, "The address of the router."),
        Attribute("routerLink", ENTITY_ID, "The link to it, if it is a neighbour."),
        Attribute("cost", INTEGER, "The cost of the way to it."),
        Attribute("lastTopoChange", INTEGER, "When the network last changed, in seconds since 1970."),
        Attribute("index", INTEGER, "Its place in histograms."),
    ),
)
