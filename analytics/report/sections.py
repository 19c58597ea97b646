"""What each part of a report shows, and how to act on it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report."""

    name: str
    title: str
    says: str
    columns: tuple[str, ...] = ()
    """Those to print; all if none is named."""
    rows: int = 12


SECTIONS = (
    Section(
        "matrix",
        "Traffic matrix",
        "How many messages went from where they entered the network to where they left it. Clients that are far "
        "from what they use most are better connected elsewhere.",
        rows=8,
    ),
    Section(
        "families",
        "Traffic by family of addresses",
        "The same for all addresses that begin alike. What loads a path most is the first to be moved.",
        rows=8,
    ),
    Section(
        "talkers",
        "Top talkers",
        "The busiest addresses, senders and consumers. If one of them has most of the traffic, plan for it by name.",
        rows=30,
    ),
    Section(
        "outcomes",
        "Outcomes over time",
        "What became of messages, where they entered the network. Look for colours other than green.",
        rows=0,
    ),
    Section(
        "undeliverables",
        "What was not delivered",
        "Messages by why they were not delivered, at the router that knows. A cause of the network is yours to "
        "mend, `consumer-decided` is the consumer's.",
    ),
    Section(
        "latency",
        "Latency by address",
        "From a message's arrival at its first router until its outcome is known there, slowest first. Compare "
        "the 99 % with the half: far apart, some consumer or moment is slow, not the address.",
    ),
    Section(
        "latency_by_path",
        "Latency by path",
        "From the last router of a path to the consumer and back. A path that is slow here has slow consumers.",
    ),
    Section(
        "latency_by_hop",
        "Latency by hop",
        "What routers see that are so many hops from where a message entered. The more it falls from one hop to "
        "the next, the more time the trunks take.",
    ),
    Section(
        "balance",
        "Balance between consumers",
        "What each consumer got, and what it could take by its window and speed. A Jain index of 1 is an even "
        "share; a fairness of 1 is a share by capacity. Slow consumers come first: look at these.",
        (
            "address",
            "router",
            "consumer",
            "messages",
            "p50_us",
            "share",
            "capacity_share",
            "jain",
            "fairness",
            "is_slow",
        ),
    ),
    Section(
        "stretch",
        "Path stretch",
        "Paths against the cheapest of their time (stretch), and against the fewest hops. Stretch above 1 is a "
        "network that has not settled; hops to spare are a matter of costs.",
    ),
    Section(
        "trunks",
        "Trunk load and headroom",
        "Each direction of each trunk, and what is left of its capacity in a busy second. Where no capacity is "
        "given, that is the busiest second of any trunk.",
        ("router", "peer", "messages", "mean_octets_s", "p99_octets_s", "peak_octets_s", "peak_at", "headroom"),
    ),
    Section(
        "stalls",
        "Credit stalls",
        "Where messages waited for credit, how long, and whose it was. Many of one consumer: it needs company.",
    ),
    Section(
        "churn",
        "What comes and goes",
        "Addresses, links, trunks and routes that were lost or changed. Every change makes all routers compute; "
        "what flaps should be found and mended.",
    ),
    Section(
        "anomalies",
        "Unusual hours",
        "Hours that are far from the same hour of earlier days, by address. It takes two earlier days to say.",
    ),
    Section(
        "clocks",
        "Clocks",
        "How far the clock of the later router is ahead of the earlier one's, by messages that both recorded. "
        "Above a second, synchronise them.",
    ),
)
