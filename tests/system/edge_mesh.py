"""Edge routers at routers that are joined, each a process or an actor on Ray; and edge routers made of frames."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from routerd.wire import AmqpValue, Attach, Flow, Header, Int, Message, Source, Symbol, Target, Transfer
from tests.system.mesh import ADDRESSES, LISTENERS, Mesh, To
from tests.system.proxy import Proxy
from tests.system.raw_client import WINDOW, RawClient
from tests.system.routers import IN_PROCESS, Form, RunningRouter, listener, section
from tests.waiting import eventually

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

    def hang(self, *addresses: str, beats: bool = False) -> "RawEdge":
        """Attach what every edge router has, and links of addresses; without a link for heartbeats, none is missed."""
        self.open(container_id=self.id)
        down = (Symbol(DOWNLINK),)
        links = [
            (UP, False, Source(), Target()),
            (DOWN, True, Source(address=self.id, capabilities=down), Target(capabilities=down)),
            (NOTICES, True, Source(address=TRACKING), Target()),
            *([(BEATS, False, Source(), Target(address=HEARTBEAT))] if beats else []),
        ]
        for at, address in enumerate(addresses):
            links.append((FIRST_OWN + 2 * at, True, Source(address=address), Target()))
            links.append((FIRST_OWN + 2 * at + 1, False, Source(), Target(address=address)))
        # At once: many do this, and answers take their time.
        self.send(*(frame for link in links for frame in _attached(*link)))
        for _ in links:
            self.wait_for(Attach)
        return self

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


def _attached(handle: int, is_receiver: bool, source: Source, target: Target) -> list[object]:
    link = Attach(
        name=f"link-{handle}",
        handle=handle,
        role=is_receiver,
        source=source,
        target=target,
        initial_delivery_count=None if is_receiver else 0,
    )
    if not is_receiver:
        return [link]
    window = {"next_incoming_id": 0, "incoming_window": WINDOW, "next_outgoing_id": 0, "outgoing_window": WINDOW}
    return [link, Flow(**window, handle=handle, delivery_count=0, link_credit=CREDIT)]
