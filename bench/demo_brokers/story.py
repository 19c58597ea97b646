"""What happens in the demo, one thing after the other, and whether every accepted message came out."""

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.demo_brokers.browser import Browser
from bench.demo_brokers.layout import ARCHIVE, BROKERS, QUEUE, ROUTERS, configurations
from bench.demo_brokers.load import Account, Consumer, Producer
from bench.demo_mesh.parts import Router, await_that
from bench.free_ports import free_ports
from bench.rabbitmq import RabbitMq
from routerd.cli.manage.bus import Bus
from routerd.cli.manage.connecting import Place, open_client
from routerd.cli.manage.credentials import Credentials
from routerd.cli.manage.failures import ToolFailed
from routerd.cli.manage.node import MANAGEMENT, PREFIX, Node
from routerd.cli.manage.stream import TlsOptions

ACTIVE_WITHIN_S = 120.0
OUT_WITHIN_S = 60.0
LOST = "qd:routed-link-lost"
LETTERS = ["alpha", "beta", "gamma", "delta", "epsilon"]
_ACTIVE = "active"


class Story:
    """Tells what happens while it does."""

    def __init__(self, phase_s: float, tell: Callable[[str], None]) -> None:
        self._phase_s = phase_s
        self._tell = tell
        self._began = time.monotonic()
        ports = free_ports(2 * len(ROUTERS))
        self._ports = dict(zip(ROUTERS, ports, strict=False))
        self._trunks = dict(zip(ROUTERS, ports[len(ROUTERS) :], strict=True))
        self._account = Account()
        self._is_well = True

    def happen(self) -> bool:
        """Let it all happen; return whether every accepted message came out."""
        with ExitStack() as at_exit:
            folder = Path(at_exit.enter_context(tempfile.TemporaryDirectory(prefix="demo-brokers-")))
            self._happens("two RabbitMQ and three routers start; a broker is at A, the other one at C")
            brokers = {name: at_exit.enter_context(RabbitMq(name.lower())) for name in BROKERS}
            for broker in brokers.values():
                broker.declare(QUEUE)
            brokers["A"].declare(ARCHIVE)
            ports = {name: broker.port for name, broker in brokers.items()}
            for name, text in configurations(self._ports, self._trunks, ports).items():
                router = Router(name, text, folder, "--in-process")
                at_exit.callback(router.close)
                router.start()
                router.wait()
            self._happens("they listen")
            self._await_brokers()
            producer, consumer = Producer(self._ports["B"], self._account), Consumer(self._ports["B"], self._account)
            producer.start()
            consumer.start()
            self._go_on(f"producer and consumer at B; '{QUEUE}' has a shard at each broker")
            self._let_a_broker_die(brokers["A"])
            self._happens("the producer stops; the consumer takes what is left")
            producer.stop()
            self._await_the_rest()
            consumer.is_stopping = True
            return self._end()

    def _let_a_broker_die(self, broker: RabbitMq) -> None:
        browser = Browser(self._ports["C"])
        browser.put(LETTERS)
        self._browse(browser)
        browser.watch()
        broker.kill()
        condition = browser.await_loss()
        self._is_well = self._is_well and condition == LOST
        browser.close()
        self._go_on(f"kill -9 of the broker at A; the routed link at C hears {condition}, its connection stays")
        broker.start()
        self._await_brokers()
        self._go_on("the broker at A is started again, and its shard takes part again")
        browser = Browser(self._ports["C"])
        self._browse(browser)
        browser.close()

    def _browse(self, browser: Browser) -> None:
        seen = browser.browse(len(LETTERS))
        self._is_well = self._is_well and seen == sorted(LETTERS)
        self._happens(f"a link at C, routed over B and A, sees in '{ARCHIVE}': {', '.join(seen)}")

    def _await_the_rest(self) -> None:
        account, end = self._account, time.monotonic() + OUT_WITHIN_S
        while account.accepted - account.received.keys() and time.monotonic() < end:
            time.sleep(0.1)

    def _end(self) -> bool:
        account = self._account
        missing = sorted(account.accepted - account.received.keys())
        again = sum(count > 1 for count in account.received.values())
        self._tell(f"   {self._text()}")
        if missing:
            self._tell(f"LOST: {len(missing)} accepted messages, from {missing[0]} to {missing[-1]}")
        is_whole = self._is_well and not missing and len(account.accepted) == account.sent
        verdict = "Every accepted message came out" if is_whole else "NOT ALL IS WELL"
        self._tell(f"{verdict}: {len(account.accepted)} accepted, {again} came more than once.")
        return is_whole

    # --- how it is told

    def _happens(self, what: str) -> None:
        self._tell(f"{time.monotonic() - self._began:6.1f} s  {what}")

    def _go_on(self, what: str) -> None:
        """Say what has happened, let the clients go on for a while, and say what they saw."""
        self._happens(what)
        time.sleep(self._phase_s)
        self._tell(f"   {self._text()}")

    def _text(self) -> str:
        account = self._account
        again = ", ".join(f"{count} {outcome}" for outcome, count in account.other.copy().items())
        return (
            f"{account.sent} messages sent, {len(account.accepted)} accepted, sent again: {again or 'none'}; "
            f"{len(account.received)} came out"
        )

    # --- how the brokers fare

    def _await_brokers(self) -> None:
        what = "auto-links and link routes are active, and C knows of the link route at A"
        await_that(self._are_active, what, ACTIVE_WITHIN_S)

    def _are_active(self) -> bool:
        try:
            auto_links = [one for name in BROKERS for one in self._query(name, "router.config.autoLink")]
            addresses = self._query(ROUTERS[-1], "router.address")
        except ToolFailed:
            return False
        known = [one for one in addresses if str(one["key"])[:1] in "CD" and one["remoteCount"]]
        at_b = [one for one in self._query("B", "router.address") if one["key"] == f"M0{QUEUE}"]
        return (
            {one["operStatus"] for one in auto_links} == {_ACTIVE}
            and len(known) == 2
            and [one["remoteCount"] for one in at_b] == [len(BROKERS)]
        )

    def _query(self, router: str, kind: str) -> list[Mapping[str, Any]]:
        place = Place(
            bus=Bus(host="127.0.0.1", port=self._ports[router]),
            address=MANAGEMENT,
            tls=TlsOptions(),
            credentials=Credentials(),
        )
        client = open_client(place, "demo-brokers")
        try:
            return Node(client).query(f"{PREFIX}{kind}")
        finally:
            client.close()
