"""Thousands of edge routers at one interior router: how fast they come, what each takes, and whether all are reached.

The interior router is a process without Ray. The edges are connections of this process, which is slower than the
router: what the router itself takes is told by its CPU.
"""

import asyncio
import time

from bench.mesh.edge_crowd import EdgeCrowd
from bench.report import Row
from bench.router_process import RouterProcess

EDGES = 2_000
WARM = 100
"""Edges that come first, since what is made once is no part of what each takes."""
REST_S = 4.0
GONE_WITHIN_S = 60.0
KIB = 1024
MS_A_SECOND = 1000
FORM = "--in-process"
CONFIGURATION = """\
router {
    mode: interior
    id: Interior
}
listener {
    name: shared
    host: 127.0.0.1
    port: 0
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}
listener {
    name: edges
    role: edge
    host: 127.0.0.1
    port: 0
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}
log {
    module: DEFAULT
    enable: notice+
}
"""


def rows(count: int = EDGES) -> list[Row]:
    """Have `count` edges come, be reached and go."""
    with RouterProcess(FORM, configuration=CONFIGURATION) as router:
        return asyncio.run(_measured(router, count))


async def _measured(router: RouterProcess, count: int) -> list[Row]:
    crowd = EdgeCrowd(router.places["edges"])
    await crowd.join(WARM)
    memory, cpu_s = router.memory_bytes(), router.cpu_s()
    joined_s = await crowd.join(count - WARM)
    join_cpu_s = router.cpu_s() - cpu_s
    each = (router.memory_bytes() - memory) / (count - WARM)
    cpu_s = router.cpu_s()
    reached_s = await crowd.reach(router.place)
    reach_cpu_s = router.cpu_s() - cpu_s
    cpu_s = router.cpu_s()
    await crowd.rest(REST_S)
    rest_cpu_s = router.cpu_s() - cpu_s
    cpu_s = router.cpu_s()
    await crowd.leave()
    await asyncio.to_thread(_await_rest, router)
    leave_cpu_s = router.cpu_s() - cpu_s
    case = f"{count} edges"
    return [
        Row(f"{case}: come", (count - WARM) / joined_s, "a second"),
        Row(f"{case}: CPU for one that comes", join_cpu_s / (count - WARM) * MS_A_SECOND, "ms"),
        Row(f"{case}: memory for one", each / KIB, "KiB"),
        Row(f"{case}: a message to each", count / reached_s, "a second"),
        Row(f"{case}: CPU for a message to each", reach_cpu_s / count * MS_A_SECOND, "ms"),
        Row(f"{case}: CPU at rest", rest_cpu_s / REST_S * MS_A_SECOND, "ms a second"),
        Row(f"{case}: CPU for one that goes", leave_cpu_s / count * MS_A_SECOND, "ms"),
    ]


def _await_rest(router: RouterProcess) -> None:
    """Wait until the router has nothing to do any more."""
    give_up_at = time.monotonic() + GONE_WITHIN_S
    before = -1.0
    while (now := router.cpu_s()) > before + 0.02 and time.monotonic() < give_up_at:
        before = now
        time.sleep(0.5)
