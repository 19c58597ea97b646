"""Edge routers at routers that are joined, each a process or an actor on Ray; and edge routers made of frames."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from routerd.wire import AmqpValue, Header, Int, Message, Source, Symbol, Target, Transfer
from tests.system.launched import eventually
from tests.system.mesh import ADDRESSES, LISTENERS, Mesh, To
from tests.system.proxy import Proxy
from tests.system.raw_client import RawClient
from tests.system.routers import IN_PROCESS, Form, RunningRouter, listener, section

EDGES, PATIENT = "edges", "patient"
"""The listeners of an interior router for edge routers; the second one for those that say nothing for long."""
DOWNLINK = "qd.router-edge-downlink"
TRACKING = "_$qd.edge_addr_tracking"
HEARTBEAT = "_$qd.edge_heartbeat"
UP, DOWN, NOTICES, BEATS, FIRST_OWN = range(5)
"""The handles of an edge router's links."""
CREDIT = 100

Place = Callable[[str, Form], AbstractContextManager[RunningRouter]]
"""Starts a router with this configuration in a form, and ends it."""


class EdgeMesh(Mesh):
    """Routers of a network, all in one process each, and edge routers."""

    def __init__(self, place: Place, **options: Any) -> None:
        super().__init__(IN_PROCESS, lambda text: place(text, IN_PROCESS), **options)
        self._place_in = place
        self._forms: dict[str, Form] = {}

    def add_edge(self, name: str, *links: str | To, form: Form = IN_PROCESS) -> RunningRouter:
        """Start an edge router that connects to these; the first is its uplink, and the others are in reserve."""
        self._forms[name] = form
        return self.add(name, *links)

    def start(self, name: str) -> RunningRouter:
        """Start a router as it was, at the ports that it had, and wait for nothing."""
        form = self._forms.get(name)
        place = self._place_in(self._configuration(name), form or IN_PROCESS)
        router = self.routers[name] = place.__enter__()
        self._places.append(place)
        listeners = ("clients",) if form else (*LISTENERS, EDGES, PATIENT)
        self._ports[name] = {one: router.port_of(one) for one in listeners}
        return router

    def _configuration(self, name: str) -> str:
        ports = self._ports.get(name, {})
        if name not in self._forms:
            edges = [
                listener(one, role="edge", port=ports.get(one, 0), idleTimeoutSeconds=timeout_s)
                for one, timeout_s in ((EDGES, self._idle_timeout_s), (PATIENT, 0))
            ]
            return "\n".join([super()._configuration(name), *edges, ""])
        return "\n".join(
            [
                section("router", mode="edge", id=name),
                section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
                listener("clients", port=ports.get("clients", 0)),
                *(section("connector", name=link.router, **self._connector(name, link)) for link in self._links[name]),
                *ADDRESSES,
                *self._sections[name],
                "",
            ]
        )

    def _connector(self, name: str, link: To) -> dict[str, object]:
        if name not in self._forms:
            return super()._connector(name, link)
        port = self._ports[link.router][EDGES]
        if link.is_proxied:
            pair = (name, link.router)
            if pair not in self.proxies:
                self.proxies[pair] = Proxy(port)
            port = self.proxies[pair].port
        plain = {"role": "edge", "host": "127.0.0.1", "port": str(port)}
        return plain | {"idleTimeoutSeconds": self._idle_timeout_s}

    def router_of(self, edge: str, *routers: str) -> str:
        """Return on which of these routers an edge router hangs, once it does."""
        found: list[str] = []

        def hangs() -> bool:
            found[:] = [name for name in routers if self.hangs(edge, name)]
            return bool(found)

        eventually(hangs, f"{edge} hangs on one of {routers}")
        return found[0]

    def hangs(self, edge: str, router: str) -> bool:
        """Whether an edge router hangs on this one."""
        rows = self.query(router, "router.address")
        return any((row["key"], row["subscriberCount"]) == (f"H{edge}", 1) for row in rows)

    def keys(self, name: str) -> set[str]:
        """Return the keys of the addresses that a router has to do with."""
        return {row["key"] for row in self.query(name, "router.address")}

    def wait_hanging(self, edge: str, router: str) -> None:
        """Wait until an edge router hangs on a router, and all routers of the network know its place."""
        key = f"H{edge}"

        eventually(lambda: self.hangs(edge, router), f"{edge} hangs on {router}")
        for name in self.routers:
            if name not in self._forms and name != router:
                eventually(lambda: self._hosts(name, key) == [router], f"{name} knows {edge}")  # noqa: B023

    def _hosts(self, name: str, key: str) -> list[str]:
        rows = [row for row in self.query(name, "router.address") if row["key"] == key]
        return [router for row in rows for router in row["remoteHostRouters"] or []]


class RawEdge(RawClient):
    """An edge router made of frames."""

    def __init__(self, port: int, router_id: str) -> None:
        super().__init__(port)
        self.id = router_id
        self._names = FIRST_OWN

    def hang(self) -> "RawEdge":
        """Open the connection, and attach the links that every edge router has."""
        self.open(container_id=self.id)
        down = (Symbol(DOWNLINK),)
        self.attach_producer(None, handle=UP)
        self.attach_consumer(
            None,
            handle=DOWN,
            credit=CREDIT,
            source=Source(address=self.id, capabilities=down),
            target=Target(capabilities=down),
        )
        self.attach_consumer(TRACKING, handle=NOTICES, credit=CREDIT)
        self.attach_producer(HEARTBEAT, handle=BEATS)
        return self

    def use(self, address: str) -> None:
        """Attach the links of an address that clients consume from and send to."""
        self.attach_consumer(address, handle=self._names, credit=CREDIT)
        self.attach_producer(address, handle=self._names + 1)
        self._names += 2

    def beat(self, count: int = 0) -> None:
        """Send a heartbeat."""
        octets = Message(header=Header(), body=AmqpValue(Int(count))).encode()
        self.transfer(octets, handle=BEATS, settled=True)

    def payload(self) -> bytes:
        """Return the octets of the next message that comes, notices aside."""
        while True:
            frame = self.frame()
            if isinstance(frame.performative, Transfer) and b"M0" not in frame.payload:
                return frame.payload
