"""Mobula routers for the tests: one, or three that are all joined to each other."""

import json
import re
import subprocess
from pathlib import Path

from examples.routers import TREE, Router, await_that, free_ports, router_python

NODES = ("query", "id", "linkState", "--type", "org.apache.qpid.dispatch.router.node")


def addresses() -> str:
    """Return what a router has to be told of addresses, as deployments are advised."""
    return "".join(re.findall(r"(?ms)^address \{$.*?^\}$\n", (TREE / "configs/openstack.conf").read_text()))


def configuration(name: str, port: int, *, trunk_port: int = 0, joins: dict[str, int] | None = None) -> str:
    """Return the configuration of a router with a port for clients, one for other routers, and those it connects to."""
    sections = [
        _section("router", mode="interior", id=name),
        _section("listener", name="clients", host="127.0.0.1", port=port, authenticatePeer="no"),
        _section("log", module="DEFAULT", enable="info+"),
    ]
    if trunk_port:
        sections.append(_section("listener", name="routers", role="inter-router", host="127.0.0.1", port=trunk_port))
    for other, to in (joins or {}).items():
        sections.append(_section("connector", name=other, role="inter-router", host="127.0.0.1", port=to))
    return "".join(sections) + addresses()


def _section(kind: str, **attributes: object) -> str:
    return "\n".join([f"{kind} {{", *(f"    {name}: {value}" for name, value in attributes.items()), "}", ""])


class OneRouter:
    """A router at a port that stays the same when it is started again."""

    def __init__(self, folder: Path) -> None:
        [self.port] = free_ports(1)
        self.router = Router("R", configuration("R", self.port), folder).start().wait()

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"amqp://127.0.0.1:{self.port}/"


class Mesh:
    """Routers that are all joined to each other."""

    def __init__(self, folder: Path, names: str = "ABC") -> None:
        self.ports = dict(zip(names, free_ports(len(names)), strict=True))
        trunks = dict(zip(names, free_ports(len(names)), strict=True))
        self.routers = {
            name: Router(
                name,
                configuration(
                    name, self.ports[name], trunk_port=trunks[name], joins={one: trunks[one] for one in names[:at]}
                ),
                folder,
            )
            for at, name in enumerate(names)
        }

    def start(self) -> None:
        """Start all, and wait until they are joined."""
        for router in self.routers.values():
            router.start()
        for router in self.routers.values():
            router.wait()
        self._wait_until_joined()

    def restart(self, name: str) -> None:
        """Start one that was killed, and wait until it is joined to the others."""
        self.routers[name].start().wait()
        self._wait_until_joined()

    def _wait_until_joined(self) -> None:
        """Wait until each knows of all links; those who don't may send a message along two ways, and so twice."""
        running = [name for name, router in self.routers.items() if router.is_running]
        links = {name: [other for other in running if other != name] for name in running}
        for name in running:
            self.routers[name].wait_for_neighbours(*links[name])
            await_that(lambda: self._known_links(name) == links, f"router {name} knows how all are joined")  # noqa: B023

    def _known_links(self, name: str) -> dict[str, list[str]]:
        """Return which routers are joined to which, as a router knows it."""
        command = [router_python(), "-m", "routerd.cli.routermanage", "--bus", self.url(name), *NODES]
        answer = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True)
        return {node["id"]: sorted(node["linkState"]) for node in json.loads(answer.stdout)}

    def mend(self) -> None:
        """Start all that were killed."""
        for name, router in self.routers.items():
            if not router.is_running:
                self.restart(name)

    def url(self, *names: str) -> str:
        """Return the URL of clients that may connect to these."""
        return f"amqp://{','.join(f'127.0.0.1:{self.ports[name]}' for name in names)}/"

    def close(self) -> None:
        """End all."""
        for router in self.routers.values():
            router.close()
