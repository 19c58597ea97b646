"""The addresses at which a router serves other routers. No links of clients are there, and nothing is counted."""

from collections.abc import Mapping
from types import MappingProxyType

from routerd.core import HEARTBEAT, LOOKUP, TRACKING, Distribution, Router, RouterMode
from routerd.mesh import MOBILE_ENGINE, NEIGHBOUR_ENGINE, ROUTER_ENGINE

_BALANCED, _MULTICAST, _FLOOD = (Distribution.BALANCED.value, Distribution.MULTICAST.value, "flood")
_FOR_CONTAINERS = {f"M0{HEARTBEAT}": _BALANCED}
_FOR_NETWORK = {
    **{f"M0{one}": _BALANCED for one in (LOOKUP, TRACKING)},
    f"L{NEIGHBOUR_ENGINE}": _FLOOD,
    **{f"{kind}{ROUTER_ENGINE}": _FLOOD for kind in "LT"},
    **{f"{kind}{MOBILE_ENGINE}": _MULTICAST for kind in "LT"},
}
_BY_MODE: Mapping[RouterMode, Mapping[str, str]] = MappingProxyType(
    {
        RouterMode.STANDALONE: _FOR_CONTAINERS,
        RouterMode.INTERIOR: {**_FOR_CONTAINERS, **_FOR_NETWORK},
        RouterMode.EDGE: {},
    }
)


def service_addresses(router: Router) -> Mapping[str, str]:
    """Return the distribution of each, by its key; of several workers the first one has them."""
    return {} if router.worker else _BY_MODE[router.settings.mode]
