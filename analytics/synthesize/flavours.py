"""The kinds of messages that one router gets in an hour: each one has an address, a consumer and a path."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from analytics.network import Network
from analytics.synthesize.plan import GOOD_COST, HOUR_S, Consumer, MadeAddress, Plan


@dataclass(frozen=True, slots=True)
class Flavour:
    """Messages that differ in their time, size, latency and the loads that they meet."""

    address: MadeAddress
    consumer: Consumer | None
    """None where nobody receives."""
    path: tuple[str, ...]
    outcome: str
    cause: str | None
    cause_at: int
    """The hop at which the cause is known."""


@dataclass(frozen=True, slots=True)
class Batch:
    """So many messages of one kind, spread over some spans of time."""

    flavour: Flavour
    count: int
    spans: tuple[tuple[int, int], ...]
    """Beginnings and ends, seconds since 1970."""


def batches(plan: Plan, hour: int, origin: str) -> list[Batch]:
    """Return the messages that enter the network at one router in one hour."""
    lost = plan.lost_times(hour)
    whole = ((hour, hour + HOUR_S),)
    if not lost:
        return _of_network(plan, hour, origin, plan.network, whole, 1.0)
    kept = _between(hour, lost)
    share = sum(end - begin for begin, end in lost) / HOUR_S
    found = _of_network(plan, hour, origin, plan.network, kept, 1.0 - share)
    found += _of_network(plan, hour, origin, plan.broken_network, lost, share)
    return found + _cut_short(plan, found, lost)


def _of_network(
    plan: Plan, hour: int, origin: str, network: Network, spans: tuple[tuple[int, int], ...], share: float
) -> list[Batch]:
    made = []
    for address in plan.made_addresses:
        messages = _messages(plan, hour, address) * share
        parts = _shares(network, origin, address)
        for consumer, part in parts:
            path = network.path(origin, consumer.router) or (origin,)
            made += _by_outcome(Batch(_delivered(address, consumer, path), round(messages * part), spans))
        if not parts:
            cause = "no-route" if address.consumers else "no-consumer"
            made.append(Batch(Flavour(address, None, (origin,), "released", cause, 0), round(messages), spans))
    return [batch for batch in made if batch.count]


def _messages(plan: Plan, hour: int, address: MadeAddress) -> float:
    """Return how many messages of an address enter at each router in an hour."""
    busyness = sum(plan.rate(one, "") for one in plan.hours)
    return plan.rows / _rows_a_message(plan) / plan.routers * address.share * plan.rate(hour, address.name) / busyness


@cache
def _rows_a_message(plan: Plan) -> float:
    """Return how many routers a message passes on average."""
    network = plan.network
    return sum(
        address.share / plan.routers * part * len(network.path(origin, consumer.router) or (origin,))
        for origin in plan.router_ids
        for address in plan.made_addresses
        for consumer, part in _shares(network, origin, address)
    )


def _shares(network: Network, origin: str, address: MadeAddress) -> list[tuple[Consumer, float]]:
    """Return who gets which part: the nearest, or each one by how fast it is."""
    reached = [(one, network.cost(origin, one.router)) for one in address.consumers]
    near = [(one, cost) for one, cost in reached if cost is not None]
    if address.distribution == "closest":
        least = min((cost for _, cost in near), default=0)
        near = [(one, cost) for one, cost in near if cost == least]
        return [(one, 1 / len(near)) for one, _ in near]
    speeds = [1 / (one.latency_us * (1 + cost / GOOD_COST / 20)) for one, cost in near]
    return [(one, speed / sum(speeds)) for (one, _), speed in zip(near, speeds, strict=True)]


def _delivered(address: MadeAddress, consumer: Consumer, path: tuple[str, ...]) -> Flavour:
    return Flavour(address, consumer, path, "accepted", None, 0)


def _by_outcome(batch: Batch) -> list[Batch]:
    """Have consumers reject one message in two hundred."""
    flavour = batch.flavour
    rejected = batch.count // 200
    last = len(flavour.path) - 1
    refused = Flavour(flavour.address, flavour.consumer, flavour.path, "rejected", "consumer-decided", last)
    return [
        Batch(flavour, batch.count - rejected, batch.spans),
        Batch(refused, rejected, batch.spans),
    ]


def _cut_short(plan: Plan, found: list[Batch], lost: tuple[tuple[int, int], ...]) -> list[Batch]:
    """Return messages that were under way on the flapping trunk when it was lost."""
    ends = set(plan.planted.flapping)
    moments = tuple((begin - 1, begin) for begin, _ in lost)
    made = []
    for batch in found:
        flavour = batch.flavour
        steps = list(pairwise(flavour.path))
        at = next((hop for hop, step in enumerate(steps) if set(step) == ends), None)
        if at is not None and batch.flavour.outcome == "accepted" and (count := round(batch.count * 0.002)):
            shortened = Flavour(flavour.address, flavour.consumer, flavour.path[: at + 2], "modified", "trunk-lost", at)
            made.append(Batch(shortened, count, moments))
    return made


def _between(hour: int, lost: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    begins = [hour, *(end for _, end in lost)]
    ends = [*(begin for begin, _ in lost), hour + HOUR_S]
    return tuple(zip(begins, ends, strict=True))
