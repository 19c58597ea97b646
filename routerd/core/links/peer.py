"""A connection as the router knows it, with any kind of peer."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from routerd.core.links.role import NO_CONNECTION_ROLE, ConnectionRole
from routerd.core.settings import DEFAULT_LINK_CAPACITY, REACH_OCTETS, UNHELD_MAX

if TYPE_CHECKING:
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.routed_end import RoutedEnd
    from routerd.core.links.trunk import Trunk
    from routerd.core.policy.service_rules import ServiceRules
    from routerd.wire import Connection, Session

NORMAL = "normal"
FABRIC = "fabric"
INTER_ROUTER = "inter-router"
EDGE = "edge"
ROUTE_CONTAINER = "route-container"
"""At the far end is a container, mostly a broker, that the router attaches links to by itself."""
TOPICS = "topics"
"""The role of the connection to the container inside the router that has its topics."""
INNER = "inner"
"""The role of a connection whose far end is inside the router, such as the endpoints of management."""


class Peer:
    """A connection, the settings of its listener, and its links."""

    connection: "Connection"
    shell: Any
    details: Any
    trunk: "Trunk | None"
    role: ConnectionRole
    """The role that takes the connection's events; `role_name` is the role that its listener or connector configures.
    """

    def __init__(
        self,
        number: int,
        role: str = NORMAL,
        *,
        capacity: int = DEFAULT_LINK_CAPACITY,
        strips_in: bool = True,
        strips_out: bool = True,
        is_multi_tenant: bool = False,
        place: str = "",
    ) -> None:
        self.number = number
        self.role_name = role
        # The name of its listener or connector, if that was given one.
        self.place = place
        self.role = NO_CONNECTION_ROLE
        self.is_fabric = role == FABRIC
        self.is_inner = role in (INNER, TOPICS)
        # Connections that send to it take turns: it is an endpoint that answers requests.
        self.is_fair = False
        self.is_router = role == INTER_ROUTER
        self.is_container = role == ROUTE_CONTAINER
        # Between an edge router and an interior router.
        self.is_edge = role == EDGE
        self.is_external = not (self.is_fabric or self.is_inner)
        # An edge router tells its interior router of the addresses of its links, as of those of clients.
        self.is_followed = not self.is_inner
        # A connection that we began; we attach the links between routers.
        self.is_initiator = False
        self.cost = 1
        # The reason for the close, from the peer or the engine.
        self.error: Any = None
        self.trunk = None
        self.capacity = capacity
        # Octets that a producer of large messages may have under way.
        self.reach_octets = REACH_OCTETS
        # Octets of messages that wait and came in parts without closing a window, and their limit. Of another router
        # they are counted for each address.
        self.unheld_octets = 0
        self.unheld_max = UNHELD_MAX
        is_client = self.is_external and not (self.is_router or self.is_edge)
        # Brokers and routers lose nothing that waits for credit; what a client has queued waits for its outcome.
        self.keeps_messages = self.is_container or not is_client
        self.strips_in = strips_in and is_client
        self.strips_out = strips_out and is_client
        # It has its credit back for settled messages that wait. These are dropped if they are too many.
        self.gives_credit_at_once = False
        # It is told the path of each message.
        self.is_told = is_client and not strips_out
        self.is_multi_tenant = is_multi_tenant
        # The vhost whose own addresses this connection uses; empty for those of the router.
        self.tenant = ""
        # The authenticated user: "anonymous" by ANONYMOUS, empty without a SASL layer.
        self.user = ""
        # The rights that an authentication service gave the peer; None if it gave none.
        self.service_rules: ServiceRules | None = None
        # The vhost whose policy applies, regardless of the peer's open; None for the vhost that the open names.
        self.policy_vhost: str | None = None
        # The grant of policy; None where policy does not apply.
        self.grant: Any = None
        # The largest message of a producer, in octets; 0 is no bound.
        self.max_message_size = 0
        self.sibling = -1
        self.is_open = False
        self.opened_at = 0.0
        # The time of the last delivery in either direction; 0 before the first.
        self.active_at = 0.0
        # Whether the messages of this connection are logged.
        self.is_watched = False
        self.is_draining = False
        # The transport is full: no delivery begins on this connection.
        self.is_blocked = False
        # The output buffer is full: no delivery is added until it is written.
        self.is_full = False
        # Outlets that were passed over without window or room, by session. Once one of them has room, all others of its
        # session have it too.
        self.starved: dict[Session, OrderedDict[Outlet, None]] = {}
        self.inlets: dict[Inlet, None] = {}
        self.outlets: dict[Outlet, None] = {}
        # The halves of routed links here, and those of them that wait for room, credit or what is sent before a detach.
        self.routed: dict[RoutedEnd, None] = {}
        self.stuck: dict[RoutedEnd, None] = {}
        # Consumers that are not answered, since not every worker knows them.
        self.unconfirmed = 0
        # How many routed links this peer has attached to receive, and to send.
        self.routed_out = 0
        self.routed_in = 0
        self.shell = None
        self.details = None

    def watch(self, is_watched: bool) -> None:
        """Report the messages of the connection to the observer, or stop that."""
        self.is_watched = is_watched
        ends: list[Inlet | Outlet | RoutedEnd] = [*self.inlets, *self.outlets, *self.routed]
        for end in ends:
            end.is_watched = is_watched
