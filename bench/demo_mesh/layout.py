"""The layout of the demo: the files in configs/, with a proxy in one trunk, and with other ports on request."""

import re
from dataclasses import dataclass
from pathlib import Path

from bench.free_ports import free_ports

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
ROUTERS = ("A", "B", "C", "D")
SERVERS = ("A", "D")
CALLERS = ("B", "C", "D")
ADDRESS = "rpc.sum"
CUT = ("B", "A")
"""The trunk that is cut: the router that connects, and the one that it connects to."""

_SECTION = re.compile(r"^(\w+) \{\n.*?^\}\n", re.M | re.S)
_PORT = re.compile(r"(?m)^( *port: )(\d+)$")


@dataclass(frozen=True, slots=True)
class Layout:
    """The texts of all configurations, and where clients connect."""

    texts: dict[str, str]
    client_ports: dict[str, int]
    cut_port: int
    """Where the proxy has to lead."""


def layout(proxy_port: int, *, has_free_ports: bool) -> Layout:
    """Read the files, and change what the demo has to: one connector leads to the proxy."""
    texts = {name: (CONFIGS / f"mesh-{name.lower()}.conf").read_text() for name in ROUTERS}
    listening = {
        name: [int(_PORT.search(section)[2]) for section in _sections(text, "listener")]  # type: ignore[index]
        for name, text in texts.items()
    }
    ports = {port: port for ports in listening.values() for port in ports}
    if has_free_ports:
        ports = dict(zip(ports, free_ports(len(ports)), strict=True))
    here, there = CUT
    for name, text in texts.items():
        texts[name] = _PORT.sub(lambda found: f"{found[1]}{ports[int(found[2])]}", text)
    [connector] = [one for one in _sections(texts[here], "connector") if f"name: {there}\n" in one]
    texts[here] = texts[here].replace(connector, _PORT.sub(rf"\g<1>{proxy_port}", connector))
    return Layout(texts, {name: ports[found[0]] for name, found in listening.items()}, ports[listening[there][1]])


def _sections(text: str, kind: str) -> list[str]:
    return [found[0] for found in _SECTION.finditer(text) if found[1] == kind]
