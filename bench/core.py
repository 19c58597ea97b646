"""The forwarding core alone: a router between clients in one process, only the router's share of the time counted.

The build trains the compiled modules with these runs as well (`compiling/shared_object.py`). Code that they do not run
is compiled to be small instead of fast.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench.exchanges import exchanging
from bench.memory import BODY, CREDIT, Pair, Routers, Time, TwoRouters, Workers, single_router
from bench.report import Row
from routerd.core import Gate, GroupSettings, Observer, PolicySettings, Recorder, VhostSettings
from routerd.io.recording.groups import Decisions
from routerd.io.scheduling.busy_poll import BusyPoll
from routerd.io.sockets.worker_turn import Pipe, Turn

REPETITIONS = 5
MESSAGES = 50_000
LARGE_BODY = b"\x00\x53\x75\xb0\x00\x01\x00\x00" + bytes(64 * 1024)
LARGE_MESSAGES = 500
LARGE_BURST = 4
"""As many as a router reads at once."""
COPIES = 10
SHARERS = 4
"""Producers, and consumers, of an address that several share."""
ATTACHED = 1000
TURNS = 20_000
EVERY = 100
WRITTEN = 30_000
"""Decisions that are written at a time."""
SECOND_US = 1_000_000


def forwarding(
    routers: Routers,
    address: str,
    *,
    settled: bool = False,
    consumers: int = 1,
    body: bytes = BODY,
    messages: int = MESSAGES,
    capacity: int = 0,
    burst: int = MESSAGES,
    kept: list[Decisions] | None = None,
) -> float:
    """Return the seconds that the routers take for a delivery from a client of the first to one of the last.

    With a capacity as large as the credit of consumers, producers are ahead of them, and messages wait in workers.
    No more than a burst comes at a time. The recorded rows go to `kept`.
    """
    for _ in range(consumers):
        routers.pair(len(routers.routers) - 1).consumer(address)
    routers.settle_down()
    sender = routers.pair(capacity=capacity).producer(address)
    routers.settle_down()
    return _time_a_message(routers, [sender], messages // consumers, body, settled, burst, kept) / consumers


def sharing(routers: Routers, *, settled: bool = False) -> float:
    """Return the seconds of the routers a message, from several clients of the first to several of the last."""
    for _ in range(SHARERS):
        routers.pair(len(routers.routers) - 1).consumer("q")
    routers.settle_down()
    senders = [routers.pair().producer("q") for _ in range(SHARERS)]
    routers.settle_down()
    return _time_a_message(routers, senders, MESSAGES, BODY, settled, MESSAGES, None)


def _time_a_message(
    routers: Routers,
    senders: Sequence[Any],
    messages: int,
    body: bytes,
    settled: bool,
    burst: int,
    kept: list[Decisions] | None,
) -> float:
    spent = []
    for _ in range(REPETITIONS):
        Time.spent_s = 0.0
        sent = 0
        while sent < messages:
            for sender in senders:
                end = sent + burst
                while sent < end and sender.credit > 0 and not sender.session.has_backlog:
                    sender.send(body, None, settled)
                    sent += 1
            routers.settle_down()
        spent.append(Time.spent_s / sent)
        _end_second(routers, kept)
    return statistics.median(spent)


def _end_second(routers: Routers, kept: list[Decisions] | None) -> None:
    """Take what was recorded, as the shell does each second."""
    for router in routers.routers:
        if router.journal.recorder is not None:
            router.journal.recorder.tick(router.now, time.time(), SECOND_US)
            taken = router.journal.recorder.take()
            if kept is not None:
                kept += [Decisions(columns, router.router_id, taken.weight) for columns in taken.decisions]


def recording(every: int, routers: Routers) -> Routers:
    """Have routers record every so manieth decision."""
    for router in routers.routers:
        router.journal.recorder = Recorder(router.router_id, every, time.time())
    return routers


def writing(consumers: int = 1) -> float:
    """Return the seconds that the writer of records takes for a decision with `consumers` candidates."""
    routers = single_router()
    router = routers.routers[0]
    router.journal.recorder = Recorder(router.router_id, 1, time.time(), rows=WRITTEN)
    kept: list[Decisions] = []
    forwarding(routers, "q", consumers=consumers, messages=WRITTEN, kept=kept)
    # The first call of all looks for a library.
    kept[0].pages()
    begun = time.perf_counter()
    pages = [page for decisions in kept for page in decisions.pages().values()]
    octets = sum(len(page.body) for page in pages)
    spent_s = time.perf_counter() - begun
    assert octets
    return spent_s / sum(decisions.rows for decisions in kept)


def guarded() -> float:
    """Return the router's seconds a message whose user-id is looked at."""
    routers = single_router()
    router = routers.routers[0]
    group = GroupSettings(name="g", users=("*",), from_any_host=True, sources=("*",), targets=("*",))
    vhost = VhostSettings(hostname="$default", groups=(group,))
    router.policy.gate = Gate(PolicySettings(is_enforced=True), [vhost], Observer(), router.connections.go_on)
    return forwarding(routers, "q")


def attaching(links: int = ATTACHED) -> float:
    """Return the router's seconds a receiver attached and detached."""
    routers = single_router()
    pair: Pair = routers.pair()
    spent = []
    for _ in range(REPETITIONS):
        Time.spent_s = 0.0
        receivers = [pair.consumer(f"q.{number}", f"r{number}", credit=0) for number in range(links)]
        routers.settle_down()
        for receiver in receivers:
            receiver.detach()
        routers.settle_down()
        spent.append(Time.spent_s / links)
    return statistics.median(spent)


class Worker:
    """A worker that does nothing but turns, and the socket of its only connection."""

    def __init__(self) -> None:
        self.ready: list[Callable[[], None]] = []

    def look_at(self, pipe: Any, was_open: bool, now: float) -> None:
        """Do nothing: its connection was open before."""

    def conclude(self, now: float) -> None:
        """Do nothing: there is nobody to tell."""

    def write(self, octets: bytes) -> None:
        """Forget what is written."""

    def is_closing(self) -> bool:
        """Return that it stays open."""
        return False

    def pause_reading(self) -> None:
        """Do nothing: what is read comes when this benchmark says."""

    resume_reading = pause_reading

    def go_round(self) -> None:
        """Do what is to be done soon."""
        ready, self.ready[:] = list(self.ready), []
        for call in ready:
            call()


def turning(turns: int = TURNS) -> float:
    """Return the seconds of a turn of a worker's loop that takes a flow and answers it: of all that is not messages."""
    [router] = single_router().routers
    pair = Pair(router)
    worker: Any = Worker()
    turn = Turn(worker, router, worker.ready.append, BusyPoll(worker.ready.append))
    peer = pair.server.context
    peer.shell = pipe = Pipe(turn, peer, pair.server)
    pipe.socket = worker
    pair.session.send_flow(None, True)
    octets = pair.client.data_to_send(0.0)
    spent = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        for _ in range(turns):
            pipe.get_buffer(-1)[: len(octets)] = octets
            pipe.buffer_updated(len(octets))
            worker.go_round()
        spent.append((time.perf_counter() - start) / turns)
    return statistics.median(spent)


def run() -> list[Row]:
    """Run every case."""
    many = f"{SHARERS} to {SHARERS}"
    copies = forwarding(single_router(), "copies/q", consumers=COPIES)
    large = forwarding(single_router(), "q", body=LARGE_BODY, messages=LARGE_MESSAGES, burst=LARGE_BURST)
    return [
        Row("router's time a message, unsettled", 1e9 * forwarding(single_router(), "q"), "ns"),
        Row("router's time a message, pre-settled", 1e9 * forwarding(single_router(), "q", settled=True), "ns"),
        Row(f"router's time a copy, multicast to {COPIES}", 1e9 * copies, "ns"),
        Row("router's time a message of 64 KiB", 1e6 * large, "us"),
        Row("two workers' time a message, unsettled", 1e9 * forwarding(Workers(), "q"), "ns"),
        Row("two workers' time a message that waits", 1e9 * forwarding(Workers(), "q", capacity=CREDIT), "ns"),
        Row("two workers' time a message, pre-settled", 1e9 * forwarding(Workers(), "q", settled=True), "ns"),
        Row("two routers' time a message, unsettled", 1e9 * forwarding(TwoRouters("q"), "q"), "ns"),
        Row("two routers' time a message, pre-settled", 1e9 * forwarding(TwoRouters("q"), "q", settled=True), "ns"),
        Row(f"router's time a message, {many}", 1e9 * sharing(single_router()), "ns"),
        Row(f"router's time a message, {many}, pre-settled", 1e9 * sharing(single_router(), settled=True), "ns"),
        Row(f"router's time a message, {many}, each recorded", 1e9 * sharing(recording(1, single_router())), "ns"),
        Row(f"two routers' time a message, {many}", 1e9 * sharing(TwoRouters("q")), "ns"),
        Row("two routers' time a message, each recorded", 1e9 * forwarding(recording(1, TwoRouters("q")), "q"), "ns"),
        Row("router's time a message, sampled", 1e9 * forwarding(recording(EVERY, single_router()), "q"), "ns"),
        Row("router's time a message, each recorded", 1e9 * forwarding(recording(1, single_router()), "q"), "ns"),
        Row("writer's time a decision, 1 candidate", 1e9 * writing(), "ns"),
        Row("writer's time a decision, 4 candidates", 1e9 * writing(4), "ns"),
        Row("router's time a message whose user-id is looked at", 1e9 * guarded(), "ns"),
        Row("router's time a message through an exchange", 1e6 * exchanging(settled=False), "us"),
        Row("router's time a link attached and detached", 1e6 * attaching(), "us"),
        Row("router's time a turn of its loop", 1e6 * turning(), "us"),
    ]
