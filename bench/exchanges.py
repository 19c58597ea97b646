"""Exchanges: how many messages a second find their bindings among many, and a router's time for one."""

import random
import statistics
import time
from typing import Any

from bench.memory import Time, single_router
from bench.report import Row
from routerd.core import BindingSettings, Exchange, Exchanges, ExchangeSettings, MatchMethod
from routerd.wire import Data, Message, Properties

BINDINGS = 1000
SUBJECTS = 2000
"""More than any exchange has at once; each is matched several times."""
ROUNDS = 20
REPETITIONS = 5
MESSAGES = 10_000
HOPS = 2
RATE = "messages/s"
TARGET = 200_000

_SERVICES = ("compute", "conductor", "scheduler", "network", "volume", "image", "metering", "identity")
_LEVELS = ("info", "warn", "error", "critical", "debug")


def many_bindings(count: int = BINDINGS) -> list[BindingSettings]:
    """Return bindings as of a large site: most are of one host, some of many."""
    keys = [f"{service}.#" for service in _SERVICES]
    keys += [f"*.*.{level}" for level in _LEVELS]
    keys += [f"#.{level}.{service}.*" for level in _LEVELS for service in _SERVICES]
    number = 0
    while len(keys) < count:
        service = _SERVICES[number % len(_SERVICES)]
        keys.append(f"{service}.host{number}.{_LEVELS[number % 3]}" if number % 4 else f"{service}.host{number}.#")
        number += 1
    return [
        BindingSettings(name=f"b{at}", exchange="e", key=key, next_hop=f"q.{at}") for at, key in enumerate(keys[:count])
    ]


def exchange_of(bindings: list[BindingSettings]) -> Exchange:
    """Return an exchange that nothing is sent to."""
    settings = ExchangeSettings(name="e", address="topic", method=MatchMethod.AMQP)
    exchange = Exchange(settings, lambda address, phase: f"M{phase}{address}")
    for one in bindings:
        exchange.bind(one)
    return exchange


def subjects(count: int = SUBJECTS) -> list[str]:
    """Return the subjects of messages of many hosts."""
    chance = random.Random(5)
    hosts = BINDINGS
    return [
        f"{chance.choice(_SERVICES)}.host{chance.randrange(hosts)}.{chance.choice(_LEVELS)}" for _ in range(count)
    ]


def matching(*, is_new: bool) -> float:
    """Return how many subjects a second find their bindings; new ones have not been seen before."""
    bindings = many_bindings()
    exchange = exchange_of(bindings)
    given = subjects()
    rates = []
    for repetition in range(REPETITIONS):
        rounds = [_renamed(given, f"{repetition}-{at}") if is_new else given for at in range(ROUNDS)]
        match = exchange.match
        begun = time.perf_counter()
        for some in rounds:
            for subject in some:
                match(subject)
        rates.append(ROUNDS * len(given) / (time.perf_counter() - begun))
    return statistics.median(rates)


def _renamed(given: list[str], suffix: str) -> list[str]:
    """Return the same subjects of other hosts."""
    words = [subject.split(".") for subject in given]
    return [f"{service}.{host}-{suffix}.{level}" for service, host, level in words]


class _LoopLine:
    """The connection of an exchange, as one of the lines that octets are carried on."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    def carry(self) -> bool:
        """Carry what there is; all of it is the router's work."""
        begun = Time.clock()
        has_moved: bool = self._loop.carry(0.0)
        Time.spent_s += Time.clock() - begun
        return has_moved


def exchanging(*, settled: bool, messages: int = MESSAGES) -> float:
    """Return the router's seconds for a message that an exchange of many bindings sends to several next hops."""
    routers = single_router()
    exchanges = Exchanges(routers.routers[0])
    exchanges.add(ExchangeSettings(name="e", address="topic"), True)
    for one in many_bindings():
        exchanges.bind(one)
    for hop in range(HOPS):
        exchanges.bind(BindingSettings(name=f"h{hop}", exchange="e", key="bench.#", next_hop=f"hop{hop}"))
    lines: list[Any] = routers.lines
    lines += map(_LoopLine, exchanges.loops)
    routers.settle_down()
    for hop in range(HOPS):
        routers.pair().consumer(f"hop{hop}")
    sender = routers.pair().producer("topic")
    routers.settle_down()
    body = Message(properties=Properties(subject="bench.host.info"), body=Data([b"x" * 100])).encode()
    spent = []
    for _ in range(REPETITIONS):
        Time.spent_s = 0.0
        sent = 0
        while sent < messages:
            while sent < messages and sender.credit > 0 and not sender.session.has_backlog:
                sender.send(body, None, settled)
                sent += 1
            routers.settle_down()
        spent.append(Time.spent_s / sent)
    [exchange] = exchanges.hosted
    assert exchange.forwarded == REPETITIONS * messages
    return statistics.median(spent)


def run() -> list[Row]:
    """Run every case."""
    return [
        Row(f"subjects matched, {BINDINGS} bindings, seen before", matching(is_new=False), RATE, TARGET),
        Row(f"subjects matched, {BINDINGS} bindings, each new", matching(is_new=True), RATE, TARGET),
        Row(f"router's time a message to {HOPS} next hops, unsettled", 1e6 * exchanging(settled=False), "us"),
        Row(f"router's time a message to {HOPS} next hops, pre-settled", 1e6 * exchanging(settled=True), "us"),
    ]
