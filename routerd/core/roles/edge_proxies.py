"""The link routes of an edge router's containers at its interior router (inter-router protocol 6.8).

For each link route with a container, the interior router has a link route of the uplink's connection: the proxy. It
ends with that connection, so each uplink gets its own proxies.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.directory.link_routes import direction_of, pattern_of
from routerd.core.roles.uplink_requests import Asker, Request
from routerd.wire import AmqpValue, Message

if TYPE_CHECKING:
    from routerd.core.directory.link_routes import LinkRoutes
    from routerd.core.roles.uplink_requests import UplinkRequests

TYPE = "org.apache.qpid.dispatch.router.connection.linkRoute"
SERVICE = "$management"
PATIENCE_S = 10.0
"""The time to wait for an answer, before the request is repeated."""

_CREATED = 201


class Proxy:
    """The state of a proxy at the interior router, and the wanted state."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.identity: str | None = None
        # A request has no answer yet.
        self.is_asked = False
        # The interior router does not want it.
        self.is_refused = False


class EdgeProxies(Asker):
    """Keeps a proxy at the interior router for each link route that has a container here."""

    def __init__(self, router_id: str, routes: "LinkRoutes", requests: "UplinkRequests") -> None:
        self._router_id = router_id
        self._routes = routes
        self._requests = requests
        self._generation = 0
        self.proxies: dict[str, Proxy] = {}
        """By key."""

    def end_turn(self) -> None:
        """Send requests for the changes of this turn."""
        routes = self._routes
        if not self._requests.is_usable:
            return
        if self._generation != self._requests.generation:
            self._generation = self._requests.generation
            self.proxies.clear()
            for key in routes.patterns:
                routes.turned[key] = None
        if routes.turned:
            turned = list(routes.turned)
            routes.turned.clear()
            for key in turned:
                self._follow(key)

    def _follow(self, key: str) -> None:
        """Request a proxy if there is a container, or its end if there is none."""
        is_wanted = self._routes.containers_of(key) > 0
        proxy = self.proxies.get(key)
        if proxy is None:
            if not is_wanted:
                return
            proxy = self.proxies[key] = Proxy(key)
        if proxy.is_asked:
            return
        if is_wanted and proxy.identity is None and not proxy.is_refused:
            self._ask(proxy, "CREATE")
        elif not is_wanted and proxy.identity is not None:
            self._ask(proxy, "DELETE")
        elif not is_wanted:
            del self.proxies[key]

    def _ask(self, proxy: Proxy, operation: str) -> None:
        name = f"{self._router_id}/proxyLinkRoute/{proxy.key}"
        properties: dict[str, Any] = {"operation": operation, "type": TYPE, "name": name}
        body: dict[str, Any] = {}
        if operation == "CREATE":
            direction = direction_of(proxy.key).value
            body = {"type": TYPE, "name": name, "pattern": pattern_of(proxy.key), "direction": direction}
        else:
            properties["identity"] = proxy.identity
        proxy.is_asked = self._requests.ask(Request(self, proxy, SERVICE, properties, body, PATIENCE_S))

    def answered(self, request: Request, answer: Message | None) -> None:
        """Note the new state at the interior router."""
        proxy: Proxy = request.subject
        if self.proxies.get(proxy.key) is not proxy or request.generation != self._requests.generation:
            return
        proxy.is_asked = False
        if answer is None:
            if self._requests.is_usable:
                self._follow(proxy.key)
            return
        if request.properties["operation"] == "DELETE":
            # It is gone, whether it existed before or not.
            proxy.identity = None
        else:
            proxy.identity = _identity(answer)
            proxy.is_refused = proxy.identity is None
        self._follow(proxy.key)


def _identity(answer: Message) -> str | None:
    """Return the identity of a created proxy; None if it was not created."""
    body: Any = answer.body.value if isinstance(answer.body, AmqpValue) else None
    identity = body.get("identity") if isinstance(body, dict) else None
    if (answer.application_properties or {}).get("statusCode") != _CREATED or not isinstance(identity, str):
        return None
    return str(identity)
