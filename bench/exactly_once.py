"""Topics: messages to three subscribers against those of a multicast address, and what topics cost beside.

The clients of the rates are plain ones. So each message passes the protocol as for clients with unsettled maps, less
what these settle second. Rates at one router are those of a lone one, which waits for no other router.
"""

import statistics
from contextlib import ExitStack

from bench.free_ports import free_ports
from bench.life import ONE_ACTOR
from bench.load_runs import routerbench
from bench.report import Row
from bench.router_process import RouterProcess
from bench.topic_memory import SUBSCRIPTIONS, record_octets, subscription_octets
from bench.topic_rounds import failover_s, second_round_ms

SUBSCRIBERS = 3
SECONDS = "3"
REPETITIONS = 3
LEAST = 60_000
RATE = "messages/s"
_ROUTER = """\
router {{
    mode: {mode}
    id: {name}
    topicGraceSeconds: 0
}}
listener {{
    name: shared
    host: 127.0.0.1
    port: 0
    linkCapacity: 1000
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}}
address {{
    prefix: multicast
    distribution: multicast
}}
address {{
    prefix: topics
    distribution: multicast
    delivery: exactly-once
}}
"""
_TRUNKS = """\
listener {{
    name: trunk
    role: inter-router
    host: 127.0.0.1
    port: {port}
    authenticatePeer: no
}}
"""
_CONNECTOR = """\
connector {{
    role: inter-router
    host: 127.0.0.1
    port: {port}
}}
"""


def run() -> list[Row]:
    """Measure all of it."""
    with RouterProcess(*ONE_ACTOR, configuration=_ROUTER.format(mode="standalone", name="A")) as router:
        place = router.place
        _rate(place, place, "topics.first")
        plain = _median(place, place, "multicast.bench")
        here = _median(place, place, "topics.bench")
    with ExitStack() as at_exit:
        places = [router.place for router in _three_routers(at_exit, *ONE_ACTOR)]
        # The first run waits for the grace; it does not count.
        _rate(places[0], places[2], "topics.first")
        there = _median(places[0], places[2], "topics.there")
    with ExitStack() as at_exit:
        routers = _three_routers(at_exit, "--in-process")
        round_ms = second_round_ms(routers[0].place, routers[2].place)
        away_s = failover_s(routers)
    return [
        Row("multicast, 1 to 3", plain, RATE),
        Row("exactly-once, 1 to 3", here, RATE, LEAST),
        Row("exactly-once, 1 to 3: ratio", here / plain, "of multicast", 0.25),
        Row("exactly-once, 1 to 3 over three routers", there, RATE),
        Row("exactly-once, 1 to 3 over three routers: ratio", there / here, "of a lone router", 0.5),
        Row("added by the second round over three routers, median", round_ms, "ms", 1, at_most=True),
        Row("1,000 subscribers get on after a router is killed", away_s, "s", 5, at_most=True),
        Row("a delivery held for three subscribers, without its message", record_octets(), "octets", 300, at_most=True),
        Row(
            f"a subscription of {SUBSCRIPTIONS:,} that a router knows, without names",
            *(subscription_octets(), "octets", 100),
            at_most=True,
        ),
    ]


def _three_routers(at_exit: ExitStack, *form: str) -> list[RouterProcess]:
    routers = []
    ports = free_ports(3)
    for number, port in enumerate(ports):
        text = _ROUTER.format(mode="interior", name="ABC"[number]) + _TRUNKS.format(port=port)
        if number:
            text += _CONNECTOR.format(port=ports[number - 1])
        routers.append(at_exit.enter_context(RouterProcess(*form, configuration=text)))
    return routers


def _median(send_at: str, receive_at: str, address: str) -> float:
    return statistics.median(_rate(send_at, receive_at, address) for _ in range(REPETITIONS))


def _rate(send_at: str, receive_at: str, address: str) -> float:
    """Return the messages that were published a second; each was received by all subscribers."""
    load = ["--senders", "1", "--receivers", str(SUBSCRIBERS), "--multicast", "--address", address]
    figures = routerbench(send_at, *load, "--receive-at", receive_at, "--seconds", SECONDS, "--patience", "30")
    return float(figures["received_per_s"]) / SUBSCRIBERS
