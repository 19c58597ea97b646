"""What only this router has to show: its connection actors, the links between them, and its certificates."""

from routerd.config.schema.foundations import OPERATIONAL_ENTITY
from routerd.config.schema.model import ENUM, INTEGER, OWN_PREFIX, STRING, Attribute, EntityType, Purpose

CONNECTION_ACTOR = EntityType(
    name="connectionActor",
    prefix=OWN_PREFIX,
    description="A process that serves a part of the router's connections.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("worker", INTEGER, "The number of the actor."),
        Attribute("pid", INTEGER, "The number of its process."),
        Attribute("host", STRING, "The host that it runs on."),
        Attribute("node", STRING, "The address of its node of Ray; empty in one process."),
        Attribute("uptimeSeconds", INTEGER, "Time since it started.", unit="s", is_graph=True),
        Attribute("restarts", INTEGER, "How often it was started again.", is_graph=True),
        Attribute("connectionCount", INTEGER, "Connections of clients now.", is_graph=True),
        Attribute("linkCount", INTEGER, "Links of clients now.", is_graph=True),
        Attribute("addrCount", INTEGER, "Addresses known now.", is_graph=True),
        Attribute("siblingCount", INTEGER, "Other actors that it is connected to.", is_graph=True),
        Attribute(
            "eventLoopLagMicroseconds",
            INTEGER,
            "How late its event loop was when it was last measured.",
            unit="us",
            is_graph=True,
        ),
        Attribute(
            "eventLoopLagMaxMicroseconds",
            INTEGER,
            "How late its event loop was at most in the last second.",
            unit="us",
            is_graph=True,
        ),
        Attribute("bufferedOctets", INTEGER, "What waits to be written.", unit="octets", is_graph=True),
        Attribute("memoryUsage", INTEGER, "Memory that its process takes.", unit="octets", is_graph=True),
        Attribute("deliveriesStuck", INTEGER, "Deliveries under way for more than 10 s now.", is_graph=True),
        Attribute("linksBlocked", INTEGER, "Links without credit for 10 s now.", is_graph=True),
        Attribute(
            "authenticationFailures", INTEGER, "How often a client could not prove who it is.", is_graph=True
        ),
        Attribute("deliveriesIngress", INTEGER, "Deliveries received from clients.", is_graph=True),
        Attribute("deliveriesEgress", INTEGER, "Deliveries sent to clients.", is_graph=True),
        Attribute("deliveriesFabricIn", INTEGER, "Deliveries received from other actors.", is_graph=True),
        Attribute("deliveriesFabricOut", INTEGER, "Deliveries sent to other actors.", is_graph=True),
        Attribute("presettledDeliveries", INTEGER, "Deliveries that arrived settled.", is_graph=True),
        Attribute(
            "droppedPresettledDeliveries",
            INTEGER,
            "Settled deliveries, and copies of multicast ones, that were dropped at links of any kind.",
            is_graph=True,
        ),
        Attribute("acceptedDeliveries", INTEGER, "Deliveries that were accepted.", is_graph=True),
        Attribute("rejectedDeliveries", INTEGER, "Deliveries that were rejected.", is_graph=True),
        Attribute("releasedDeliveries", INTEGER, "Deliveries that were released.", is_graph=True),
        Attribute("modifiedDeliveries", INTEGER, "Deliveries that were modified.", is_graph=True),
    ),
)

FABRIC_LINK = EntityType(
    name="fabricLink",
    prefix=OWN_PREFIX,
    description="One end of a link between two connection actors.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("worker", INTEGER, "The number of the actor at this end."),
        Attribute("siblingWorker", INTEGER, "The number of the actor at the other end."),
        Attribute("connectionId", STRING, "The number of the connection between them, as the log has it."),
        Attribute(
            "transport",
            ENUM,
            "What that connection is: a Unix socket on a host, or TLS between hosts.",
            tags=("unix", "tls"),
        ),
        Attribute("linkName", STRING, "The name of the link."),
        Attribute("linkDir", ENUM, "Whether deliveries come from the other actor or go there.", tags=("in", "out")),
        Attribute("owningAddr", STRING, "The key of its address."),
        Attribute("capacity", INTEGER, "Deliveries that may be under way.", unit="deliveries"),
        Attribute("creditAvailable", INTEGER, "Credit that is left now.", is_graph=True),
        Attribute("zeroCreditSeconds", INTEGER, "Time without credit until now.", unit="s"),
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
        Attribute("deliveriesStuck", INTEGER, "Deliveries under way for more than 10 s now.", is_graph=True),
        Attribute("settleRate", INTEGER, "Settlements a second, over the last 5 s.", unit="1/s", is_graph=True),
        Attribute("stallCount", INTEGER, "How often there was no credit or no room left.", is_graph=True),
    ),
)

CERTIFICATE = EntityType(
    name="certificate",
    prefix=OWN_PREFIX,
    description="Of the certificates in `certFile` of an `sslProfile` in use, the one that expires first.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("profile", STRING, "The name of the `sslProfile`."),
        Attribute("subject", STRING, "Whom the certificate is for."),
        Attribute("expiry", INTEGER, "When it expires, in seconds since 1970."),
    ),
)
