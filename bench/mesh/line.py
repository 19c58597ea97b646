"""Routers for a benchmark, joined in a line; each is a process, without Ray."""

from contextlib import ExitStack
from types import TracebackType

from bench.load_runs import routerbench
from bench.router_process import RouterProcess

FORM = "--in-process"
CONFIGURATION = """\
router {{
    mode: interior
    id: {id}
    managementAccess: change
}}
listener {{
    name: shared
    host: 127.0.0.1
    port: 0
    linkCapacity: 1000
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}}
listener {{
    name: narrow
    host: 127.0.0.1
    port: 0
    linkCapacity: 100
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}}
listener {{
    name: trunks
    role: inter-router
    host: 127.0.0.1
    port: 0
    linkCapacity: 1000
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}}
log {{
    module: DEFAULT
    enable: notice+
}}
"""
CONNECTOR = """\
connector {{
    name: trunk
    role: inter-router
    host: {host}
    port: {port}
    linkCapacity: 1000
}}
"""


def interior_router(id: str, neighbour: RouterProcess | None = None) -> RouterProcess:
    """Start a router that takes others as neighbours, and may connect to one."""
    configuration = CONFIGURATION.format(id=id)
    if neighbour is not None:
        host, _, port = neighbour.places["trunks"].rpartition(":")
        configuration += CONNECTOR.format(host=host, port=port)
    return RouterProcess(FORM, configuration=configuration)


class Line:
    """So many routers, each a neighbour of the one before; they know each other when it is entered."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._at_exit = ExitStack()
        self.routers: list[RouterProcess] = []

    def __enter__(self) -> "Line":
        with ExitStack() as started:
            for number in range(1, self._count + 1):
                neighbour = self.routers[-1] if self.routers else None
                self.routers.append(started.enter_context(interior_router(f"R{number}", neighbour)))
            self._pass_something()
            self._at_exit = started.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._at_exit.close()

    def cpu_s(self) -> float:
        """Return the processor time that all the routers have used."""
        return sum(router.cpu_s() for router in self.routers)

    def _pass_something(self) -> None:
        """Wait until the first router sends to consumers at the last one."""
        across = ("--receive-at", self.routers[-1].place, "--address", "first")
        routerbench(self.routers[0].place, *across, "--count", "100", "--patience", "20")
