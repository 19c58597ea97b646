"""The network that the console is shown: three joined routers, an edge router, a container, and light load."""

import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from tests.system.launched import ROOT, Launched, environment
from tests.waiting import WITHIN_S, eventually

HOST = "127.0.0.1"
ADDRESSES = 12

TREATMENT = """
address {
 name: events
 prefix: multicast
 distribution: multicast
}
address {
 name: closest orders
 pattern: orders/*/urgent/#
 distribution: closest
 priority: 8
}
address {
 name: retired
 prefix: retired
 distribution: unavailable
}
linkRoute {
 name: queues in
 prefix: queue
 direction: in
 connection: brokers
}
linkRoute {
 name: queues out
 prefix: queue
 direction: out
 connection: brokers
}
autoLink {
 name: invoices
 address: invoices
 direction: in
 containerId: broker.example
}
"""


def section(kind: str, **values: object) -> str:
    """Return a section of a configuration file."""
    return "\n".join([f"{kind} {{", *(f" {name}: {value}" for name, value in values.items()), "}", ""])


def listener(name: str, **values: object) -> str:
    """Return a listener at any port of this host."""
    return section("listener", name=name, host=HOST, port=0, **values)


class Router:
    """A router as a process of its own."""

    def __init__(
        self, router: str, mode: str, *sections: str, arguments: tuple[str, ...] = (), **settings: object
    ) -> None:
        self.id = router
        self._folder = tempfile.TemporaryDirectory(prefix=f"router-{router}-")
        conf = section("router", id=router, mode=mode, managementAccess="change", **settings) + "".join(sections)
        self.launched = Launched(Path(self._folder.name), conf, "--in-process", *arguments)

    def port(self, name: str) -> int:
        """Return the port of a listener, once the router is ready."""
        self.launched.find(r"\(notice\) Operational, ")
        return int(self.launched.find(rf"Listening on \S*:(\d+) \({name}\)")[1])

    @property
    def url(self) -> str:
        """Where its console is, by its own words."""
        return self.launched.find(r"The console is at (\S+)")[1]

    def kill(self) -> None:
        """End it as a host ends that fails."""
        self.launched.close()

    def close(self) -> None:
        """Leave nothing behind."""
        self.launched.close()
        self._folder.cleanup()


class Network:
    """Routers A, B and C, joined in a triangle, and the edge router E at A."""

    def __init__(self, **settings: object) -> None:
        """`settings` are attributes of the section `router` of A, B and C."""
        self._settings = settings
        self.routers: dict[str, Router] = {}
        self._load: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Network":
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        for number, name in enumerate("ABC"):
            trunks = [
                section(
                    "connector", name=f"to-{other}", role="inter-router", host=HOST, cost=1 + number,
                    port=self.routers[other].port("routers"),
                )
                for other in "ABC"[:number]
            ]  # fmt: skip
            self.routers[name] = Router(
                name,
                "interior",
                listener("clients"),
                listener("web", http="yes"),
                listener("routers", role="inter-router"),
                listener("edges", role="edge"),
                listener("brokers", role="route-container"),
                TREATMENT,
                *trunks,
                **self._settings,
            )
            self.routers[name].port("clients")
        uplink = section("connector", name="uplink", role="edge", host=HOST, port=self.routers["A"].port("edges"))
        self.routers["E"] = Router("E", "edge", listener("clients"), listener("web", http="yes"), uplink)
        self.routers["E"].port("clients")
        for name in "AC":
            self.routers[name].launched.find(r"router B is a neighbour")

    def begin_load(self, rate: int = 40) -> None:
        """Have messages sent from A to B and C, and from E to A, as long as the network is there."""
        for sender, receiver, prefix in (("A", "B", "orders"), ("A", "C", "billing"), ("E", "A", "edge")):
            self._load.append(
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "routerd.cli.routerbench"),
                        *("--connect", self._clients(sender), "--receive-at", self._clients(receiver)),
                        *("--address", f"{prefix}/{{}}/new", "--addresses", str(ADDRESSES)),
                        *("--senders", str(ADDRESSES), "--receivers", str(ADDRESSES), "--size", "200", "--unsettled"),
                        *("--rate", str(rate), "--seconds", "3600", "--quiet"),
                    ],
                    cwd=ROOT,
                    env=environment(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    def _clients(self, name: str) -> str:
        return f"{HOST}:{self.routers[name].port('clients')}"

    def close(self) -> None:
        """End all of it."""
        for load in self._load:
            load.kill()
            load.wait(WITHIN_S)
        for router in self.routers.values():
            router.close()


def guarded_router(folder: Path) -> Router:
    """Start a router that wants to know who somebody is: alice, with the password secret."""
    users = folder / "users"
    subprocess.run(
        [
            *(sys.executable, "-m", "routerd.cli.routermanage", "user", "add", "alice"),
            *("--user-file", str(users), "--password-file", "-"),
        ],
        cwd=folder, env=environment(), input=b"secret\n", check=True, timeout=WITHIN_S, capture_output=True,
    )  # fmt: skip
    web = listener("web", http="yes", authenticatePeer="yes")
    plain = listener("plain", http="yes", authenticatePeer="yes", saslMechanisms="PLAIN")
    router = Router("G", "standalone", web, plain, arguments=("--user-file", str(users)))
    router.port("web")
    return router


def wait_for_load(network: Network) -> None:
    """Wait until the log of B has consumers."""
    eventually(lambda: "Link attached: dir=out" in network.routers["B"].launched.log(), "consumers are attached")
