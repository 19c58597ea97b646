"""What stands in the texts of attributes: lists, ports and URLs."""

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass

from routerd.config.schema.values import ValueRefused, shown

PORT_MAX = 65_535
PORTS_ALLOWED = ("0 to 65535", "the name of a service, such as amqp for 5672 or amqps for 5671")
URLS_ALLOWED = ("[scheme://]host[:port], with commas between several",)

_PORTS_BY_NAME = {"amqp": 5672, "amqps": 5671}
"""Those that are known where the system has no list of services (12)."""
_URL = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*)://)?(\[[^\[\]]+\]|[^\[\]:/]+)(?::([^\[\]:/]+))?")

@dataclass(frozen=True, slots=True)
class FailoverUrl:
    """Where clients can connect instead."""

    host: str
    port: int
    scheme: str | None = None


ServicePort = Callable[[str], int]


def system_port(service: str) -> int:
    """Return the port that the system has for the name of a service; OSError if it has none."""
    return socket.getservbyname(service)


def members_of(text: str, separator: str) -> tuple[str, ...]:
    """Return the members of a list, without those that are empty."""
    parts = text.split() if separator == " " else (part.strip() for part in text.split(separator))
    return tuple(part for part in parts if part)


def port_number(text: str, service_port: ServicePort = system_port) -> int:
    """Return the port that a number or the name of a service means; raises ValueRefused."""
    text = text.strip()
    if text.lower() in _PORTS_BY_NAME:
        return _PORTS_BY_NAME[text.lower()]
    try:
        number = int(text)
    except ValueError:
        try:
            return service_port(text)
        except OSError:
            raise ValueRefused(f"{shown(text)} is neither a number nor the name of a service") from None
    if not 0 <= number <= PORT_MAX:
        raise ValueRefused(f"port {number} is out of range (0 to {PORT_MAX})")
    return number


def failover_urls(text: str) -> tuple[FailoverUrl, ...]:
    """Return what a list of URLs says, blanks left out; raises ValueRefused."""
    return tuple(_failover_url(one) for one in members_of("".join(text.split()), ","))


def _failover_url(text: str) -> FailoverUrl:
    found = _URL.fullmatch(text)
    if found is None:
        raise ValueRefused(f"{shown(text)} is not a URL")
    scheme, host, port = found.groups()
    number = port_number(port or "amqp")
    if number == 0:
        raise ValueRefused(f"{shown(text)} has no port to connect to")
    return FailoverUrl(host=host.strip("[]"), port=number, scheme=scheme)
