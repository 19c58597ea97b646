"""What happens in the demo, one thing after the other."""

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.demo_analytics.layout import ADDRESS, CUT, ROUTERS, layout
from bench.demo_analytics.parts import Consumer, Producer
from bench.demo_analytics.verdict import findings, make_report
from bench.demo_mesh.parts import Router, await_that
from bench.demo_mesh.proxy import Proxy
from routerd.records import TABLES

RATE = 150.0
"""Messages a second."""
FAST_S, SLOW_S = 0.0, 0.5
"""What consumers take for a message."""
SLOW, SLOW_AT = "slow", "C"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How the demo is to be run."""

    folder: Path
    """Where records and the report go."""
    phase_s: float = 5.0
    """How long it goes on like this, each time that something has happened."""


class Story:
    """Tells what happens while it does."""

    def __init__(self, wishes: Wishes, tell: Callable[[str], None]) -> None:
        self._wishes = wishes
        self._tell = tell
        self._began = time.monotonic()
        self._records = wishes.folder / "records"
        self._proxy = Proxy()
        self._layout = layout(self._proxy.port, self._records)
        self._proxy.target = self._layout.cut_port
        ports = self._layout.client_ports
        self._consumers = [
            Consumer("quick", ports["B"], service_s=FAST_S, credit=20),
            Consumer("brisk", ports["B"], service_s=FAST_S, credit=20),
            Consumer("swift", ports["C"], service_s=FAST_S, credit=20),
            Consumer(SLOW, ports[SLOW_AT], service_s=SLOW_S, credit=4),
        ]
        self._producer = Producer("orders-desk", ports["A"], RATE)

    def happen(self) -> bool:
        """Let it all happen; return whether the report names both faults."""
        for table in TABLES:
            shutil.rmtree(self._records / table.name, ignore_errors=True)
        with ExitStack() as at_exit:
            at_exit.callback(self._proxy.close)
            folder = Path(at_exit.enter_context(tempfile.TemporaryDirectory(prefix="demo-analytics-")))
            self._start_routers(folder, at_exit)
            at_exit.callback(self._stop_clients)
            for consumer in self._consumers:
                consumer.start()
            self._producer.start()
            await_that(lambda: all(one.taken for one in self._consumers), "every consumer has a message")
            slow = f"`{SLOW}` at {SLOW_AT} takes {SLOW_S * 1000:g} ms each"
            self._go_on(f"orders go from A to consumers at B and C; {slow}")
            self._cut_the_trunk()
            self._stop_clients()
            self._happens(f"{self._producer.sent} orders were sent; the routers end, and complete their files")
        return self._report()

    def _start_routers(self, folder: Path, at_exit: ExitStack) -> None:
        routers = [Router(name, self._layout.texts[name], folder, "--in-process") for name in ROUTERS]
        for router in routers:
            at_exit.callback(router.close)
            router.start()
        for router in routers:
            router.wait()
        self._happens(f"three routers record all that they decide in {self._records}")

    def _cut_the_trunk(self) -> None:
        self._proxy.cut()
        self._go_on(f"the trunk {CUT[0]} - {CUT[1]} is cut")
        before = self._producer.outcomes
        self._proxy.mend()
        await_that(lambda: self._producer.outcomes > before + 10, f"{ADDRESS} are taken again")
        self._go_on(f"the trunk {CUT[0]} - {CUT[1]} is back, and orders go on")

    def _stop_clients(self) -> None:
        clients: list[Producer | Consumer] = [self._producer, *self._consumers]
        for one in clients:
            one.is_stopping = True
            if one.is_alive():
                one.join()

    def _report(self) -> bool:
        report = self._wishes.folder / "report.html"
        report.unlink(missing_ok=True)
        self._happens("routeranalyze makes the report")
        make_report(self._records, report)
        found = findings(report, SLOW, SLOW_AT)
        for fault, sentence in found.items():
            self._tell(f"   {fault}: {sentence or 'NOT in the report'}")
        self._happens(f"the report is at {report}")
        return all(found.values())

    def _go_on(self, what: str) -> None:
        self._happens(what)
        time.sleep(self._wishes.phase_s)

    def _happens(self, what: str) -> None:
        self._tell(f"{time.monotonic() - self._began:6.1f} s  {what}")
