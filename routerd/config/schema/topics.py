"""Topics, whose deliveries each subscription gets at least or exactly once, with their publishers and subscriptions."""

from routerd.config.schema.foundations import OPERATIONAL_ENTITY
from routerd.config.schema.model import BOOLEAN, INTEGER, LIST, OWN_PREFIX, STRING, Attribute, EntityType, Purpose

_CLIENT = (
    Attribute("topic", STRING, "The address of its topic."),
    Attribute("container", STRING, "The name of its client's container."),
    Attribute("link", STRING, "The name of its link, as the client gave it."),
)
_OUTCOMES = (
    Attribute("acceptedCount", INTEGER, "Deliveries that all subscriptions have accepted.", is_graph=True),
    Attribute("rejectedCount", INTEGER, "Deliveries that a subscription has rejected.", is_graph=True),
    Attribute(
        "unknownCount",
        INTEGER,
        "Deliveries without an outcome, since their publishers closed or stayed away too long.",
        is_graph=True,
    ),
)

DELIVERY_TOPIC = EntityType(
    name="deliveryTopic",
    prefix=OWN_PREFIX,
    description="A topic: an address with `delivery`, as this router has it.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        Attribute("topic", STRING, "Its address."),
        Attribute("worker", INTEGER, "The number of the connection actor that hosts it."),
        Attribute("subscriptionCount", INTEGER, "Subscriptions now, in the whole network.", is_graph=True),
        Attribute("subscribersHere", INTEGER, "Subscribers that are attached at this router.", is_graph=True),
        Attribute("publishersHere", INTEGER, "Publishers that are attached at this router.", is_graph=True),
        Attribute("unsettledCount", INTEGER, "Deliveries that entered here and are not done.", is_graph=True),
        Attribute("unsettledOctets", INTEGER, "What these take.", unit="octets", is_graph=True),
        Attribute("recordCount", INTEGER, "Deliveries that are held here for subscribers.", is_graph=True),
        Attribute(
            "oldestSeconds",
            INTEGER,
            "Age of the oldest delivery that entered here and has no outcome yet.",
            unit="s",
            is_graph=True,
        ),
        Attribute(
            "waitsFor",
            LIST,
            "The subscriptions that this delivery waits for, by the end of their names; of another router, all.",
        ),
        *_OUTCOMES,
        Attribute(
            "expiredCount",
            INTEGER,
            "Subscriptions that this router has ended, since they were away too long.",
            is_graph=True,
        ),
        Attribute(
            "refusedCount",
            INTEGER,
            "Links that were refused, or detached since their clients did what is not allowed.",
            is_graph=True,
        ),
    ),
)

PUBLISHER = EntityType(
    name="publisher",
    prefix=OWN_PREFIX,
    description="A publisher of a topic at this router.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_attributes=(
        *_CLIENT,
        Attribute("attached", BOOLEAN, "Whether its link is attached; otherwise it may come back."),
        Attribute("unsettledCount", INTEGER, "Its deliveries that it has not settled.", is_graph=True),
        Attribute(
            "settlingCount", INTEGER, "Those that it has settled and not all routers know of.", is_graph=True
        ),
        Attribute(
            "oldestSeconds", INTEGER, "Age of its oldest delivery without an outcome.", unit="s", is_graph=True
        ),
        Attribute(
            "waitsFor",
            LIST,
            "The subscriptions that this delivery waits for, by the end of their names; of another router, all.",
        ),
        Attribute("creditAvailable", INTEGER, "Deliveries that it may send now.", is_graph=True),
        *_OUTCOMES,
    ),
)

SUBSCRIPTION = EntityType(
    name="subscription",
    prefix=OWN_PREFIX,
    description="A subscription of a topic, wherever in the network. DELETE ends it, and its client is told.",
    purpose=Purpose.OPERATIONAL,
    base=OPERATIONAL_ENTITY,
    own_operations=("DELETE",),
    own_attributes=(
        *_CLIENT,
        Attribute("router", STRING, "The id of the router where it is attached, or was last."),
        Attribute("attached", BOOLEAN, "Whether it is attached, at a router in reach."),
        Attribute("durable", BOOLEAN, "Whether it stays when its client is away."),
        Attribute("timeoutSeconds", INTEGER, "How long its client may be away.", unit="s"),
        Attribute("awaySeconds", INTEGER, "How long its client has been away.", unit="s", is_graph=True),
        Attribute(
            "undecidedCount",
            INTEGER,
            "Deliveries held here that wait for it; 0 if it is at another router.",
            is_graph=True,
        ),
        Attribute("deliveredCount", INTEGER, "Deliveries that its link has got here.", is_graph=True),
        Attribute(
            "placeholderCount",
            INTEGER,
            "Deliveries of its client's unsettled map that this router has nothing of.",
            is_graph=True,
        ),
        Attribute(
            "publishersWaiting",
            INTEGER,
            "Publishers at this router whose oldest delivery waits for it.",
            is_graph=True,
        ),
        Attribute(
            "oldestWaitingSeconds",
            INTEGER,
            "Age of the oldest of these deliveries: how long it has held up others.",
            unit="s",
            is_graph=True,
        ),
    ),
)
