"""Routers that are joined: each a process, or actors on Ray, with trunks that can be cut."""

import contextlib
import signal
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

from tests.system.launched import eventually
from tests.system.management_client import ManagementClient
from tests.system.processes import end_all, family_of
from tests.system.proton_client import ProtonClient
from tests.system.proton_links import Consumer, Producer
from tests.system.proxy import Proxy
from tests.system.routers import ENDING_S, Form, RunningRouter, address_section, listener, section

ADDRESSES = (
    *(address_section("prefix", kind, kind) for kind in ("multicast", "closest", "balanced")),
    section("address", prefix="waypoint", waypoint="yes"),
)
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


def mesh_configuration(router_id: str, ports: dict[str, int], connectors: Iterable[str], sections: Iterable[str]) -> str:
    """Return the configuration of a router of a mesh, with listeners for everybody."""
    common = {"host": "127.0.0.1", "authenticatePeer": "no"}

    def one(name: str, **attributes: object) -> str:
        return listener(**common | {"name": name, "port": ports.get(name, 0)} | attributes)

    return "\n".join(
        [
            section("router", mode="interior", id=router_id),
            section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
            one("clients"),
            one("routers", role="inter-router"),
            one("tenants", multiTenant="yes"),
            one("unstripped", stripAnnotations="no"),
            *connectors,
            *ADDRESSES,
            *sections,
            "",
        ]
    )


class Mesh:
    """Some routers by their names, which are their ids."""

    def __init__(self, form: Form, place: Place) -> None:
        self.form = form
        self.routers: dict[str, RunningRouter] = {}
        self.proxies: dict[tuple[str, str], Proxy] = {}
        """By the two routers that are joined, the one that connects first."""
        self._place = place
        self._links: dict[str, tuple[To, ...]] = {}
        self._sections: dict[str, tuple[str, ...]] = {}
        self._ports: dict[str, dict[str, int]] = {}
        self._managers: dict[str, ManagementClient] = {}
        self._clients: list[ProtonClient] = []
        self._at_exit = ExitStack()

    def close(self) -> None:
        """End all routers."""
        self.close_clients()
        for name in list(self._managers):
            self._forget_manager(name)
        self._at_exit.close()

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
        connectors = [self._connector(name, link) for link in self._links[name]]
        text = mesh_configuration(name, self._ports.get(name, {}), connectors, self._sections[name])
        router = self._at_exit.enter_context(self._place(text))
        self.routers[name] = router
        names = ("clients", "routers", "tenants", "unstripped")
        self._ports[name] = {listener: router.port_of(listener) for listener in names}
        return router

    def kill(self, name: str) -> None:
        """End a router without a word."""
        router = self.routers.pop(name)
        self._forget_manager(name)
        # The process that cares for the others first, or it would replace them.
        everything = [*family_of(router.launcher.pid)[:1], *router.actors().values()]
        for one in everything:
            one.signal(signal.SIGKILL)
        router.launcher.wait(ENDING_S)
        end_all(everything, ENDING_S)

    def end(self, name: str) -> int:
        """End a router in order; return the status it exits with."""
        self._forget_manager(name)
        return self.routers.pop(name).end()

    def port(self, name: str, listener: str = "clients") -> int:
        """Return the port of a listener."""
        return self._ports[name][listener]

    def proxy(self, one: str, other: str) -> Proxy:
        """Return the proxy between two routers."""
        return self.proxies[(one, other) if (one, other) in self.proxies else (other, one)]

    def _connector(self, name: str, link: To) -> str:
        port = self._ports[link.router]["routers"]
        if link.is_proxied:
            proxy = self.proxies.get((name, link.router))
            if proxy is None:
                proxy = self.proxies[name, link.router] = self._at_exit.enter_context(Proxy(port))
            port = proxy.port
        return section(
            "connector", name=link.router, role="inter-router", host="127.0.0.1", port=port, cost=link.cost
        )

    # --- what they say

    def manage(self, name: str) -> ManagementClient:
        """Return the management of a router."""
        if name not in self._managers:
            self._managers[name] = ManagementClient(self.port(name))
        return self._managers[name]

    def _forget_manager(self, name: str) -> None:
        if (manager := self._managers.pop(name, None)) is not None:
            with contextlib.suppress(Exception):
                manager.close()

    def nodes(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the routers that a router knows."""
        return {row["id"]: row for row in self.manage(name).query("router.node")}

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
        keys = {f"M0{address}", f"M1{address}"}
        rows = [row for row in self.manage(name).query("router.address") if row["key"] in keys]
        return sorted(router for row in rows for router in row["remoteHostRouters"])

    def wait_known(self, address: str, at: Iterable[str], *others: str) -> None:
        """Wait until routers that have to do with an address know who else has consumers."""
        for name in at:
            eventually(lambda: self.routers_of(name, address) == sorted(others), f"{name} knows {others}")  # noqa: B023

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
        rows = self.manage(name).query("connection")
        trunks = {(int(row["identity"]) - 1) % self.form.actors for row in rows if row["role"] == "inter-router"}
        everybody = set(range(self.form.actors))
        return everybody - trunks or everybody


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


def wait_for_copies(consumers: Iterable[Consumer], *producers: Producer) -> None:
    """Have messages copied until every consumer gets those of every producer; they are taken out again."""
    everybody = list(consumers)
    for producer in producers:

        def is_copied(producer: Producer = producer) -> bool:
            producer.wait_for_credit()
            return producer.send("probe").outcome() == "accepted" and _take_probe(everybody)

        eventually(is_copied, f"all {len(everybody)} consumers are known")


def _take_probe(consumers: Iterable[Consumer]) -> bool:
    found = [bool(one.received) for one in consumers]
    for one in consumers:
        one.received.clear()
        one.waiting.clear()
    return all(found)
