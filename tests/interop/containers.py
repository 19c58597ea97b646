"""What a router is configured with to use containers, and what it says of that."""

from tests.system.management_client import ManagementClient
from tests.system.routers import RunningRouter, section
from tests.waiting import eventually

BOTH = ("in", "out")


def connector(name: str, port: int) -> str:
    """Return the section of a connector to a container of this host."""
    return section("connector", name=name, host="127.0.0.1", port=port, role="route-container")


def auto_link(address: str, direction: str, connection: str, **attributes: object) -> str:
    """Return the section of an auto-link to the container at a connector."""
    return section("autoLink", address=address, direction=direction, connection=connection, **attributes)


def waypoint(queue: str, *connections: str, prefix: str = "/queue/") -> list[str]:
    """Return the sections that have a queue stand between producers and consumers, at each of the containers."""
    links = [
        auto_link(queue, direction, name, externalAddress=f"{prefix}{queue}")
        for name in connections
        for direction in ("out", "in")
    ]
    return [section("address", prefix=queue, waypoint="yes"), *links]


def link_routes(prefix: str, *connections: str, **attributes: object) -> list[str]:
    """Return the sections that route links of both directions to each of the containers, or to other routers."""
    places = [{"connection": name} for name in connections] or [{}]
    return [
        section("linkRoute", prefix=prefix, direction=direction, **place, **attributes)
        for place in places
        for direction in BOTH
    ]


def auto_link_states(router: RunningRouter) -> list[tuple[str, str, str, str | None]]:
    """Return of each auto-link the address, the direction, how it fares, and what went wrong."""
    with ManagementClient(router.port) as manage:
        rows = manage.query("router.config.autoLink")
    return sorted((one["address"], one["direction"], one["operStatus"], one["lastError"]) for one in rows)


def wait_until_active(router: RunningRouter, within_s: float = 60.0) -> None:
    """Wait until all auto-links are in use."""
    eventually(
        lambda: all(one[2] == "active" for one in auto_link_states(router)),
        lambda: str(auto_link_states(router)),
        within_s,
        0.2,
    )


def link_route_states(router: RunningRouter) -> set[str]:
    """Return how link routes fare."""
    with ManagementClient(router.port) as manage:
        return {one["operStatus"] for one in manage.query("router.config.linkRoute")}


def wait_until_routed(router: RunningRouter, within_s: float = 60.0) -> None:
    """Wait until all link routes have their containers."""
    eventually(lambda: link_route_states(router) == {"active"}, "the link routes are active", within_s, 0.2)
