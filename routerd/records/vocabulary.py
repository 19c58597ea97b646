"""The words that records use."""

from enum import Enum


class LinkKind(Enum):
    """What is at the other end of a link."""

    CLIENT = "client"
    TRUNK = "trunk"
    EDGE = "edge"
    SIBLING = "sibling"
    ROUTER = "router"

    @property
    def says(self) -> str:
        """What the word means."""
        return _LINK_KINDS[self]


_LINK_KINDS = {
    LinkKind.CLIENT: "a client or broker",
    LinkKind.TRUNK: "another router of the network",
    LinkKind.EDGE: "an edge router, or the interior router of one",
    LinkKind.SIBLING: "another worker of the same router",
    LinkKind.ROUTER: "the router itself, such as its management",
}


class Outcome(Enum):
    """What became of a delivery."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RELEASED = "released"
    MODIFIED = "modified"
    PRESETTLED = "presettled"
    DROPPED = "dropped"

    @property
    def says(self) -> str:
        """What the word means."""
        return _OUTCOMES[self]


_OUTCOMES = {
    Outcome.ACCEPTED: "settled by the consumer, who has it",
    Outcome.REJECTED: "refused as invalid",
    Outcome.RELEASED: "not delivered; it never left the router, or the consumer gave it back untouched",
    Outcome.MODIFIED: "it may have been seen, and did not stay where it was",
    Outcome.PRESETTLED: "sent settled, and passed on",
    Outcome.DROPPED: "sent settled, and not passed on",
}


class Cause(Enum):
    """Why a message was not delivered."""

    NO_CONSUMER = "no-consumer"
    NO_ROUTE = "no-route"
    LOOP = "loop"
    CONSUMER_LOST = "consumer-lost"
    TRUNK_LOST = "trunk-lost"
    CONSUMER_DECIDED = "consumer-decided"
    TOO_LARGE = "too-large"
    TOO_MANY_WAIT = "too-many-wait"
    POLICY = "policy"

    @property
    def says(self) -> str:
        """What the word means."""
        return _CAUSES[self]


_CAUSES = {
    Cause.NO_CONSUMER: "nobody in the network receives from the address",
    Cause.NO_ROUTE: "there are consumers, and no way to them that the message may take",
    Cause.LOOP: "the message has passed this router before, or more routers than there are on any path",
    Cause.CONSUMER_LOST: "the consumer's link or connection was lost before it decided",
    Cause.TRUNK_LOST: "the connection to the next router was lost before an outcome came back",
    Cause.CONSUMER_DECIDED: "the consumer said so",
    Cause.TOO_LARGE: "larger than the consumer takes",
    Cause.TOO_MANY_WAIT: "more messages wait for the consumer than the router keeps",
    Cause.POLICY: "the policy of a listener forbids it",
}


class EventKind(Enum):
    """What an event is."""

    LINK_STATE = "link-state"
    TRUNK_UP = "trunk-up"
    TRUNK_LOST = "trunk-lost"
    ROUTER_REACHED = "router-reached"
    ROUTER_LOST = "router-lost"
    ROUTE_CHANGED = "route-changed"
    ADDRESS_ADDED = "address-added"
    ADDRESS_REMOVED = "address-removed"
    LINK_ATTACHED = "link-attached"
    LINK_DETACHED = "link-detached"
    CREDIT_STALL = "credit-stall"
    ROWS_LOST = "rows-lost"

    @property
    def says(self) -> str:
        """What the word means, and which columns go with it."""
        return _EVENT_KINDS[self]


_EVENT_KINDS = {
    EventKind.LINK_STATE: "what the router advertises of its trunks (`costs`); when it changes, and once in every hour",
    EventKind.TRUNK_UP: "a trunk to a neighbour (`peer`, `cost`) can be used",
    EventKind.TRUNK_LOST: "a trunk to a neighbour (`peer`) is lost",
    EventKind.ROUTER_REACHED: "another router (`peer`) can be reached, at `cost`",
    EventKind.ROUTER_LOST: "another router (`peer`) can not be reached any more",
    EventKind.ROUTE_CHANGED: "the next hop (`detail`) or `cost` to another router (`peer`) is another one",
    EventKind.ADDRESS_ADDED: "`address` has its first consumer at this router",
    EventKind.ADDRESS_REMOVED: "`address` lost its last consumer at this router",
    EventKind.LINK_ATTACHED: "a `link` of `peer` (its container) to `address`, with a window of `credit`; "
    "those that exist once more in every hour",
    EventKind.LINK_DETACHED: "a `link` of `peer` is gone",
    EventKind.CREDIT_STALL: "a consumer's `link` or a trunk that messages waited for, for want of credit, "
    "for `duration_us` until now",
    EventKind.ROWS_LOST: "the recorder could not keep `number` rows; `detail` says of what and why",
}
