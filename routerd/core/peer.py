"""One connection as the router knows it, whatever is at the other end."""

from typing import TYPE_CHECKING, Any

from routerd.core.settings import DEFAULT_LINK_CAPACITY

if TYPE_CHECKING:
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.wire import Connection

NORMAL = "normal"
FABRIC = "fabric"
INNER = "inner"
"""The far end is in the router itself, as the endpoints of management are."""


class Peer:
    """A connection, what its listener asks for, and the links over it."""

    connection: "Connection"
    shell: Any
    details: Any

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
        self.role = role
        self.is_fabric = role == FABRIC
        self.is_inner = role == INNER
        self.is_external = not (self.is_fabric or self.is_inner)
        self.capacity = capacity
        self.strips_in = strips_in and self.is_external
        self.strips_out = strips_out and self.is_external
        self.is_multi_tenant = is_multi_tenant
        # The vhost whose own addresses this connection uses; empty for those of the router.
        self.tenant = ""
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
        # Outlets that were passed over for want of a window or of room in the transport.
        self.starved: dict[Outlet, None] = {}
        self.inlets: dict[Inlet, None] = {}
        self.outlets: dict[Outlet, None] = {}
        self.shell = None
        self.details = None
