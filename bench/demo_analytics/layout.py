"""Three routers in a line, A - B - C. Each records all its decisions; one trunk passes through a proxy."""

from dataclasses import dataclass
from pathlib import Path

from bench.free_ports import free_ports

ROUTERS = ("A", "B", "C")
ADDRESS = "orders"
CUT = ("A", "B")
"""The trunk that is cut."""
ROTATE_S = 10


@dataclass(frozen=True, slots=True)
class Layout:
    """The texts of all configurations, and where clients connect."""

    texts: dict[str, str]
    client_ports: dict[str, int]
    cut_port: int
    """Where the proxy has to lead."""


def layout(proxy_port: int, records: Path) -> Layout:
    """Choose ports, and write what each router is told."""
    ports = free_ports(2 * len(ROUTERS))
    clients, trunks = dict(zip(ROUTERS, ports, strict=False)), dict(zip(ROUTERS, ports[len(ROUTERS) :], strict=True))
    texts = {name: _router(name, clients[name], trunks[name], records) for name in ROUTERS}
    texts["B"] += _section("connector", name="A", role="inter-router", host="127.0.0.1", port=proxy_port)
    texts["C"] += _section("connector", name="B", role="inter-router", host="127.0.0.1", port=trunks["B"])
    return Layout(texts, clients, trunks["A"])


def _router(name: str, client_port: int, trunk_port: int, records: Path) -> str:
    anybody = {"host": "127.0.0.1", "authenticatePeer": "no", "saslMechanisms": "ANONYMOUS"}
    return (
        _section("router", mode="interior", id=name)
        + _section("listener", name="clients", port=client_port, **anybody)
        + _section("listener", name="routers", role="inter-router", port=trunk_port, **anybody)
        + _section("address", prefix=ADDRESS, distribution="balanced")
        + _section("record", level="all", directory=records, rotateSeconds=ROTATE_S)
    )


def _section(kind: str, **attributes: object) -> str:
    lines = "".join(f"    {name}: {value}\n" for name, value in attributes.items())
    return f"{kind} {{\n{lines}}}\n"
