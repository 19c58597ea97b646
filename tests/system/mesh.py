"""Routers that are joined: each a process, or actors on Ray, with trunks that can be cut."""

import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tests.system.load import Load, LoadConsumer, LoadProducer
from tests.system.management_client import ManagementClient
from tests.system.processes import end_all, family_of
from tests.system.proton_client import ProtonClient
from tests.system.proton_links import Consumer, Producer
from tests.system.proxy import Proxy
from tests.system.routers import ENDING_S, Form, RunningRouter, address_section, listener, section
from tests.waiting import eventually

ADDRESSES = (
    *(address_section("prefix", kind, kind) for kind in ("multicast", "closest", "balanced")),
    section("address", prefix="waypoint", waypoint="yes"),
)
LISTENERS = ("clients", "routers", "tenants", "unstripped")
TWO_ACTORS = Form("ray-2", 2)
CONNECTIONS_MAX = 50
"""So many are made to get one that a certain actor has."""

Place = Callable[[str], AbstractContextManager[RunningRouter]]
"""Starts a router with this configuration, and ends it."""


@dataclass(frozen=True, slots=True)
class To:
    """A connector to a router that was started before."""

    router: str
    cost: int = 1
    is_proxied: bool = False
    """It goes through a proxy, by which it can be cut."""


class Mesh:
    """Some routers by their names, which are their ids."""

    def __init__(self, form: Form, place: Place, *, idle_timeout_s: int = 16, **router: object) -> None:
        """Start nothing yet; `router` is more of what every router is configured with."""
        self.form = form
        self.routers: dict[str, RunningRouter] = {}
        self.proxies: dict[tuple[str, str], Proxy] = {}
        """By the two routers that are joined, the one that connects first."""
        self._place = place
        self._idle_timeout_s = idle_timeout_s
        self._router = router
        self._links: dict[str, tuple[To, ...]] = {}
        self._sections: dict[str, tuple[str, ...]] = {}
        self._ports: dict[str, dict[str, int]] = {}
        self._clients: list[ProtonClient] = []
        self._workers: dict[str, set[int]] = {}
        """On Ray, by router the actors that clients are to be at."""
        self._places: list[AbstractContextManager[RunningRouter]] = []

    def close(self) -> None:
        """End all routers, all at the same time."""
        self.close_clients()
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda place: place.__exit__(None, None, None), self._places))
        for proxy in self.proxies.values():
            proxy.close()

    def close_clients(self) -> None:
        """Close the connections of all clients."""
        while self._clients:
            self._clients.pop().close()

    # --- routers

    def add(self, name: str, *links: str | To, sections: Iterable[str] = ()) -> RunningRouter:
        """Start a router that connects to these."""
        self._links[name] = tuple(To(link) if isinstance(link, str) else link for link in links)
        self._sections[name] = tuple(sections)
        return self.start(name)

    def start(self, name: str) -> RunningRouter:
        """Start a router as it was, at the ports that it had, and wait for nothing."""
        place = self._place(self._configuration(name))
        router = place.__enter__()
        self._places.append(place)
        self.routers[name] = router
        self._workers.clear()
        self._ports[name] = {one: router.port_of(one) for one in LISTENERS}
        return router

    def _configuration(self, name: str) -> str:
        ports = self._ports.get(name, {})

        def listening(listener_name: str, **attributes: object) -> str:
            return listener(listener_name, **{"port": ports.get(listener_name, 0)} | attributes)

        return "\n".join(
            [
                section("router", **{"mode": "interior", "id": name, "managementAccess": "change"} | self._router),
                section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
                listening("clients"),
                listening("routers", role="inter-router", idleTimeoutSeconds=self._idle_timeout_s),
                listening("tenants", multiTenant="yes"),
                listening("unstripped", stripAnnotations="no"),
                *(section("connector", name=link.router, **self._connector(name, link)) for link in self._links[name]),
                *ADDRESSES,
                *self._sections[name],
                "",
            ]
        )

    def kill(self, name: str) -> None:
        """End a router without a word."""
        router = self.routers.pop(name)
        # The process that cares for the others first, or it would replace them.
        everything = [*family_of(router.launcher.pid)[:1], *router.actors().values()]
        for one in everything:
            one.signal(signal.SIGKILL)
        router.launcher.wait(ENDING_S)
        end_all(everything, ENDING_S)

    def end(self, name: str) -> int:
        """End a router in order; return the status it exits with."""
        return self.routers.pop(name).end()

    def port(self, name: str, listener: str = "clients") -> int:
        """Return the port of a listener."""
        return self._ports[name][listener]

    def proxy(self, one: str, other: str) -> Proxy:
        """Return the proxy between two routers."""
        return self.proxies[(one, other) if (one, other) in self.proxies else (other, one)]

    def _connector(self, name: str, link: To) -> dict[str, object]:
        port = self._ports[link.router]["routers"]
        if link.is_proxied:
            pair = (name, link.router)
            if pair not in self.proxies:
                self.proxies[pair] = Proxy(port)
            port = self.proxies[pair].port
        plain = {"role": "inter-router", "host": "127.0.0.1", "port": str(port), "cost": link.cost}
        return plain | {"idleTimeoutSeconds": self._idle_timeout_s}

    # --- what they say

    def query(self, name: str, entity_type: str, *attributes: str) -> list[dict[str, Any]]:
        """Return the entities of a type at a router."""
        with ManagementClient(self.port(name)) as client:
            return client.query(entity_type, *attributes)

    def nodes(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the routers that a router knows."""
        return {row["id"]: row for row in self.query(name, "router.node")}

    def reached(self, name: str) -> dict[str, int]:
        """Return the routers that a router can reach, with the costs."""
        return {
            router: row["cost"]
            for router, row in self.nodes(name).items()
            if router != name and row["cost"] is not None
        }

    def wait_joined(self, *names: str) -> None:
        """Wait until these routers, or all, reach each other and nobody else."""
        names = names or tuple(self.routers)
        for name in names:
            others = set(names) - {name}
            eventually(lambda: self.reached(name).keys() == others, f"{name} reaches {others}")  # noqa: B023

    def routers_of(self, name: str, address: str) -> list[str]:
        """Return who else has consumers of an address, as far as a router knows."""
        text = address.removesuffix(".")
        keys = {f"M0{text}", f"M1{text}"}
        rows = [row for row in self.query(name, "router.address") if row["key"] in keys]
        return sorted(router for row in rows for router in row["remoteHostRouters"])

    def wait_known(self, address: str, name: str, *others: str) -> None:
        """Wait until a router that has to do with an address knows who else has consumers."""
        eventually(lambda: self.routers_of(name, address) == sorted(others), f"{name} knows {others}")

    # --- clients

    def connect(self, name: str, listener: str = "clients", **options: Any) -> ProtonClient:
        """Return a client at a router; on Ray it is at an actor that has no trunk, if there is one."""
        for number in range(CONNECTIONS_MAX):
            container_id = f"client-{len(self._clients)}-{number}"
            client = ProtonClient(self.port(name, listener), **{"container_id": container_id} | options)
            self._clients.append(client)
            if not self.form.actors or self._worker_of(client) in self._workers_for_clients(name):
                return client
            self._clients.pop().close()
        raise AssertionError(f"{CONNECTIONS_MAX} connections are all at another actor")

    def _worker_of(self, client: ProtonClient) -> int:
        with client.lock:
            return (int(client.connection.remote_properties["qd.conn-id"]) - 1) % self.form.actors

    def _workers_for_clients(self, name: str) -> set[int]:
        if name not in self._workers:
            rows = self.query(name, "connection", "identity", "role")
            trunks = {(int(row["identity"]) - 1) % self.form.actors for row in rows if row["role"] == "inter-router"}
            everybody = set(range(self.form.actors))
            self._workers[name] = everybody - trunks or everybody
        return self._workers[name]


@dataclass(frozen=True, slots=True)
class Span:
    """Two routers of a mesh."""

    mesh: Mesh
    near: str
    far: str

    def here(self, listener: str = "clients", **options: Any) -> ProtonClient:
        """Connect to the one."""
        return self.mesh.connect(self.near, listener, **options)

    def there(self, listener: str = "clients", **options: Any) -> ProtonClient:
        """Connect to the other one."""
        return self.mesh.connect(self.far, listener, **options)


def wait_for_copies(consumers: Iterable[Consumer], *producers: Producer, by_hand: bool = False) -> None:
    """Send until every consumer gets a copy of what each producer sends; these are decided here if nobody else does."""
    everybody = list(consumers)
    for producer in producers:
        producer.wait_for_credit()
        eventually(lambda: _copied(producer, everybody, by_hand), "all consumers are known")  # noqa: B023


def _copied(producer: Producer, consumers: list[Consumer], by_hand: bool) -> bool:
    sent = producer.send("probe")
    found: set[Consumer] = set()

    def collect() -> None:
        for consumer in consumers:
            if consumer.waiting:
                found.add(consumer)
                received = consumer.take()
                consumer.received.clear()
                if by_hand:
                    received.decide("accepted")

    def is_decided() -> bool:
        collect()
        return sent.state is not None

    eventually(is_decided, "a copied message is decided")
    collect()
    return len(found) == len(consumers)


def load_across(mesh: Mesh, address: str, producers: str, consumers: str) -> Load:
    """Return producers at some routers, and consumers of the same addresses at as many others."""
    load = Load(0, address, producers=0, consumers=0)
    load.producers = [LoadProducer(f"p{at}", mesh.port(name), f"{address}.{at}") for at, name in enumerate(producers)]
    load.consumers = [LoadConsumer(f"c{at}", mesh.port(name), f"{address}.{at}") for at, name in enumerate(consumers)]
    return load
