"""What routers and clients call things of topics beside AMQP's own names."""

from collections.abc import Mapping
from typing import Any

from routerd.topics import Claim, ClientName, Stamp
from routerd.wire import Attach, Symbol, ULong

PLACE = "mobula.topics"
"""The name of the connection to the container inside the router that has the topics, and of its link routes."""
EXACTLY_ONCE = Symbol("mobula:exactly-once")
"""The capability of a link whose client keeps an unsettled map; the router offers it for a topic."""
ATTACH_COUNT = Symbol("mobula:attach-count")
"""The property with the number of an attach, counted by the client over all its processes."""
EPOCH = Symbol("mobula:epoch")
"""The property by which a subscription is known: the router gives it, and the client says it at its next attach."""
STAMP = Symbol("mobula:stamp")
"""The property with the time of the router's answer, by its hybrid clock; the client says it at its next attach."""
CONTAINER = Symbol("mobula:container")
LINK = Symbol("mobula:link")
"""Properties with the names that the client has given its container and its link: routers on the way change names."""
AGES = Symbol("mobula:ages")
"""The property with the ages of the deliveries of a publisher's map, in its order: milliseconds since each was sent."""
NAMESAKE = "\0"
"""Begins the number by which a link differs from an earlier one of the same client that is still there."""


def client_name(performative: Attach) -> ClientName:
    """Return whose link it is: by its properties, or else by the name that it was routed with."""
    properties = performative.properties or {}
    container, link = properties.get(CONTAINER), properties.get(LINK)
    if isinstance(container, str) and isinstance(link, str):
        return ClientName(container, link)
    name, _, container = performative.name.partition(NAMESAKE)[0].rpartition("@")
    return ClientName(container, name)


def epoch_of(properties: Mapping[Any, Any] | None) -> Claim | None:
    """Return what the client says that its subscription is known by; None for none, or for what cannot be one."""
    found = (properties or {}).get(EPOCH)
    if not isinstance(found, list) or len(found) != 4 or not isinstance(found[3], str) or not _are_counters(found[:3]):
        return None
    attaches, ms, counter = map(int, found[:3])
    return Claim(attaches, ms, counter, str(found[3]))


def ages_of(properties: Mapping[Any, Any] | None, count: int) -> list[float] | None:
    """Return how many seconds ago each delivery of a map was sent; None for what does not fit the map."""
    found = (properties or {}).get(AGES)
    if found is None:
        return [0.0] * count
    if not isinstance(found, list) or len(found) != count or not _are_counters(found):
        return None
    return [one / 1000 for one in found]


def stamp_of(properties: Mapping[Any, Any] | None) -> Stamp | None:
    """Return the stamp that a client has got last."""
    found = (properties or {}).get(STAMP)
    if not isinstance(found, list) or len(found) != 2 or not _are_counters(found):
        return None
    return Stamp(*map(int, found))


def told_of(epoch: Claim, stamp: Stamp) -> dict[Symbol, Any]:
    """Return the properties of an answer."""
    return {
        EPOCH: [*map(ULong, epoch[:3]), epoch.router],
        STAMP: [*map(ULong, stamp)],
    }


def _are_counters(values: list[Any]) -> bool:
    return all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in values)


def attach_count(properties: Mapping[Any, Any] | None) -> int:
    """Return the number of an attach; 0 if the client does not count."""
    count = (properties or {}).get(ATTACH_COUNT)
    return int(count) if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else 0
