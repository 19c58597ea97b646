"""Containers in memory: peers that the router attaches links to, with queues that hold what is sent to them."""

from typing import Any

from routerd.core import ROUTE_CONTAINER, AutoLinkSettings, LinkDirection, Observer
from routerd.wire import Connection, ConnectionConfig, Error, Source, Target
from tests.routers import Client, Workers

NOT_FOUND = Error(condition="amqp:not-found", description="no such queue")


class Told(Observer):
    """Keeps what the router tells of uses of containers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def use_activated(self, use: Any) -> None:
        self.lines.append(f"{use.kind} Activated '{use.name}' on {use.place}")

    def use_deactivated(self, use: Any) -> None:
        self.lines.append(f"{use.kind} Deactivated '{use.name}' on {use.place}")

    def auto_link_failed(self, use: Any, reason: str) -> None:
        self.lines.append(f"failed '{use.name}': {reason}")

    def take(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


class Container(Client):
    """Answers the links that the router attaches, as it is told to by address."""

    def __init__(self, workers: Workers, credit: int = 100) -> None:
        super().__init__(workers)
        self.credit = credit
        """What the router gets on links that it sends on."""
        self.refused: dict[str, Error | None] = {}
        """Addresses that are answered without a terminus, and a detach with this reason."""
        self.ending: dict[str, Error] = {}
        """Addresses for which the session is ended."""
        self.silent: set[str] = set()
        """Addresses whose attaches are not answered."""
        self.nameless: set[str] = set()
        """Addresses that are answered with a terminus without an address."""
        self.outcomes: tuple[Any, ...] = ()
        """What the sources say that may become of messages."""
        self.by_address: dict[str, list[Any]] = {}
        """The links of the router that are attached, by address; those that end stay."""

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Answer the router."""
        own = performative.target if link.is_sender is False else performative.source
        address = getattr(own, "address", None)
        if link.state.name != "ATTACH_RCVD" or not isinstance(address, str):
            super().on_link_attached(link, performative)
            return
        self.events.append(("link attached", link.name))
        self.attaches.append(performative)
        self.links[link.name] = link
        source, target = performative.source, performative.target
        if address in self.silent:
            return
        if address in self.ending:
            link.session.end(self.ending[address])
            return
        if address in self.refused:
            link.attach(source=None if link.is_sender else source, target=target if link.is_sender else None)
            link.detach(error=self.refused[address])
            return
        if address in self.nameless:
            link.attach(source=Source(), target=Target())
            return
        if link.is_sender:
            source = Source(address=address, outcomes=self.outcomes)
        link.attach(source=source, target=target)
        self.by_address.setdefault(address, []).append(link)
        if not link.is_sender and self.credit:
            link.grant(self.credit)

    def link(self, address: str) -> Any:
        """The only link of an address."""
        [link] = self.living(address)
        return link

    def living(self, address: str) -> list[Any]:
        """The links of an address that are attached."""
        return [one for one in self.by_address.get(address, []) if one.is_attached]


def container(
    workers: Workers,
    *,
    name: str = "broker",
    place: str = "",
    worker: int = 0,
    handle_max: int = 0xFFFFFFFF,
    **script: Any,
) -> Container:
    """A container with an open connection to a worker; `script` has the attributes of `Container`."""
    found = Container(workers)
    for attribute, value in script.items():
        setattr(found, attribute, value)
    host = workers[worker]
    connection = Connection(ConnectionConfig(container_id=name, handle_max=handle_max), found, is_client=True)
    server = host.connection(ConnectionConfig(container_id="R"), role=ROUTE_CONTAINER, place=place)
    found.connect(connection, workers.line(connection, server, host))
    workers.pump()
    return found


def auto_link(address: str, direction: str, **options: Any) -> AutoLinkSettings:
    """An auto-link with the container-id of `container`."""
    given: dict[str, Any] = {
        "name": f"{direction} {address}",
        "phase": 1 if direction == "in" else 0,
        "container_id": None if "connection" in options else "broker",
    }
    return AutoLinkSettings(address=address, direction=LinkDirection(direction), **given | options)


def add(workers: Workers, *settings: AutoLinkSettings) -> None:
    """Configure auto-links at all workers."""
    for worker in workers.workers.values():
        for one in settings:
            worker.router.auto_links.add(one)
    workers.pump()


def remove(workers: Workers, name: str) -> None:
    """Remove an auto-link at all workers."""
    for worker in workers.workers.values():
        worker.router.auto_links.remove(name)
    workers.pump()


def let_pass(workers: Workers, seconds: int) -> None:
    """Let seconds pass, one by one."""
    for _ in range(seconds):
        workers.pump(1.0)
        for worker in workers.workers.values():
            worker.router.each_second(workers.now)
        workers.pump()


def state(workers: Workers, name: str, worker: int = 0) -> tuple[str, str | None]:
    """How an auto-link fares at a worker, and what went wrong last."""
    found = workers[worker].router.auto_links.uses[name].state()
    return found.status, found.last_error
