"""Where a router is: the URL of `-b`, in all the forms that people write."""

from dataclasses import dataclass, field
from urllib.parse import unquote

from routerd.cli.manage.failures import WrongUse

DEFAULT_HOST = "0.0.0.0"
PORTS = {"amqp": 5672, "amqps": 5671}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bus:
    """The place of a router, and what its URL says besides."""

    host: str = DEFAULT_HOST
    port: int = PORTS["amqp"]
    is_tls: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    path: str = ""
    """The address of the management node, if the URL has one."""

    @property
    def where(self) -> str:
        """Host and port, to be shown."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bus(text: str, *, is_tls: bool = False) -> Bus:
    """Return the place that `[amqp[s]://][user[:password]@][host][:port][/path]` names; WrongUse if it names none."""
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "amqps" if is_tls else "amqp", text
    if scheme not in PORTS:
        raise WrongUse(f"{text!r} begins with {scheme!r}, and should with amqp or amqps")
    if is_tls:
        scheme = "amqps"
    authority, _, path = rest.partition("/")
    login, _, place = authority.rpartition("@")
    username, colon, password = login.partition(":")
    host, port = _split(place, text)
    return Bus(
        host=unquote(host) or DEFAULT_HOST,
        port=_port_number(port, text) if port else PORTS[scheme],
        is_tls=scheme == "amqps",
        username=unquote(username) or None,
        password=unquote(password) if colon else None,
        path=unquote(path),
    )


def _split(place: str, text: str) -> tuple[str, str]:
    if place.startswith("["):
        host, bracket, rest = place[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise WrongUse(f"{text!r} is not of the form host:port")
        return host, rest[1:]
    if place.count(":") > 1:
        raise WrongUse(f"{text!r} is not of the form host:port; an IPv6 address is written in brackets")
    host, _, port = place.partition(":")
    return host, port


def _port_number(port: str, text: str) -> int:
    if port in PORTS:
        return PORTS[port]
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= 65_535):
        raise WrongUse(f"{text!r} has {port!r} as its port, which is none")
    return int(port)
