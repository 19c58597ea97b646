"""What happens in the demo, one thing after the other, and what the callers saw of each."""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.demo_mesh.account import WHAT_IS_COUNTED, Account
from bench.demo_mesh.caller import Caller
from bench.demo_mesh.layout import CALLERS, CUT, ROUTERS, SERVERS, Layout, layout
from bench.demo_mesh.parts import Ray, Router, ServerProcess, await_that
from bench.demo_mesh.proxy import Proxy
from routerd.cli.manage.bus import Bus
from routerd.cli.manage.connecting import Place, open_client
from routerd.cli.manage.credentials import Credentials
from routerd.cli.manage.failures import ToolFailed
from routerd.cli.manage.network_map.graph import Graph, RouterState, TrunkState
from routerd.cli.manage.network_map.survey import survey
from routerd.cli.manage.node import MANAGEMENT, Node
from routerd.cli.manage.output import as_text
from routerd.cli.manage.stream import TlsOptions
from routerd.cli.manage.views.picture import map_blocks

SERVER_THAT_FAILS = "A"
ROUTER_THAT_FAILS = "D"
TRUNKS = 6
WHOLE_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How the demo is to be run."""

    is_in_process: bool = False
    has_free_ports: bool = False
    phase_s: float = 2.0
    """How long it goes on like this, each time that something has happened."""


class Story:
    """Tells what happens while it does."""

    def __init__(self, wishes: Wishes, tell: Callable[[str], None]) -> None:
        self._wishes = wishes
        self._tell = tell
        self._began = time.monotonic()
        self._proxy = Proxy()
        self._layout: Layout = layout(self._proxy.port, has_free_ports=wishes.has_free_ports)
        self._proxy.target = self._layout.cut_port
        self._routers: dict[str, Router] = {}
        ports = self._layout.client_ports
        self._servers = {name: ServerProcess(name, ports[name]) for name in SERVERS}
        self._callers = [Caller(name, ports[name]) for name in CALLERS]

    def happen(self) -> bool:
        """Let it all happen; return whether nothing was lost."""
        with ExitStack() as at_exit:
            at_exit.callback(self._proxy.close)
            folder = Path(at_exit.enter_context(tempfile.TemporaryDirectory(prefix="demo-mesh-")))
            self._start_routers(folder, at_exit)
            self._tell("\n".join(as_text(map_blocks(self._look()))))
            self._tell(f"\n{WHAT_IS_COUNTED}")
            for server in self._servers.values():
                at_exit.callback(server.kill)
                server.start()
            for caller in self._callers:
                caller.start()
            await_that(lambda: all(caller.has_begun for caller in self._callers), "every caller has an answer")
            self._go_on(f"RPC servers at {' and '.join(SERVERS)}, callers at {', '.join(CALLERS)}")
            self._fail_a_server()
            self._fail_a_trunk()
            self._fail_a_router()
            return self._end()

    # --- what happens

    def _start_routers(self, folder: Path, at_exit: ExitStack) -> None:
        form: tuple[str, ...] = ("--in-process",)
        self._happens("four routers start from configs/mesh-a.conf to mesh-d.conf")
        if not self._wishes.is_in_process:
            ray = Ray()
            at_exit.callback(ray.close)
            ray.wait()
            form = ("--address", ray.address, "--connection-actors", "1")
        for name in ROUTERS:
            router = self._routers[name] = Router(name, self._layout.texts[name], folder, *form)
            at_exit.callback(router.close)
            router.start()
        for router in self._routers.values():
            router.wait()
        self._await_whole()
        kind = "each a process" if self._wishes.is_in_process else "each some actors on one Ray"
        self._happens(f"they are joined, {kind}; trunk {CUT[0]}-{CUT[1]} passes through this program, which can cut it")

    def _fail_a_server(self) -> None:
        server = self._servers[SERVER_THAT_FAILS]
        server.kill()
        self._go_on(f"kill -9 of the server at {server.router}")
        server.start()
        self._go_on(f"the server at {server.router} is started again")

    def _fail_a_trunk(self) -> None:
        self._proxy.cut()
        self._go_on(f"the trunk {CUT[0]}-{CUT[1]} is cut")
        self._proxy.mend()
        self._await_whole()
        self._go_on(f"the trunk {CUT[0]}-{CUT[1]} is back")

    def _fail_a_router(self) -> None:
        router = self._routers[ROUTER_THAT_FAILS]
        count = router.kill()
        processes = f"{count} process{'es' if count > 1 else ''}"
        self._go_on(f"kill -9 of router {router.name}, {processes}, at which a server and a caller are")
        router.start()
        router.wait()
        self._await_whole()
        self._go_on(f"router {router.name} is started again, and joined to all others")

    def _end(self) -> bool:
        for caller in self._callers:
            caller.stop()
        for caller in self._callers:
            caller.take_account()
        self._happens("the callers have stopped; what each saw, over all:")
        whole = Account()
        for caller in self._callers:
            self._tell(f"   caller at {caller.router}: {caller.total.text()}")
            whole.add(caller.total)
        for caller in self._callers:
            for fault in caller.total.faults():
                self._tell(f"LOST, by the caller at {caller.router}: {fault}")
        is_whole = not whole.lost and whole.answered == whole.calls
        verdict = "Nothing was lost" if is_whole else "NOT ALL IS WELL"
        self._tell(f"{verdict}: {whole.calls} calls, {whole.answered} answered, {whole.repeated.total()} repeated.")
        return is_whole

    # --- how it is told

    def _happens(self, what: str) -> None:
        self._tell(f"{time.monotonic() - self._began:6.1f} s  {what}")

    def _go_on(self, what: str) -> None:
        """Say what has happened, let the callers go on for a while, and say what they saw."""
        self._happens(what)
        time.sleep(self._wishes.phase_s)
        for caller in self._callers:
            self._tell(f"   caller at {caller.router}: {caller.take_account().text()}")

    # --- how the network fares

    def _await_whole(self) -> None:
        await_that(self._is_whole, "all routers and trunks are up", WHOLE_WITHIN_S)

    def _is_whole(self) -> bool:
        try:
            graph = self._look()
        except ToolFailed:
            return False
        return (
            [router.id for router in graph.routers if router.state is RouterState.UP] == list(ROUTERS)
            and [trunk.state for trunk in graph.trunks] == [TrunkState.UP] * TRUNKS
        )

    def _look(self) -> Graph:
        """Return the network as router A sees it."""
        place = Place(
            bus=Bus(host="127.0.0.1", port=self._layout.client_ports["A"]),
            address=MANAGEMENT,
            tls=TlsOptions(),
            credentials=Credentials(),
        )
        client = open_client(place, "demo-mesh")
        try:
            return survey(Node(client))
        finally:
            client.close()
