"""What client and router say to each other about guarantees, beside AMQP's own fields."""

from enum import StrEnum
from typing import Any

from mobula_client.engine import Attach, Link, Symbol
from mobula_client.errors import ExactlyOnceNotOffered

EXACTLY_ONCE = Symbol("mobula:exactly-once")
"""The link capability that a client desires, and that a router offers where an address has it."""
ATTACH_COUNT = Symbol("mobula:attach-count")
"""The link property with the number of this attach, counted by the client over all its processes."""

AGES = Symbol("mobula:ages")
"""The link property with the ages of what a publisher has unsettled: milliseconds for each, in the order of its map."""
EPOCH = Symbol("mobula:epoch")
"""The link property by which routers know a subscription: it comes with the answer, and goes with the next attach."""
STAMP = Symbol("mobula:stamp")
"""The link property with a router's time, likewise."""
CONTAINER, LINK = Symbol("mobula:container"), Symbol("mobula:link")
"""The link properties with the names that the client has given: an edge router has names of its own for its links."""


class Guarantee(StrEnum):
    """The guarantee that a publisher or a subscriber asks for."""

    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


def check_offered(link: str, performative: Attach) -> None:
    """Refuse to go on with a peer that does not offer exactly-once: it would not heed the unsettled map."""
    if EXACTLY_ONCE not in performative.offered_capabilities:
        raise ExactlyOnceNotOffered(
            link, "amqp:not-implemented", "the router does not offer exactly-once for this address"
        )


def identity_of(engine: Link) -> dict[Symbol, Any]:
    """Return the properties of an attach that say whose link it is, at whatever router it is attached."""
    return {CONTAINER: engine.session.connection.config.container_id, LINK: engine.name}
