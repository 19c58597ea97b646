"""One connection as the router knows it, whatever is at the other end."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from routerd.core.links.role import NO_CONNECTION_ROLE, ConnectionRole
from routerd.core.settings import DEFAULT_LINK_CAPACITY, REACH_OCTETS

if TYPE_CHECKING:
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.trunk import Trunk
    from routerd.core.policy.service_rules import ServiceRules
    from routerd.wire import Connection, Session

NORMAL = "normal"
FABRIC = "fabric"
INTER_ROUTER = "inter-router"
EDGE = "edge"
INNER = "inner"
"""The far end is in the router itself, as the endpoints of management are."""


class Peer:
    """A connection, what its listener asks for, and the links over it."""

    connection: "Connection"
    shell: Any
    details: Any
    trunk: "Trunk | None"
    role: ConnectionRole
    """Takes the events of the connection; `role_name` is what its listener or connector says."""

    def __init__(
        self,
        number: int,
        role: str = NORMAL,
        *,
        capacity: int = DEFAULT_LINK_CAPACITY,
        strips_in: bool = True,
        strips_out: bool = True,
        is_multi_tenant: bool = False,
    ) -> None:
        self.number = number
        self.role_name = role
        self.role = NO_CONNECTION_ROLE
        self.is_fabric = role == FABRIC
        self.is_inner = role == INNER
        # Those who send to it take turns, a connection at a time: it is an endpoint that answers requests.
        self.is_fair = False
        self.is_router = role == INTER_ROUTER
        # Between an edge router and an interior router.
        self.is_edge = role == EDGE
        self.is_external = not (self.is_fabric or self.is_inner)
        # A connection that we began, to which we attach the links between routers.
        self.is_initiator = False
        self.cost = 1
        # Why the connection was closed, if the peer gave a reason or the engine had one.
        self.error: Any = None
        self.trunk = None
        self.capacity = capacity
        # How much of the messages of a producer may be under way, where they are large.
        self.reach_octets = REACH_OCTETS
        is_client = self.is_external and not (self.is_router or self.is_edge)
        self.strips_in = strips_in and is_client
        self.strips_out = strips_out and is_client
        self.is_multi_tenant = is_multi_tenant
        # The vhost whose own addresses this connection uses; empty for those of the router.
        self.tenant = ""
        # Who the peer proved to be: "anonymous" by ANONYMOUS, empty without a SASL layer.
        self.user = ""
        # What a service said that the peer may do; None if it said nothing.
        self.service_rules: ServiceRules | None = None
        # The vhost whose policy holds, whatever the peer's open says; None is the one that it names.
        self.policy_vhost: str | None = None
        # What policy allows here; None where it does not hold.
        self.grant: Any = None
        # The largest message that a producer may send, in octets; 0 is no bound.
        self.max_message_size = 0
        self.sibling = -1
        self.is_open = False
        self.opened_at = 0.0
        # When a delivery last came or went; 0 before the first.
        self.active_at = 0.0
        # Whether the log is to have the messages of this connection.
        self.is_watched = False
        self.is_draining = False
        # The transport takes nothing more for now: no delivery is begun on this connection.
        self.is_blocked = False
        # So much is composed for it that nothing is added until that is written.
        self.is_full = False
        # Outlets that were passed over because there was no window or no room, by session. Once one of them has room
        # again, all others of its session have it.
        self.starved: dict[Session, OrderedDict[Outlet, None]] = {}
        self.inlets: dict[Inlet, None] = {}
        self.outlets: dict[Outlet, None] = {}
        self.shell = None
        self.details = None
