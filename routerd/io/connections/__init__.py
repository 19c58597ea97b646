"""Where a worker's connections come from.

`listeners` accept clients and routers through the `entrance`, which heeds policy. `connectors` make connections.
`fabric` joins the workers of a router, each at its `fabric_endpoint`. `configs` says what our side of each accepts, and
`stacks` which filters lie on it.
"""

from routerd.io.connections.configs import connector_config, open_within_s
from routerd.io.connections.connectors import Connectors, ConnectorState, client_sasl
from routerd.io.connections.entrance import Entrance
from routerd.io.connections.fabric import Fabric
from routerd.io.connections.listeners import Listeners
from routerd.io.connections.stacks import filters_to, transport_with

__all__ = [
    "ConnectorState",
    "Connectors",
    "Entrance",
    "Fabric",
    "Listeners",
    "client_sasl",
    "connector_config",
    "filters_to",
    "open_within_s",
    "transport_with",
]
