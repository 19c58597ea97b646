"""Configured link routes: each is active on the connections of its container."""

from typing import TYPE_CHECKING

from routerd.core.roles.containers import LINK_ROUTE, ContainerUse
from routerd.core.settings import LinkRouteSettings

if TYPE_CHECKING:
    from routerd.core.directory.link_routes import LinkRoutes
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.containers import Containers


class LinkRouteUse(ContainerUse):
    """One link route, and the connections that it can route links to: its `peers`."""

    def __init__(self, settings: LinkRouteSettings, routes: "LinkRoutes") -> None:
        ContainerUse.__init__(self, LINK_ROUTE, settings.name, settings.container_id, settings.connection)
        self.settings = settings
        self._routes = routes

    def activated(self, peer: "Peer") -> None:
        """Let links be routed to a connection."""
        self._routes.activated(self.name, peer)

    def deactivated(self, peer: "Peer") -> None:
        """Route no more links to a connection."""
        self._routes.deactivated(self.name, peer)


class LinkRouteUses:
    """The link routes of a worker, by their names."""

    def __init__(self, observer: "Observer", containers: "Containers", routes: "LinkRoutes") -> None:
        self._observer = observer
        self._containers = containers
        self._routes = routes
        self.uses: dict[str, LinkRouteUse] = {}

    def add(self, settings: LinkRouteSettings) -> None:
        """Add a link route, in place of one with the same name; raises InvalidPattern."""
        self.remove(settings.name)
        self._routes.add(settings)
        self._observer.link_route_added(settings.name, settings.pattern)
        use = self.uses[settings.name] = LinkRouteUse(settings, self._routes)
        self._containers.add(use)

    def remove(self, name: str) -> None:
        """Remove the link route with a name, if there is one."""
        use = self.uses.pop(name, None)
        if use is not None:
            self._containers.remove(use)
            self._routes.remove(name)
            self._observer.link_route_removed(name, use.settings.pattern)
