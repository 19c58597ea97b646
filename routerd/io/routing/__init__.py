"""The routing engine between octets and news.

`host` gives the engine its world, `control_messages` are its octets, `network_view` is what a worker remembers for it.
"""

from routerd.io.routing.host import RoutingHost, new_instance
from routerd.io.routing.network_view import NetworkView

__all__ = [
    "NetworkView",
    "RoutingHost",
    "new_instance",
]
