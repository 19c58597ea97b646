"""What both runs have: routers, publishers and subscribers, and the account at the end."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.demo_exactly_once.account import account_of, is_attached, processed, written
from bench.demo_exactly_once.clients import PUBLISHER, START_WITHIN_S, SUBSCRIBER, WINDOW
from bench.demo_exactly_once.places import CLIENTS, TRUNKS, Place
from bench.demo_exactly_once.programs import Program
from bench.demo_mesh.parts import Router, await_that

ROUTERS = ("A", "B", "C")
PUBLISHERS, SUBSCRIBERS = 4, 6
ALL_WITHIN_S = 120.0
EXACTLY_ONCE, AT_LEAST_ONCE = "exactly-once", "at-least-once"
_CONFIGURATION = """\
router {{
    mode: interior
    id: {name}
    helloMaxAgeSeconds: 2
    topicGraceSeconds: {grace_s}
}}
listener {{
    host: {clients.host}
    port: {clients.port}
    authenticatePeer: no
    idleTimeoutSeconds: 2
}}
listener {{
    role: inter-router
    host: {trunks.host}
    port: {trunks.port}
    authenticatePeer: no
}}
address {{
    prefix: prices
    distribution: multicast
    delivery: {delivery}
}}
"""
_CONNECTOR = """\
connector {{
    role: inter-router
    host: {trunk.host}
    port: {trunk.port}
}}
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a run is set up."""

    form: tuple[str, ...]
    """Arguments of routers."""
    delivery: str = EXACTLY_ONCE
    grace_s: int = 5
    """How long all routers, if they all have died, wait for subscribers."""


class Stage:
    """Routers, each joined to the others, and clients with databases of their own."""

    def __init__(self, setting: Setting, place: Place, folder: Path, tell: Callable[[str], None]) -> None:
        self.setting = setting
        self.place = place
        self.tell = tell
        self.routers: dict[str, Router] = {}
        self.publishers: list[Program] = []
        self.subscribers: list[Program] = []
        self.losses = 0
        """How often a router, a client or a connection was lost."""
        self._folder = folder
        self._began = time.monotonic()

    def begin(self, at_exit: ExitStack) -> None:
        """Start everything."""
        for number, name in enumerate(ROUTERS):
            router = self.routers[name] = Router(name, self._text_of(number, name), self._folder, *self.setting.form)
            at_exit.callback(router.close)
        self.start(*ROUTERS)
        # A subscription that begins at a router that is alone is unknown to others that accept meanwhile.
        await_that(lambda: all(map(self._is_joined, ROUTERS)), "all routers reach each other", ALL_WITHIN_S)
        self.happens("all routers are joined")
        self._start_clients(at_exit)

    def _is_joined(self, name: str) -> bool:
        """Ask a router whether it reaches all others."""
        socket = self.place.socket(name, CLIENTS)
        command = [sys.executable, "-m", "routerd.cli.routermanage", "-b", f"{socket.host}:{socket.port}"]
        with self.place.at_clients():
            done = subprocess.run([*command, "query", "--type", "router.node"], capture_output=True, text=True)
        rows = json.loads(done.stdout or "[]")
        return {row["id"] for row in rows if row.get("cost") is not None} | {name} == set(ROUTERS)

    def _text_of(self, number: int, name: str) -> str:
        place, setting = self.place, self.setting
        text = _CONFIGURATION.format(
            name=name,
            clients=place.socket(name, CLIENTS),
            trunks=place.socket(name, TRUNKS),
            delivery=setting.delivery,
            grace_s=setting.grace_s,
        )
        return text + "".join(_CONNECTOR.format(trunk=place.socket(one, TRUNKS)) for one in ROUTERS[:number])

    def start(self, *names: str) -> None:
        """Start routers, and wait until they are ready."""
        self.launch(*names)
        for name in names:
            self.routers[name].wait(START_WITHIN_S)

    def launch(self, *names: str) -> None:
        """Start routers, and do not wait."""
        for name in names:
            with self.place.at_router(name):
                self.routers[name].start()

    def kill(self, *names: str) -> None:
        """Kill routers."""
        for name in names:
            self.losses += 1
            self.routers[name].kill()

    def kill_client(self, program: Program) -> None:
        """Kill a client."""
        self.losses += 1
        program.kill()

    def _start_clients(self, at_exit: ExitStack) -> None:
        urls = []
        for name in ROUTERS:
            socket = self.place.socket(name, CLIENTS)
            urls.append(f"amqp://{socket.host}:{socket.port}")
        for programs, kind, count in (
            (self.subscribers, SUBSCRIBER, SUBSCRIBERS),
            (self.publishers, PUBLISHER, PUBLISHERS),
        ):
            for number in range(count):
                program = Program(kind, number, self.setting.delivery, self._folder, self.place, urls)
                at_exit.callback(program.kill)
                programs.append(program)
        for program in self.subscribers:
            program.start()
        await_that(lambda: all(is_attached(one.database) for one in self.subscribers), "all subscribers are attached")
        for program in self.publishers:
            program.start()
        await_that(lambda: min(map(self._processed, self.subscribers)), "each subscriber has a message", ALL_WITHIN_S)

    @staticmethod
    def _processed(program: Program) -> int:
        return processed(program.database)

    # --- the account

    @property
    def twice_at_most(self) -> int:
        """How often a subscriber may have processed a message again.

        With each loss, what publishers had undecided may be sent again, and what subscribers had undecided comes again.
        """
        if self.setting.delivery == EXACTLY_ONCE:
            return 0
        return self.losses * PUBLISHERS * 2 * WINDOW

    def end(self) -> bool:
        """Have all clients end, and tell the account; return whether it is clean."""
        self.happens("the publishers stop, and wait for their outcomes")
        for program in self.publishers:
            program.stop()
        for program in self.publishers:
            program.wait()
        all_written = {program.name: written(program.database) for program in self.publishers}
        count = sum(all_written.values())
        await_that(
            lambda: min(map(self._processed, self.subscribers)) >= count,
            "all subscribers have processed everything",
            ALL_WITHIN_S,
        )
        for program in self.subscribers:
            program.stop()
        for program in self.subscribers:
            program.wait()
        accounts = [account_of(program.name, program.database, all_written) for program in self.subscribers]
        for one in accounts:
            self.tell(
                f"   {one.subscriber}: {one.processed} processed, {one.missing} missing, {one.twice} twice, "
                f"{one.disordered} out of order"
            )
        is_clean = count > 0 and all(one.is_clean(self.twice_at_most) for one in accounts)
        self.tell(f"{self._verdict(is_clean)}: {count} messages of {len(all_written)} publishers.")
        return is_clean

    def _verdict(self, is_clean: bool) -> str:
        if not is_clean:
            return "NOT ALL IS WELL"
        if self.setting.delivery == EXACTLY_ONCE:
            return "Every message was processed once by each subscriber"
        return f"Every message was processed by each subscriber, at most {self.twice_at_most} again"

    # --- how it is told

    def happens(self, what: str) -> None:
        """Say what happens."""
        self.tell(f"{time.monotonic() - self._began:6.1f} s  {what}")

    def tell_processed(self) -> None:
        """Say how far the subscribers are."""
        self.tell(f"   processed: {', '.join(str(self._processed(program)) for program in self.subscribers)}")
