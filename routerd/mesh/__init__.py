"""The routing protocol without I/O: neighbours, link states, paths, and the addresses of other routers.

`engine` is what a router hosts; `messages` are what routers exchange, `commands` what the engine wants done, `settings`
its limits and times. Behind it, `knowledge` has what is known: `hello` the neighbours and their trunks, `link_state`
and `node` the other routers, `paths` and `topology` the ways to them, `mobile_addresses` who has which address.
`exchange` takes what others tell, `questions` are what they are asked, `outbox` and `transit` send and pass on.
"""

from routerd.mesh.checkpoint import Checkpoint, NodeCheckpoint
from routerd.mesh.commands import (
    AddressesMapped,
    Command,
    OriginsChanged,
    Remark,
    RouterForgotten,
    RoutesChanged,
    SendControl,
)
from routerd.mesh.engine import RoutingEngine
from routerd.mesh.errors import ForeignCheckpoint, MalformedControl, MeshError, NotAdvertisable, UnsupportedVersion
from routerd.mesh.messages import (
    MOBILE_ENGINE,
    NEIGHBOUR_ENGINE,
    ROUTER_ENGINE,
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MobileAddressRequest,
    MobileAddressUpdate,
    RouterAdvertisement,
)
from routerd.mesh.mobile_addresses import NO_HINT
from routerd.mesh.paths import Paths
from routerd.mesh.routes import NodeState, Route, Routes
from routerd.mesh.settings import MeshConfig

__all__ = [
    "MOBILE_ENGINE",
    "NEIGHBOUR_ENGINE",
    "NO_HINT",
    "ROUTER_ENGINE",
    "AddressesMapped",
    "Checkpoint",
    "Command",
    "ControlMessage",
    "ForeignCheckpoint",
    "Hello",
    "LinkStateRequest",
    "LinkStateUpdate",
    "MalformedControl",
    "MeshConfig",
    "MeshError",
    "MobileAddressRequest",
    "MobileAddressUpdate",
    "NodeCheckpoint",
    "NodeState",
    "NotAdvertisable",
    "OriginsChanged",
    "Paths",
    "Remark",
    "Route",
    "RouterAdvertisement",
    "RouterForgotten",
    "Routes",
    "RoutesChanged",
    "RoutingEngine",
    "SendControl",
    "UnsupportedVersion",
]
