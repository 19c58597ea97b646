"""Requests and their answers, as docs/management.md shows them; a test has an agent give these answers."""

from dataclasses import dataclass
from typing import Any

from routerd.config.kinds import ADDRESS, LISTENER, LOG
from routerd.config.schema import CONNECTION, CONNECTION_ACTOR
from routerd.management.messages import Answer, Request


@dataclass(frozen=True, slots=True)
class Example:
    """A request and its answer."""

    title: str
    request: Request
    answer: Answer


SECTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("router", {"id": "Router.A"}),
    ("listener", {"name": "clients", "host": "127.0.0.1", "port": "5672"}),
    ("address", {"prefix": "news", "distribution": "multicast"}),
)
"""What is configured where the examples are asked, one after the other."""

_NODE = {"type": "org.amqp.management", "name": "self"}
_COLUMNS = ["name", "identity", "distribution"]


def _query(entity_type: str, names: list[str], **properties: Any) -> Request:
    return Request({"operation": "QUERY", "entityType": entity_type, **_NODE, **properties}, {"attributeNames": names})


def _result(names: list[str], *rows: list[Any]) -> Answer:
    return Answer(200, "OK", {"attributeNames": names, "results": list(rows)})


EXAMPLES = (
    Example(
        "Two attributes of all connections. The rows come in the order of opening.",
        _query(CONNECTION.full_name, ["identity", "container"]),
        _result(["identity", "container"], ["1", "billing"], ["2", "shop"]),
    ),
    Example(
        "One row, beginning with the second.",
        _query(CONNECTION.full_name, ["identity", "container"], offset=1, count=1),
        _result(["identity", "container"], ["2", "shop"]),
    ),
    Example(
        "What the connection actors do.",
        _query(CONNECTION_ACTOR.full_name, ["name", "connectionCount", "restarts"]),
        _result(["name", "connectionCount", "restarts"], ["connection.0", 2, 0]),
    ),
    Example(
        "A new address, from now on.",
        Request(
            {"operation": "CREATE", "type": ADDRESS.full_name, "name": "orders"},
            {"prefix": "orders", "distribution": "closest", "priority": 7},
        ),
        Answer(
            201,
            "Created",
            {
                "name": "orders",
                "identity": "2",
                "type": ADDRESS.full_name,
                "prefix": "orders",
                "distribution": "closest",
                "waypoint": False,
                "ingressPhase": 0,
                "egressPhase": 0,
                "pattern": None,
                "priority": 7,
                "fallback": False,
                "resendReleased": False,
                "delivery": None,
                "maxUnsettled": 10_000,
                "maxUnsettledOctets": 256 << 20,
                "subscriptionTimeout": 3600,
            },
        ),
    ),
    Example(
        "The same once more.",
        Request({"operation": "CREATE", "type": ADDRESS.full_name, "name": "orders"}, {"prefix": "orders"}),
        Answer(400, "Name conflicts with an existing entity", None),
    ),
    Example(
        "The live addresses: that of the file has the number 1 and the name of its section.",
        _query(ADDRESS.full_name, _COLUMNS),
        _result(_COLUMNS, ["address/0", "1", "multicast"], ["orders", "2", "closest"]),
    ),
    Example(
        "The same type in the general view: what the file has.",
        Request(
            {"operation": "query", "entityType": ADDRESS.full_name, **_NODE},
            {"attributeNames": _COLUMNS},
        ),
        _result(_COLUMNS, ["address/0", "address/0", "multicast"]),
    ),
    Example(
        "The end of the address.",
        Request({"operation": "DELETE", "type": ADDRESS.full_name, "name": "orders"}),
        Answer(204, "No Content", {}),
    ),
    Example(
        "More of the log.",
        Request({"operation": "UPDATE", "type": LOG.full_name, "identity": "log/SERVER"}, {"enable": "debug+"}),
        Answer(
            200,
            "OK",
            {
                "module": "SERVER",
                "enable": "debug+",
                "name": "log/SERVER",
                "identity": "log/SERVER",
                "type": LOG.full_name,
            },
        ),
    ),
    Example(
        "Something that is not there.",
        Request({"operation": "READ", "type": LISTENER.full_name, "name": "nope"}),
        Answer(404, "No entity with name=nope", {}),
    ),
    Example(
        "The newest line of the log.",
        Request({"operation": "GET-LOG", "limit": 1, **_NODE}),
        Answer(200, "OK", [["SERVER", "info", "[C2] Connection Opened", None, None, 1_795_176_862]]),
    ),
)
