"""What clients say when they attach to a topic."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from routerd.topics.claims import Claim, Stamp
from routerd.topics.effects import Outcome
from routerd.topics.names import ClientName


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherAttach:
    """A sending link that attaches."""

    name: ClientName
    unsettled: Mapping[bytes, float] = field(default_factory=dict)
    """The map of the client, in order: how many seconds ago each delivery was sent first."""
    attaches: int = 0
    """How often the client has attached this link, this time included; 0 if it does not count."""
    stamp: Stamp | None = None
    """The last one that a router gave it."""
    may_return: bool = True
    """The client may attach the link again. Otherwise its deliveries go on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberAttach:
    """A receiving link that attaches."""

    name: ClientName
    unsettled: Mapping[bytes, Outcome | None] = field(default_factory=dict)
    """The map of the client: what it has decided of each delivery, if it has."""
    epoch: Claim | None = None
    """What the subscription is known by; none at the first attach, or if the client does not keep it."""
    attaches: int = 0
    stamp: Stamp | None = None
    timeout_s: float = 0.0
    """How long it may be away; the topic has a bound."""
    credit: int = 0
    has_map: bool = False
    """It keeps what it has decided until that is settled, to name it when it attaches again."""

    @property
    def is_durable(self) -> bool:
        """Whether the subscription outlives its link."""
        return self.timeout_s > 0.0
