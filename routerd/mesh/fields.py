"""Reads the fields of control messages, which peers may spell in any integer type and as strings or symbols (3.1)."""

from collections.abc import Mapping
from typing import Any

from routerd.mesh.errors import MalformedControl, UnsupportedVersion

PROTOCOL_VERSION = 1
SEQUENCE_MAX = 0x7FFFFFFFFFFFFFFF
COST_MAX = 0x7FFFFFFF
ROUTER_ID_MAX = 1024

_REQUIRED = object()


class Fields:
    """The body of a control message."""

    __slots__ = ("_values",)

    def __init__(self, body: object, name: str = "body") -> None:
        if not isinstance(body, Mapping):
            raise MalformedControl(f"the {name} is not a map")
        # A map with keys that only AMQP tells apart is no dict.
        self._values: Mapping[str, Any] = (
            body if type(body) is dict else {str(key): value for key, value in body.items() if isinstance(key, str)}
        )

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def sender(self) -> str:
        """Return the id of the router that wrote the message; raises UnsupportedVersion."""
        router = self.router("id")
        version = self.number("pv", 0)
        if version > PROTOCOL_VERSION:
            raise UnsupportedVersion(router, version)
        return router

    def router(self, name: str) -> str:
        """Return a field that names a router."""
        return _router(self._values.get(name), name)

    def routers(self, name: str) -> tuple[str, ...]:
        """Return a field that lists routers."""
        return tuple(_router(each, name) for each in self._list(name))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that lists texts."""
        return tuple(_text(each, name) for each in self._list(name))

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return a field that lists numbers of any sign."""
        return tuple(_number(each, name, -SEQUENCE_MAX) for each in self._list(name))

    def number(self, name: str, default: object = _REQUIRED, low: int = 0) -> int:
        """Return a field that is a number."""
        value = self._values.get(name)
        if value is None and default is not _REQUIRED:
            value = default
        return _number(value, name, low)

    def inner(self, name: str) -> "Fields":
        """Return a field that is a map."""
        return Fields(self._values.get(name), f"field {name}")

    def costs(self, name: str) -> dict[str, int]:
        """Return a field that maps routers to costs."""
        costs = Fields(self._values.get(name), f"field {name}")._values
        return {_router(router, name): _number(cost, name, 1, COST_MAX) for router, cost in costs.items()}

    def _list(self, name: str) -> list[Any]:
        value = self._values.get(name)
        if not isinstance(value, list):
            raise MalformedControl(f"{name} is not a list")
        return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise MalformedControl(f"{name} is not text")
    return str(value)


def _router(value: object, name: str) -> str:
    text = _text(value, name)
    if not text or "/" in text or len(text) > ROUTER_ID_MAX:
        raise MalformedControl(f"{name} is not the id of a router")
    return text


def _number(value: object, name: str, low: int, high: int = SEQUENCE_MAX) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedControl(f"{name} is not an integer")
    if not low <= value <= high:
        raise MalformedControl(f"{name} is {value:d}, not from {low} to {high}")
    return int(value)
