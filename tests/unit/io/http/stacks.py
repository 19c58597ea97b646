"""A place for a filter without a transport: what it writes, and what it asks for."""

from typing import Any

from routerd.config import ListenerConfig
from routerd.io.http.filter import HttpFilter
from routerd.io.http.metrics import Scrape
from routerd.io.http.site import Site
from tests.waiting import eventually_beside


class Health:
    """A worker that is as a test says."""

    def __init__(self) -> None:
        self.has_started = True
        self.missing: list[str] = []

    def lacks(self) -> list[str]:
        return self.missing


class Stack:
    """Keeps what a filter does."""

    def __init__(self) -> None:
        self.host = "192.0.2.7:40188"
        self.is_over = False
        self.is_open = True
        self.buffered_octets = 0
        self.written = bytearray()
        self.delivered = bytearray()
        self.room = memoryview(bytearray(1 << 12))
        self.left: bytes | None = None
        """What came behind the last request, once the filter has left."""
        self.failure = ""
        self.is_finished = False
        self.is_ready = False

    def put(self, one: Any) -> Any:
        """Give a filter its place here, and have it begin."""
        one.join(self, self.write, self.room, self.deliver)
        one.begin()
        return one

    def write(self, octets: Any) -> None:
        self.written += octets

    def deliver(self, size: int) -> None:
        self.delivered += self.room[:size]

    def filter_ready(self, security: Any) -> None:
        self.is_ready = True

    def remove(self, leaving: Any, octets: bytes) -> None:
        self.left = octets

    def count_answer(self, octets: int) -> None:
        """No peer is blocked."""

    def finish(self) -> None:
        self.is_finished = True

    def fail(self, reason: str) -> None:
        self.failure = reason


def listener(**options: Any) -> ListenerConfig:
    return ListenerConfig(**{"host": "127.0.0.1", "port": 8080, "takes_http": True} | options)


class Line:
    """One connection over HTTP; to be used in a loop."""

    def __init__(self, health: Health | None = None, scrape: Scrape | None = None, **options: Any) -> None:
        self.stack = Stack()
        site = Site(listener(**options), health or Health(), scrape)
        self.filter: HttpFilter = self.stack.put(HttpFilter(site))

    def send(self, octets: bytes) -> None:
        self.filter.receive(memoryview(octets))

    async def read(self) -> tuple[int, dict[str, str], bytes]:
        """Return the next answer, once it is there as a whole: status, headers by lower case, body."""
        await eventually_beside(lambda: b"\r\n\r\n" in self.stack.written, "a head was written")
        head, _, rest = bytes(self.stack.written).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        size = int(headers.get("content-length", 0))
        self.stack.written = bytearray(rest[size:])
        return int(first.split()[1]), headers, rest[:size]

    async def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Make a request, and return its answer; `_` in the names of headers stands for `-`."""
        lines = [f"{method} {path} HTTP/1.1", "Host: r", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
        self.send("\r\n".join([*lines, "", ""]).encode())
        return await self.read()
