"""What a map shows: routers, the trunks between them, and how all of them fare."""

from dataclasses import dataclass
from enum import Enum


class RouterState(Enum):
    """How a router fares, as far as the router knows that was asked."""

    UP = "up"
    SILENT = "no answer"
    """There is a way to it, and its management did not answer in time."""
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"
    """No router, but a place that a connector leads to and nobody is known at."""


class TrunkState(Enum):
    """How a trunk fares."""

    UP = "up"
    ONE_SIDED = "one-sided"
    """Only one end counts the other among its neighbours: greetings pass one way, or something is changing."""
    SILENT = "silent"
    """It is connected, and no greetings pass."""
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a router tells of itself; None is what it does not tell."""

    connections: int | None = None
    addresses: int | None = None
    stuck: int | None = None
    """Deliveries that have been under way for more than 10 s."""
    blocked: int | None = None
    """Links without credit for more than 10 s."""
    uptime_s: int | None = None
    version: str | None = None

    @property
    def is_troubled(self) -> bool:
        """Whether something waits that should not."""
        return bool(self.stuck or self.blocked)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge router, which hangs on one router of the network."""

    id: str
    is_active: bool = True
    """Whether it uses this connection, or keeps it for when another is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterPoint:
    """One router."""

    id: str
    state: RouterState = RouterState.UP
    is_asked: bool = False
    health: Health | None = None
    path_cost: int | None = None
    """What the way costs to it from the router that was asked."""
    edges: tuple[Edge, ...] = ()
    uplinks: tuple[str, ...] = ()
    """Of an edge router: the routers of the network that it is connected to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trunk:
    """What joins two routers, `one` being the first by name."""

    one: str
    other: str
    state: TrunkState = TrunkState.UP
    costs: tuple[int, ...] = ()
    """One if both ends agree, more if they do not, none if it is not known."""
    connections: int = 1
    lost_connections: int = 0
    """Connectors between the two that do not come through."""

    @property
    def cost_text(self) -> str:
        """The cost as it is shown."""
        return "/".join(map(str, self.costs)) or "?"


@dataclass(frozen=True, slots=True)
class Graph:
    """All of it: routers by their ids, trunks by their ends."""

    routers: tuple[RouterPoint, ...]
    trunks: tuple[Trunk, ...]
