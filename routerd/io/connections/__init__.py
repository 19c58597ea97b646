"""Where a worker's connections come from.

`listeners` accept clients and routers through the `entrance`, which heeds policy. `connectors` make connections.
`fabric` joins the workers of a router, each at its `fabric_endpoint`. `configs` says what our side of each accepts.
"""

from routerd.io.connections.configs import connector_config, open_within_s
from routerd.io.connections.connectors import Connectors, ConnectorState, client_sasl
from routerd.io.connections.entrance import Entrance
from routerd.io.connections.fabric import Fabric
from routerd.io.connections.listeners import Listeners

__all__ = [
    "ConnectorState",
    "Connectors",
    "Entrance",
    "Fabric",
    "Listeners",
    "client_sasl",
    "connector_config",
    "open_within_s",
]
