"""Link routes that a peer makes for its own connection, `router.connection.linkRoute` in management.

Only that connection sees them, and they end with it. So the worker of the connection answers the requests about them,
before these reach the management of the router.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from routerd.core.directory.pattern_tree import tokens_of
from routerd.core.roles.containers import LINK_ROUTE, ContainerUse
from routerd.core.settings import LinkDirection, LinkRouteSettings
from routerd.wire import AmqpValue, Header, Int, Message, Properties, WireError

if TYPE_CHECKING:
    from routerd.core.directory.link_routes import LinkRoutes
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.attaching import Attaching

TYPE = "org.apache.qpid.dispatch.router.connection.linkRoute"
ROUTES_MAX = 1000
"""Link routes of one connection."""

_COLUMNS = ("name", "identity", "type", "pattern", "direction", "containerId")
_CHANGES = ("CREATE", "DELETE")
_DIRECTIONS = {one.value: one for one in LinkDirection}


class _Refused(Exception):
    """A request that is refused, with the status and its description."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class ConnectionRoute:
    """A link route of one connection."""

    def __init__(self, settings: LinkRouteSettings, identity: str, name: str | None, container_id: str) -> None:
        self.settings = settings
        self.identity = identity
        self.name = name
        self.use = ContainerUse(LINK_ROUTE, name or identity, container_id, None)
        self.shown = {
            "name": name,
            "identity": identity,
            "type": TYPE,
            "pattern": settings.pattern,
            "direction": settings.direction.value,
            "containerId": container_id,
        }


class ConnectionRoutes:
    """The link routes of all connections of a worker, by their identities."""

    send: Callable[[str, bytes], bool] | None
    """Sends an answer to a reply address and returns whether it was taken; None without a sender."""

    def __init__(self, observer: "Observer", routes: "LinkRoutes", attaching: "Attaching", may_change: bool):
        self._observer = observer
        self._routes = routes
        self._attaching = attaching
        self._may_change = may_change
        self.by_peer: dict[Peer, dict[str, ConnectionRoute]] = {}
        self.send = None

    def closed(self, peer: "Peer") -> None:
        """Remove the link routes of a connection that is over."""
        for route in self.by_peer.pop(peer, {}).values():
            self._end(peer, route)

    def take(self, peer: "Peer", octets: bytes) -> bool:
        """Do a request and send the answer; return whether the request can be answered here."""
        if self.send is None:
            return False
        try:
            request = Message.decode(octets)
        except WireError:
            return False
        properties = request.properties
        reply_to = None if properties is None else properties.reply_to
        about = request.application_properties or {}
        operation = about.get("operation")
        if properties is None or not isinstance(reply_to, str) or operation not in self._operations():
            return False
        body: Any = request.body.value if isinstance(request.body, AmqpValue) else None
        try:
            if operation in _CHANGES and not (self._may_change or peer.is_edge):
                raise _Refused(403, "managementAccess of the router allows no changes")
            status, text, result = self._operations()[operation](peer, about, body)
        except _Refused as refused:
            status, text, result = refused.status, str(refused), None if operation == "CREATE" else {}
        answer = Message(
            header=Header(),
            properties=Properties(to=reply_to, correlation_id=properties.correlation_id),
            application_properties={"statusCode": Int(status), "statusDescription": text},
            body=AmqpValue(result),
        )
        return self.send(str(reply_to), bytes(answer.encode()))

    def _operations(self) -> Mapping[Any, Callable[["Peer", Any, Any], tuple[int, str, Any]]]:
        return {"CREATE": self._create, "READ": self._read, "DELETE": self._delete, "QUERY": self._query}

    def _create(self, peer: "Peer", about: Mapping[str, Any], body: Any) -> tuple[int, str, Any]:
        if not isinstance(body, Mapping):
            raise _Refused(400, "Body of request must be a map")
        if not peer.is_open:
            raise _Refused(400, "Parent connection no longer exists")
        own = self.by_peer.get(peer, {})
        if len(own) >= ROUTES_MAX:
            raise _Refused(400, f"A connection has {ROUTES_MAX} link routes at most")
        pattern = body.get("pattern")
        if "pattern" not in body:
            raise _Refused(400, "Pattern field is required")
        if not isinstance(pattern, str) or not pattern:
            raise _Refused(400, "Pattern must be a non-empty string type")
        if not tokens_of(str(pattern)):
            raise _Refused(400, "Pattern invalid - no tokens")
        if "direction" not in body:
            raise _Refused(400, "Missing value for 'direction'")
        given = body["direction"]
        direction = _DIRECTIONS.get(str(given)) if isinstance(given, str) else None
        if direction is None:
            raise _Refused(400, "Invalid value for 'direction'")
        name = _text(about.get("name")) or _text(body.get("name"))
        identity = str(self._attaching.take_number())
        remote = peer.connection.remote_open
        container_id = "" if remote is None else str(remote.container_id)
        # No configured link route has a name like this.
        settings = LinkRouteSettings(name=f"\n{identity}", pattern=str(pattern), direction=direction)
        route = ConnectionRoute(settings, identity, name, container_id)
        self.by_peer.setdefault(peer, {})[identity] = route
        self._routes.add(settings)
        self._routes.activated(settings.name, peer)
        self._observer.use_activated(route.use)
        return 201, "Created", route.shown

    def _read(self, peer: "Peer", about: Mapping[str, Any], body: Any) -> tuple[int, str, Any]:
        return 200, "OK", self._wanted(peer, about).shown

    def _delete(self, peer: "Peer", about: Mapping[str, Any], body: Any) -> tuple[int, str, Any]:
        route = self._wanted(peer, about)
        own = self.by_peer[peer]
        del own[route.identity]
        if not own:
            del self.by_peer[peer]
        self._end(peer, route)
        return 204, "No Content", {}

    def _query(self, peer: "Peer", about: Mapping[str, Any], body: Any) -> tuple[int, str, Any]:
        wanted = body.get("attributeNames") if isinstance(body, Mapping) else None
        names = [str(one) for one in wanted] if isinstance(wanted, list) and wanted else list(_COLUMNS)
        rows = [[one.shown.get(name) for name in names] for one in self.by_peer.get(peer, {}).values()]
        offset, count = _number(about.get("offset")), _number(about.get("count"))
        rows = rows[offset : offset + count if count else None]
        return 200, "OK", {"attributeNames": names, "results": rows}

    def _wanted(self, peer: "Peer", about: Mapping[str, Any]) -> ConnectionRoute:
        identity, name = _text(about.get("identity")), _text(about.get("name"))
        if identity is None and name is None:
            raise _Refused(400, "No name or identity provided")
        for route in self.by_peer.get(peer, {}).values():
            if route.identity == identity if identity is not None else route.name == name:
                return route
        raise _Refused(404, "Not Found")

    def _end(self, peer: "Peer", route: ConnectionRoute) -> None:
        self._routes.remove(route.settings.name)
        self._observer.use_deactivated(route.use)


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, str) and value else None


def _number(value: object) -> int:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return max(0, int(value)) if isinstance(value, int) and not isinstance(value, bool) else 0
