"""The tables of records."""

from routerd.records.schema import Column, Kind, Table

FLOWS = Table(
    "flows",
    1,
    "Sums of one second: a row for each address, ingress, egress and origin with messages in it.",
    (
        Column("time", Kind.TIME, "the beginning of the second"),
        Column("address", Kind.NAME, "the address"),
        Column("distribution", Kind.NAME, "`balanced`, `closest` or `multicast`, or `link-route`"),
        Column("ingress", Kind.NAME, "the link that the messages came in by"),
        Column("ingress_kind", Kind.NAME, "what is at its other end"),
        Column("origin", Kind.NAME, "the router where they entered the network"),
        Column("egress", Kind.NAME, "the link that they left by; null if they did not leave", is_optional=True),
        Column("egress_kind", Kind.NAME, "what is at its other end", is_optional=True),
        Column("egress_router", Kind.NAME, "the next router, or this one if they left the network", is_optional=True),
        Column("messages", Kind.LARGE, "messages that began in this second"),
        Column("octets", Kind.LARGE, "of these messages"),
        Column("accepted", Kind.LARGE, "outcomes that became known in this second"),
        Column("rejected", Kind.LARGE, "the same"),
        Column("released", Kind.LARGE, "the same"),
        Column("modified", Kind.LARGE, "the same"),
        Column("presettled", Kind.LARGE, "messages that came settled and were passed on"),
        Column("dropped", Kind.LARGE, "messages that came settled and were not"),
    ),
)

DECISIONS = Table(
    "decisions",
    1,
    "The ways of messages and their outcomes. A sampled message has a row at each router that it passed, "
    "written once its outcome is known.",
    (
        Column("time", Kind.TIME, "when the message began to come in"),
        Column("address", Kind.NAME, "the address"),
        Column("distribution", Kind.NAME, "`balanced`, `closest` or `multicast`, or `link-route`"),
        Column("phase", Kind.SMALL, "of the address, for waypoints"),
        Column("priority", Kind.SMALL, "0 to 9"),
        Column("size_octets", Kind.NUMBER, "of the message"),
        Column("ingress", Kind.NAME, "the link that it came in by"),
        Column("ingress_kind", Kind.NAME, "what is at its other end"),
        Column("path", Kind.NAME, "the routers that it passed, joined by `/`; the last is this one"),
        Column("hop", Kind.SMALL, "how many routers it passed before this one"),
        Column("candidates", Kind.CANDIDATES, "all that could have been chosen"),
        Column("choice", Kind.SMALL, "which of the candidates, from 0; null if none", is_optional=True),
        Column("egress", Kind.NAME, "the link of the candidate that was chosen", is_optional=True),
        Column("egress_kind", Kind.NAME, "what is at its other end", is_optional=True),
        Column("egress_router", Kind.NAME, "the next router, or this one", is_optional=True),
        Column("outcome", Kind.NAME, "what became of it"),
        Column(
            "cause",
            Kind.NAME,
            "why it was not delivered; null at routers that only passed the outcome on",
            is_optional=True,
        ),
        Column("latency_us", Kind.LARGE, "from `time` to the outcome; null if settled before", is_optional=True),
        Column("weight", Kind.NUMBER, "how many decisions this one stands for: n, if one in n was sampled"),
        Column("message_key", Kind.LARGE, "of the message-id, where there is one", is_optional=True),
    ),
)

EVENTS = Table(
    "events",
    1,
    "What happened to the network, its addresses and links: a row for each event, by the router that saw it.",
    (
        Column("time", Kind.TIME, "when it was noticed; of a credit stall, when it ended"),
        Column("kind", Kind.NAME, "what happened"),
        Column("address", Kind.NAME, "the address", is_optional=True),
        Column("link", Kind.NAME, "the link", is_optional=True),
        Column("link_kind", Kind.NAME, "what is at its other end", is_optional=True),
        Column("peer", Kind.NAME, "the other router, or the container-id of a client", is_optional=True),
        Column("cost", Kind.NUMBER, "of a trunk or path", is_optional=True),
        Column("costs", Kind.COSTS, "the router's cost to each neighbour", is_optional=True),
        Column("credit", Kind.NUMBER, "deliveries that a link may have under way", is_optional=True),
        Column("duration_us", Kind.LARGE, "how long it lasted", is_optional=True),
        Column("number", Kind.LARGE, "how many", is_optional=True),
        Column("detail", Kind.TEXT, "what else there is to say", is_optional=True),
    ),
)

TABLES = (FLOWS, DECISIONS, EVENTS)
