"""A management node: the operations of the management protocol, as calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from routerd.cli.manage.client import ManagementClient, Response
from routerd.cli.manage.failures import BadAnswer, Refused

MANAGEMENT = "$management"
PREFIX = "org.apache.qpid.dispatch."
"""What the full names of most entity types begin with."""
NODE_TYPE = "org.amqp.management"
PAGE_ROWS = 500
_BEYOND = 1 << 30
"""An offset behind the rows of any router."""
_OK = range(200, 300)
_TO_NODE = {"type": NODE_TYPE, "name": "self"}

Entity = Mapping[str, Any]


def node_address(*, router: str | None = None, edge: str | None = None) -> str:
    """Return the address of a router's management node; without an id it is that of the router at hand."""
    if router:
        return f"_topo/0/{router}/{MANAGEMENT}"
    if edge:
        return f"_edge/{edge}/{MANAGEMENT}"
    return MANAGEMENT


class Node:
    """The management node of one router."""

    def __init__(self, client: ManagementClient, address: str = MANAGEMENT, patience_s: float | None = None) -> None:
        self._client = client
        self.address = address
        self._patience_s = patience_s

    @property
    def asker(self) -> str:
        """The container-id of the connection that asks."""
        return self._client.container_id

    def at(self, address: str, patience_s: float | None = None) -> "Node":
        """Return another node over the same connection; it may be waited for less long than others."""
        return Node(self._client, address, patience_s)

    def call(self, operation: str, properties: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        """Return the body of an answer; Refused if the status is that of a failure."""
        asked = {"operation": operation, **(properties or {})}
        return self._checked(self._client.request(self.address, asked, body, patience_s=self._patience_s))

    def ask(self, operation: str, **properties: Any) -> Any:
        """Do so with an operation of the node itself."""
        return self.call(operation, {**_TO_NODE, **_given(properties)})

    def query(
        self, entity_type: str | None = None, attributes: Sequence[str] = (), limit: int | None = None
    ) -> list[Entity]:
        """Return the entities of a type, page by page, all if `limit` is None or 0."""
        found: list[Entity] = []
        while True:
            wanted = PAGE_ROWS if not limit else min(PAGE_ROWS, limit - len(found))
            page = self._page(entity_type, attributes, len(found), wanted)
            if len(page) == wanted and page == found[-wanted:] and self._page(entity_type, attributes, _BEYOND, 1):
                # The agent of qdrouterd for what is configured gives all there is, whatever page is asked for.
                return found
            found += page
            if len(page) != wanted or len(found) == limit:
                return found[: limit or None]

    def management_nodes(self) -> list[str]:
        """Return the addresses of the management nodes that this one knows, with the `amqp:/` before each."""
        answer = self.ask("GET-MGMT-NODES")
        return [str(one) for one in answer] if isinstance(answer, list) else []

    def log(self, limit: int | None = None) -> list[Any]:
        """Return the last lines of the log, oldest first."""
        answer = self.ask("GET-LOG", limit=limit)
        return answer if isinstance(answer, list) else []

    def _page(self, entity_type: str | None, attributes: Sequence[str], offset: int, count: int) -> list[Entity]:
        properties = {**_TO_NODE, **_given({"entityType": entity_type}), "offset": offset, "count": count}
        answer = self.call("QUERY", properties, {"attributeNames": [*attributes]})
        try:
            names, rows = answer["attributeNames"], answer["results"]
            return [dict(zip(names, row, strict=True)) for row in rows]
        except (TypeError, KeyError, ValueError) as error:
            raise BadAnswer(f"the answer to a query has no rows of its attributes: {error}") from None

    def _checked(self, response: Response) -> Any:
        if response.status not in _OK:
            raise Refused(response.status, response.description)
        return response.body


def _given(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}
