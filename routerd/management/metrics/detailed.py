"""The samples of `/metrics/detailed`: series for each address, connection, link and so on, up to a limit.

The counts are lost with their link, or with the actor that has counted them.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from operator import itemgetter

from routerd.management.backing import Backing
from routerd.management.metrics.exposition import Samples
from routerd.management.metrics.families import LEFT_OUT
from routerd.management.rows import AddressRow, VhostRow
from routerd.management.topic_rows import TopicRow

Sample = tuple[str, tuple[str, ...], float]
Thing = tuple[tuple[str, ...], Sequence[Sample]]
"""What it is sorted by, and its series."""
Chosen = Callable[[str], bool]
"""Whether an address is wanted."""

_CLASSES = {
    **{"M": "mobile", "R": "router", "A": "area", "L": "local", "T": "topo", "H": "edge"},
    **{"C": "link-in", "E": "link-in", "D": "link-out", "F": "link-out"},
}
_NOT_OF_CLIENTS = ("fabric", "inner")


async def detailed_samples(
    backing: Backing, families: Iterable[str], addresses: Sequence[str], limit: int
) -> Samples:
    """Return the series of some families, up to `limit` in all; with addresses, only what is about these."""
    is_chosen = _chooser(addresses)
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in families:
        things = sorted(await GATHERERS[family](backing, is_chosen), key=itemgetter(0))
        kept = 0
        for _, samples in things:
            if len(samples) > limit:
                break
            limit -= len(samples)
            kept += 1
            for name, labels, value in samples:
                found.setdefault(name, {})[labels] = value
        found.setdefault(LEFT_OUT.name, {})[(family,)] = len(things) - kept
    return found


def _chooser(addresses: Sequence[str]) -> Chosen:
    """Return what tells whether an address is among those wanted; `*` at the end of one stands for anything."""
    if not addresses:
        return lambda text: True
    whole = frozenset(one for one in addresses if not one.endswith("*"))
    beginnings = tuple(one[:-1] for one in addresses if one.endswith("*"))
    return lambda text: text in whole or text.startswith(beginnings)


def _parts(key: str) -> tuple[str, str]:
    """Return the text and the class of an address key."""
    return key[2 if key[:1] == "M" else 1 :], _CLASSES.get(key[:1], key[:1])


async def _addresses(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    rows: dict[tuple[str, str], list[AddressRow]] = {}
    for row in await backing.addresses():
        parts = _parts(row.key)
        if is_chosen(parts[0]):
            rows.setdefault(parts, []).append(row)
    return [(labels, _address_samples(labels, of_key)) for labels, of_key in rows.items()]


def _address_samples(labels: tuple[str, str], rows: Sequence[AddressRow]) -> Sequence[Sample]:
    return (
        ("mobula_address_producers", labels, sum(row.producers for row in rows)),
        ("mobula_address_consumers", labels, sum(row.consumers for row in rows)),
        ("mobula_address_ingress_total", labels, sum(row.ingress for row in rows)),
        ("mobula_address_egress_total", labels, sum(row.egress for row in rows)),
        ("mobula_address_transit_total", labels, sum(row.transit for row in rows)),
        ("mobula_address_waiting", labels, sum(row.parked for row in rows)),
        ("mobula_address_waiting_age_seconds", labels, round(max(row.oldest_parked_s for row in rows), 3)),
    )


async def _connections(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    things = []
    for row in await backing.connections():
        if row.role in _NOT_OF_CLIENTS:
            continue
        labels = (str(row.connection), row.role, row.container, row.host, row.user or "")
        samples = (
            ("mobula_connection_uptime_seconds", labels, round(row.uptime_s, 3)),
            ("mobula_connection_producers", labels, row.producers),
            ("mobula_connection_consumers", labels, row.consumers),
            ("mobula_connection_blocked", labels, int(row.is_blocked)),
        )
        things.append((_numeric(labels[0]), samples))
    return things


async def _links(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    containers = {row.connection: row.container for row in await backing.connections()}
    things = []
    for row in await backing.links():
        text = _parts(row.address)[0] if row.address else ""
        if row.role in _NOT_OF_CLIENTS or not is_chosen(text):
            continue
        direction = "out" if row.is_outgoing else "in"
        labels = (str(row.connection), str(row.link), direction, text, containers.get(row.connection, ""))
        samples = (
            ("mobula_link_deliveries_total", labels, row.deliveries),
            ("mobula_link_credit", labels, row.credit),
            ("mobula_link_unsettled", labels, row.unsettled),
            ("mobula_link_undelivered", labels, row.undelivered),
            ("mobula_link_stalls_total", labels, row.stalls),
            ("mobula_link_zero_credit_seconds", labels, round(row.zero_credit_s, 3)),
        )
        things.append((_numeric(labels[1]), samples))
    return things


def _numeric(number: str) -> tuple[str, ...]:
    """Return what sorts numbers as such."""
    return (f"{number:>20}",)


async def _routers(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    return [
        ((one.id,), [("mobula_route_cost", (one.id, one.next_hop or one.id), one.cost)])
        for one in await backing.nodes()
        if one.cost is not None
    ]


async def _exchanges(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    return [
        (
            (row.name,),
            [
                ("mobula_exchange_messages_total", (row.name, result), getattr(row, result))
                for result in ("received", "forwarded", "diverted", "dropped")
            ],
        )
        for row in await backing.exchanges()
    ]


async def _topics(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    return [((row.topic,), _topic_samples(row)) for row in await backing.topics() if is_chosen(row.topic)]


def _topic_samples(row: TopicRow) -> Sequence[Sample]:
    labels = (row.topic,)
    return (
        ("mobula_delivery_topic_subscriptions", labels, row.subscriptions),
        ("mobula_delivery_topic_publishers", labels, row.publishers_here),
        ("mobula_delivery_topic_unsettled", labels, row.unsettled),
        ("mobula_delivery_topic_oldest_seconds", labels, round(row.oldest_s, 3)),
        ("mobula_delivery_topic_accepted_total", labels, row.accepted),
        ("mobula_delivery_topic_expired_total", labels, row.expired),
    )


async def _vhosts(backing: Backing, is_chosen: Chosen) -> Iterable[Thing]:
    rows: dict[str, list[VhostRow]] = {}
    for policy in await backing.policy():
        for one in policy.vhosts:
            rows.setdefault(one.hostname, []).append(one)
    return [((name,), _vhost_samples(name, of_name)) for name, of_name in rows.items()]


def _vhost_samples(name: str, rows: Sequence[VhostRow]) -> Sequence[Sample]:
    samples: list[Sample] = [("mobula_vhost_connections", (name,), sum(row.connections_current for row in rows))]
    for result in ("approved", "denied"):
        count = sum(getattr(row, f"connections_{result}") for row in rows)
        samples.append(("mobula_vhost_connections_total", (name, result), count))
    for what in ("sessions", "senders", "receivers", "message_size"):
        count = sum(getattr(row, f"{what}_denied") for row in rows)
        samples.append(("mobula_vhost_denials_total", (name, what), count))
    return samples


GATHERERS: Mapping[str, Callable[[Backing, Chosen], Awaitable[Iterable[Thing]]]] = {
    "address": _addresses,
    "connection": _connections,
    "link": _links,
    "router": _routers,
    "exchange": _exchanges,
    "topic": _topics,
    "vhost": _vhosts,
}
"""By the names of `DETAILED_FAMILIES`; addresses choose among addresses, links and topics only."""
