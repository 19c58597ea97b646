"""The routes to other routers, and the state of routers for management."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Route:
    """The route to another router."""

    router: str
    next_hop: str
    """A neighbour."""
    trunk: int
    """The trunk to the neighbour."""
    cost: int
    """The cost and hops of the whole path."""
    hops: int


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes to all reachable routers."""

    version: int
    """Counts up; the counts of another instance of this router are no measure."""
    radius: int
    """Hops to the farthest router."""
    nodes: Mapping[str, Route]
    neighbours: Mapping[str, tuple[int, ...]]
    """The trunks to each neighbour; the first is the one in use."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """The state of a router of the mesh, for management. Times are those that the engine was given."""

    id: str
    is_self: bool
    instance: int
    protocol_version: int
    ls_seq: int
    mobile_seq: int
    peers: Mapping[str, int]
    """Its neighbours and the costs of the links to them."""
    is_reachable: bool
    next_hop: str | None
    """Nothing for a neighbour that is reached directly, for ourselves, and for a router that can't be reached."""
    trunk: int | None
    """The trunk in use to a neighbour."""
    cost: int | None
    valid_origins: tuple[str, ...]
    """The routers whose best path to it leads through us."""
    address_count: int
    last_topology_change: float
    """When its links were last known to change."""
    last_seen: float | None
    """When it last announced itself, or told its links; nothing for ourselves."""
