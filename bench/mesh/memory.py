"""What it costs a router to know the addresses of others: the routing engine, a worker, and both in one process.

Each is measured in a separate process. Its memory is compared before it knows the addresses, and after it has freed
everything else. The addresses come as octets from neighbours. The worker's news come as another process would get them.
"""

import ctypes
import gc
import multiprocessing
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.load_runs import LoadFailed
from bench.report import Row
from routerd.core import ControlArrived, Network, NetworkNews, RouterSettings, TrunkOpened
from routerd.io.routing.control_messages import encoded
from routerd.io.routing.host import RoutingHost
from routerd.mesh import ControlMessage, Hello, MobileAddressUpdate

ADDRESSES = 100_000
SPREADS = {1: "all at one router", 10: "at ten routers"}
KEY = "M0orders.{:06}"
CLOSEST = 2
_KIB = 1024

Hold = Callable[[int, int], Any]
"""Makes what knows the addresses of so many routers, so many in all."""


def rows(count: int = ADDRESSES) -> list[Row]:
    """Measure each, with all addresses at one router and at ten."""
    return [
        Row(f"remote address in {name}, {at}", bytes_each(hold, routers, count), "bytes", 300, at_most=True)
        for routers, at in SPREADS.items()
        for name, hold in HOLDERS.items()
    ]


def bytes_each(hold: Hold, routers: int, count: int) -> float:
    """Return what one address takes."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_growth, (hold, routers, count)) / count


def engine(routers: int, count: int) -> RoutingHost:
    """Return a routing engine that knows the addresses, and has told of them."""
    host, _ = told(routers, count)
    return host


def worker(routers: int, count: int) -> Network:
    """Return the network as a worker in another process knows it."""
    network = Network()
    for news in pickle.loads(pickle.dumps(told(routers, count)[1])):
        network.apply(news)
    return network


def both(routers: int, count: int) -> tuple[RoutingHost, Network]:
    """Return engine and worker of a router in one process."""
    host, all_news = told(routers, count)
    network = Network()
    for news in all_news:
        network.apply(news)
    return host, network


HOLDERS: dict[str, Hold] = {"the routing engine": engine, "a worker": worker, "one process with both": both}


def told(routers: int, count: int) -> tuple[RoutingHost, list[NetworkNews]]:
    """Return a routing engine that neighbours have told of the addresses, and what it has told workers."""
    host = RoutingHost(RouterSettings(id="bench"), epoch=1, instance=1, now=0.0, wall_clock=0.0)
    news = []
    for trunk in range(1, routers + 1):
        events: list[TrunkOpened | ControlArrived] = [TrunkOpened(trunk, 1)]
        events += (ControlArrived(trunk, octets) for octets in tales(trunk, count // routers))
        host.take_events(events, 0.0)
        outputs = host.outputs(0.0)
        if outputs.news is not None:
            news.append(outputs.news)
    known = sum(len(mapped.added) for one in news for mapped in one.mapped)
    if known != count:
        raise LoadFailed(f"{known} of {count} addresses are known")
    return host, news


def tales(number: int, count: int) -> list[bytes]:
    """Return what a neighbour says: who it is, and what addresses it has."""
    id = f"router.{number}"
    keys = tuple(KEY.format(at) for at in range((number - 1) * count, number * count))
    hello = Hello(id, 1, ("bench",))
    update = MobileAddressUpdate(id, 1, exist=keys, hints=(CLOSEST,) * count)
    return [
        encoded(ControlMessage(to, said.OPCODE, said.to_body(), f"0/{id}", (f"0/{id}",)))
        for to, said in (("amqp:/_local/qdhello", hello), ("amqp:/_topo/0/bench/qdrouter.ma", update))
    ]


def _growth(hold: Hold, routers: int, count: int) -> int:
    # What is made once, by the first of its kind, is no part of it.
    hold(1, 1)
    before = _own_memory()
    held = hold(routers, count)
    after = _own_memory()
    del held
    return after - before


def _own_memory() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return sum(int(number) for number in re.findall(r"^Private_\w+:\s+(\d+) kB", rollup, re.M)) * _KIB
