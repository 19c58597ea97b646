"""Stalls: how long a request and its response take while a connection beside them does what costs a router most."""

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from bench.hostility import ATTACH, FLOW, KINDS, PATIENCE_S, TRANSFER, Failed, Peer, consumer, flow, producer, transfer
from bench.life import ONE_ACTOR
from bench.load_runs import LoadFailed
from bench.report import Row
from bench.router_process import RouterProcess

SECONDS = 5.0
RATE = 100
"""Requests a second; each is timed from when it was due, so that a stall counts for all that it holds up."""
P99_MS, WORST_MS = 100, 300
FORMS = {"in-process": ("--in-process",), "ray": ONE_ACTOR}
REQUESTS, RESPONSES = "stalls.requests", "stalls.responses"
CREDIT = 1_000_000


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench stalls", description=__doc__)
    parser.add_argument("--case", action="append", choices=KINDS, help="only this one; may be given again")
    parser.add_argument("--form", action="append", choices=FORMS, help="only a router of this form")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each case; %(default)g")
    parser.add_argument("--connect", metavar="HOST:PORT", help="a router that runs already, of whatever make")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    cases = options.case or list(KINDS)
    if options.connect:
        return [row for case in cases for row in _rows(options.connect, "there", case, options.seconds)]
    rows = []
    for form in options.form or FORMS:
        with RouterProcess(*FORMS[form]) as router:
            rows += [row for case in cases for row in _rows(router.place, form, case, options.seconds)]
    return rows


@contextmanager
def hostility(kind: str, place: str, seconds: float) -> Iterator[None]:
    """Have a hostile peer beside, which is told to end in time and ended if it does not."""
    command = [sys.executable, "-m", "bench.hostility", kind, place, str(seconds)]
    peer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield
        done, complaint = peer.communicate(timeout=2 * PATIENCE_S)
    except subprocess.TimeoutExpired as error:
        raise LoadFailed(f"the hostile peer did not end within {2 * PATIENCE_S:g} s") from error
    finally:
        peer.kill()
        peer.communicate()
    if peer.returncode:
        raise LoadFailed(f"the hostile peer could not go on: {complaint.strip()}")
    print(f"{kind}: {done.strip()} times", file=sys.stderr)


def round_trips_ms(place: str, seconds: float, rate: int = RATE) -> list[float]:
    """Send `rate` requests a second from one connection to another; return the times until their responses."""
    with Peer(place) as asking, Peer(place) as answering:
        for peer, receives, sends in ((answering, REQUESTS, RESPONSES), (asking, RESPONSES, REQUESTS)):
            peer.send(consumer(0, receives) + flow(0, CREDIT) + producer(1, sends))
            peer.wait(ATTACH, 2)
        for peer in (asking, answering):
            peer.wait(FLOW)
        count = round(seconds * rate)
        arrivals: list[float] = []
        responding = threading.Thread(target=_respond, args=(answering, count), daemon=True)
        listening = threading.Thread(target=_listen, args=(asking, count, arrivals), daemon=True)
        responding.start()
        listening.start()
        begun = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, begun + number / rate - time.monotonic()))
            asking.send(transfer(1, number, settled=True))
        listening.join(PATIENCE_S)
        if len(arrivals) < count:
            raise Failed(f"{len(arrivals)} of {count} requests were answered")
        return [(at - begun - number / rate) * 1000 for number, at in enumerate(arrivals)]


def _respond(peer: Peer, count: int) -> None:
    with suppress(Failed):
        for number in range(count):
            peer.wait(TRANSFER)
            peer.send(transfer(1, number, settled=True))


def _listen(peer: Peer, count: int, arrivals: list[float]) -> None:
    with suppress(Failed):
        for _ in range(count):
            peer.wait(TRANSFER)
            arrivals.append(time.monotonic())


def _rows(place: str, form: str, case: str, seconds: float) -> list[Row]:
    try:
        with hostility(case, place, seconds + 1.0):
            times = sorted(round_trips_ms(place, seconds))
    except (LoadFailed, Failed) as error:
        # The other cases are worth having all the same.
        print(f"{form}, {case}: {error}", file=sys.stderr)
        return []
    p50, p99 = (times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    return [
        Row(f"{form}, {case}: p50", p50, "ms"),
        Row(f"{form}, {case}: p99", p99, "ms", P99_MS, at_most=True),
        Row(f"{form}, {case}: worst", times[-1], "ms", WORST_MS, at_most=True),
    ]
