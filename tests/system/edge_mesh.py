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

EDGES = "edges"
"""The listener of an interior router for edge routers."""
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
        text = self._configuration(name)
        router = self._at_exit.enter_context(self._place_in(text, form or IN_PROCESS))
        self.routers[name] = router
        listeners = ("clients",) if form else (*LISTENERS, EDGES)
        self._ports[name] = {one: router.port_of(one) for one in listeners}
        return router

    def _configuration(self, name: str) -> str:
        ports = self._ports.get(name, {})
        if name not in self._forms:
            edges = listener(
                EDGES, role="edge", port=ports.get(EDGES, 0), idleTimeoutSeconds=self._idle_timeout_s
            )
            return f"{super()._configuration(name)}{edges}\n"
        return "\n".join(
            [
                section("router", mode="edge", id=name),
                section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
                listener("clients", port=ports.get("clients", 0)),
                *(self._uplink(name, link) for link in self._links[name]),
                *ADDRESSES,
                *self._sections[name],
                "",
            ]
        )

    def _uplink(self, name: str, link: To) -> str:
        port = self._ports[link.router][EDGES]
        if link.is_proxied:
            proxy = self.proxies.get((name, link.router))
            if proxy is None:
                proxy = self.proxies[name, link.router] = self._at_exit.enter_context(Proxy(port))
            port = proxy.port
        return section(
            "connector",
            name=link.router,
            role="edge",
            host="127.0.0.1",
            port=port,
            idleTimeoutSeconds=self._idle_timeout_s,
        )

    def keys(self, name: str) -> set[str]:
        """Return the keys of the addresses that a router has to do with."""
        return {row["key"] for row in self.query(name, "router.address")}

    def wait_hanging(self, edge: str, router: str) -> None:
        """Wait until an edge router hangs on a router, and all routers of the network know its place."""
        key = f"H{edge}"

        def hangs() -> bool:
            rows = [row for row in self.query(router, "router.address") if row["key"] == key]
            return bool(rows) and rows[0]["subscriberCount"] == 1

        eventually(hangs, f"{edge} hangs on {router}")
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
