"""Routed links and auto-links: what they cost against client to container, and how soon they are there.

Sender, container and routers have processes of their own; the container is routerbench, which takes any link. Each
repetition measures directly and through the routers, one after the other. RabbitMQ takes part where it is installed.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.demo_mesh.endpoint import Endpoint
from bench.load_runs import LoadFailed, routerbench
from bench.mesh.line import CONFIGURATION, CONNECTOR, FORM
from bench.rabbitmq import RabbitMq, absence
from bench.report import Row
from bench.router import QUICK, THOROUGH, Effort, ratio_rows
from bench.router_process import RouterProcess
from routerd.cli.manage.bus import Bus
from routerd.cli.manage.connecting import Place, open_client
from routerd.cli.manage.credentials import Credentials
from routerd.cli.manage.node import MANAGEMENT, PREFIX, Node
from routerd.cli.manage.stream import TlsOptions
from routerd.wire import Attach, Begin, Link, LinkState, Session, SessionState, Source

ATTACHES = 1000
CONNECTIONS = 10
AUTO_LINKS = 10_000
MESSAGES = 20_000
"""Through a queue of RabbitMQ."""
WITHIN_S = 30.0
_POLL_S = 0.02
_CONTAINER = """\
connector {{
    name: broker
    role: route-container
    host: 127.0.0.1
    port: {port}
    linkCapacity: 1000
}}
"""
_LINK_ROUTES = """\
linkRoute {
    prefix: routed
    direction: in
    connection: broker
}
linkRoute {
    prefix: routed
    direction: out
    connection: broker
}
"""
_WAYPOINT = """\
address {
    prefix: queue
    waypoint: yes
}
autoLink {
    address: queue
    direction: out
    connection: broker
    externalAddress: /queue/bench
}
autoLink {
    address: queue
    direction: in
    connection: broker
    externalAddress: /queue/bench
}
"""
_CONTAINERS = """\
listener {
    name: containers
    role: route-container
    host: 127.0.0.1
    port: 0
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
    maxLinks: 20000
}
"""
_AUTO_LINK = """\
autoLink {{
    address: q.{number}
    direction: {direction}
    containerId: broker
}}
"""


class NotThere(Exception):
    """A container, or what leads to it, was not ready in time."""


def routed(effort: Effort) -> list[Row]:
    """One sender to a container, unsettled, over one router and over two."""
    rows = []
    for count, target in ((1, 0.45), (2, 0.3)):
        with _container() as port, _line(count, _CONTAINER.format(port=port) + _LINK_ROUTES) as routers:
            rates, cpu_us = [], []
            for _ in range(effort.repetitions):
                directly = routerbench(None, "--credit", "1000", *effort.span)
                before_s = sum(router.cpu_s() for router in routers)
                through = _sending(routers[0].place, effort)
                used_s = sum(router.cpu_s() for router in routers) - before_s
                cpu_us.append(used_s / (through["sent"] + through["warmup"]["sent"]) * 1e6)
                rates.append((directly["settled_per_s"], through["settled_per_s"]))
        case = f"routed link, {count} router{'s' if count > 1 else ''}"
        rows += ratio_rows(case, target, rates)
        rows.append(Row(f"{case}: CPU of the routers", statistics.median(cpu_us), "us a message"))
    return rows


def attaches(effort: Effort) -> list[Row]:
    """Attaches over one router to a container: how long one takes, and how many are answered in a second."""
    with _container() as port, _line(1, _CONTAINER.format(port=port) + _LINK_ROUTES) as [router]:
        client = _Attaching(int(router.place.rpartition(":")[2]))
        times = [client.attach(number) for number in range(ATTACHES)]
        client.close()
        arguments = ["--attach", "--connections", str(CONNECTIONS), "--links", str(effort.links)]
        arguments += ["--patience", "60", "--address", "routed.{}"]
        rates = [routerbench(router.place, *arguments)["attached_per_s"] for _ in range(effort.repetitions)]
    return [
        Row("routed attach to attached", statistics.median(times) * 1e3, "ms", 1, at_most=True),
        Row("routed attaches", statistics.median(rates), "attaches/s", 3000),
    ]


def rabbitmq(effort: Effort) -> list[Row]:
    """A queue of RabbitMQ by auto-links, against clients at RabbitMQ."""
    if (reason := absence()) is not None:
        print(f"rabbitmq: {reason}", file=sys.stderr)
        return []
    with RabbitMq() as broker, _line(1, _CONTAINER.format(port=broker.port) + _WAYPOINT) as [router]:
        rates = []
        for _ in range(effort.repetitions):
            place = f"127.0.0.1:{broker.port}"
            # By a number, not by time: it gives so much credit that all would be sent before anything is measured.
            directly = routerbench(place, "--address", "/queue/direct", "--count", str(MESSAGES))
            through = routerbench(router.place, "--address", "queue", "--count", str(MESSAGES))
            rates.append((directly["received_per_s"], through["received_per_s"]))
    return ratio_rows("queue of RabbitMQ by auto-links", 0.9, rates)


def many_auto_links(_effort: Effort) -> list[Row]:
    """How soon very many auto-links are active once their container is connected."""
    directions = ("in", "out")
    links = "".join(_AUTO_LINK.format(number=n // 2, direction=directions[n % 2]) for n in range(AUTO_LINKS))
    with RouterProcess(FORM, configuration=CONFIGURATION.format(id="Links") + _CONTAINERS + links) as router:
        begun = time.monotonic()
        container = _Container(int(router.places["containers"].rpartition(":")[2]))
        while container.answered < AUTO_LINKS:
            container.turn(1.0)
            if time.monotonic() > begun + WITHIN_S:
                raise NotThere(f"{container.answered} of {AUTO_LINKS} auto-links were attached")
        spent_s = time.monotonic() - begun
        states = [one["operStatus"] for one in _query(router.place, "router.config.autoLink", ["operStatus"])]
        container.close()
    if states.count("active") != AUTO_LINKS:
        raise NotThere(f"{states.count('active')} of {AUTO_LINKS} auto-links are active")
    return [Row(f"{AUTO_LINKS} auto-links active", spent_s, "s", 5, at_most=True)]


CASES: dict[str, Callable[[Effort], list[Row]]] = {
    "routed": routed,
    "attaches": attaches,
    "rabbitmq": rabbitmq,
    "auto-links": many_auto_links,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench brokers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition, for development")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    effort = QUICK if options.quick else THOROUGH
    rows = []
    for case in options.case or CASES:
        try:
            rows += CASES[case](effort)
        except (LoadFailed, NotThere) as error:
            # The other cases are worth having all the same.
            print(f"{case}: {error}", file=sys.stderr)
    return rows


def _sending(place: str, effort: Effort) -> dict[str, Any]:
    return routerbench(place, "--senders", "1", "--receivers", "0", "--address", "routed.bench", *effort.span)


@contextmanager
def _container() -> Iterator[int]:
    """Run routerbench as a container, and tell at which port."""
    command = [sys.executable, "-m", "routerd.cli.routerbench", "--listen", "127.0.0.1:0", "--seconds", "3600"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        yield int(line.split()[-1].rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def _line(count: int, sections: str) -> Iterator[list[RouterProcess]]:
    """Start routers in a line, the last one with these sections, and wait until all is there."""
    with ExitStack() as started:
        routers: list[RouterProcess] = []
        for number in range(count, 0, -1):
            text = CONFIGURATION.format(id=f"R{number}") + (sections if number == count else "")
            if routers:
                host, _, port = routers[0].places["trunks"].rpartition(":")
                text += CONNECTOR.format(host=host, port=port)
            routers.insert(0, started.enter_context(RouterProcess(FORM, configuration=text)))
        give_up_at = time.monotonic() + WITHIN_S
        while not _is_ready(routers):
            if time.monotonic() > give_up_at:
                raise NotThere("the container was not connected")
            time.sleep(_POLL_S)
        yield routers


def _is_ready(routers: list[RouterProcess]) -> bool:
    last = routers[-1].place
    uses = [*_query(last, "router.config.linkRoute"), *_query(last, "router.config.autoLink")]
    if {one["operStatus"] for one in uses} != {"active"}:
        return False
    keys = {one["key"] for one in _query(routers[0].place, "router.address")}
    return len(routers) == 1 or {"Crouted", "Drouted"} <= keys


def _query(place: str, kind: str, attributes: Sequence[str] = ()) -> list[Mapping[str, Any]]:
    host, _, port = place.rpartition(":")
    bus = Bus(host=host, port=int(port))
    client = open_client(
        Place(bus=bus, address=MANAGEMENT, tls=TlsOptions(), credentials=Credentials()), "bench-brokers"
    )
    try:
        return Node(client).query(f"{PREFIX}{kind}", attributes)
    finally:
        client.close()


class _Attaching(Endpoint):
    """Attaches one receiver after the other."""

    def __init__(self, port: int) -> None:
        super().__init__(port, "attaching")

    def attach(self, number: int) -> float:
        """Return how long the answer takes."""
        begun = time.monotonic()
        link = self.receiver(Source(address=f"routed.{number}"), 0)
        while not link.is_attached:
            self.turn(1.0)
        return time.monotonic() - begun


class _Container(Endpoint):
    """Answers every link."""

    def __init__(self, port: int) -> None:
        self.answered = 0
        super().__init__(port, "broker")

    def on_session_begun(self, session: Session, performative: Begin) -> None:
        """Answer a session of the router."""
        if session.state is SessionState.BEGIN_RCVD:
            session.begin()

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Answer a link of the router."""
        if link.state is LinkState.ATTACH_RCVD:
            link.attach(source=performative.source, target=performative.target)
            self.answered += 1
