"""The layout of the demo: routers from the files in this folder, with other ports on request, and services."""

import re
from dataclasses import dataclass
from pathlib import Path

from examples.routers import free_ports

FOLDER = Path(__file__).resolve().parent
ROUTERS = ("A", "B", "C")
COMPUTES = ("compute-1", "compute-2", "compute-3")
SERVERS = ("scheduler", *COMPUTES)
SERVICES = (*SERVERS, "api")
OPTIONS = {
    # The default, said here since all depends on it: a cast returns when its server has it.
    "pre_settled": "rpc-reply",
    "default_send_timeout": "5",
    # A router that is gone is noticed by its silence at most so late; here its socket tells at once.
    "link_retry_delay": "1",
}
"""Of the group oslo_messaging_amqp; they could be in the configuration file as well."""

_PORT = re.compile(r"(?m)^( *port: )(\d+)$")
_CLIENTS = re.compile(r"name: clients\n.*?port: (\d+)$", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Layout:
    """The texts of all configurations, and where clients connect."""

    texts: dict[str, str]
    client_ports: dict[str, int]

    def url(self, service: str) -> str:
        """Return the transport_url of a service: all routers, in any order."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.client_ports.values())
        options = "&".join(f"{name}={value}" for name, value in {**OPTIONS, "container_name": service}.items())
        return f"amqp://{hosts}/?{options}"


def layout(*, has_free_ports: bool) -> Layout:
    """Read the files, and change their ports if that is wished."""
    texts = {name: (FOLDER / f"router-{name.lower()}.conf").read_text() for name in ROUTERS}
    if has_free_ports:
        written = sorted({found[2] for text in texts.values() for found in _PORT.finditer(text)})
        ports = dict(zip(written, free_ports(len(written)), strict=True))
        texts = {name: _PORT.sub(lambda found: f"{found[1]}{ports[found[2]]}", text) for name, text in texts.items()}
    clients = {name: _CLIENTS.search(text) for name, text in texts.items()}
    return Layout(texts, {name: int(found[1]) for name, found in clients.items() if found is not None})
