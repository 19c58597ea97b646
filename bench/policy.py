"""What policy costs: attaches and messages with a policy of 1 000 rules, against those without any.

The forwarding core alone, as in `bench core`: only the router's share of the time is counted. The rules are names,
beginnings of names, and both with the user in them; those that allow what is attached are the last. Links of names
that their user has attached before are what a router sees most; those that are new take the way through all rules.
"""

import itertools
import time
from collections.abc import Callable
from typing import Any

from bench import core
from bench.memory import Pair, Routers, Time
from bench.report import Row
from routerd.core import Gate, GroupSettings, Observer, PolicySettings, Router, RouterSettings, VhostSettings

RULES = 1_000
LINKS = 900
MESSAGES = 6_000
REPETITIONS = 9

_names = itertools.count()


def group(**options: Any) -> GroupSettings:
    """A group with `RULES` rules. No rule needs a look into messages."""
    names = (
        *(f"exact.{number}" for number in range(RULES // 2)),
        *(f"prefix.{number}.*" for number in range(RULES // 4)),
        *(f"own.${{user}}.{number}" for number in range(RULES // 4 - 1)),
        "bench.${user}.*",
    )
    everybody: dict[str, Any] = {"users": ("*",), "from_any_host": True, "allows_user_id_proxy": True}
    return GroupSettings(name="g", **everybody | {"sources": names, "targets": names} | options)


def router(settings: GroupSettings | None) -> Router:
    """A router with this group for everybody, or without policy."""
    made = Router(RouterSettings(id="bench"), lambda: "")
    vhosts = [] if settings is None else [VhostSettings(hostname="$default", groups=(settings,))]
    policy = PolicySettings(is_enforced=settings is not None)
    made.policy.gate = Gate(policy, vhosts, Observer(), made.connections.go_on)
    return made


def attaching(settings: GroupSettings | None) -> float:
    """Return the router's seconds a link attached and detached, of names that were attached before."""
    routers = Routers(router(settings))
    pair = routers.pair()
    names = [f"bench.anonymous.{next(_names)}" for _ in range(LINKS)]
    attached(routers, pair, names)
    return min(attached(routers, pair, names) for _ in range(3))


def attaching_first(settings: GroupSettings | None) -> float:
    """Return the same of names that are new."""
    routers = Routers(router(settings))
    return attached(routers, routers.pair(), [f"bench.anonymous.{next(_names)}" for _ in range(LINKS)])


def attached(routers: Routers, pair: Pair, names: list[str]) -> float:
    """Return the router's seconds a link of these names."""
    Time.spent_s = 0.0
    links = [pair.consumer(name, f"r{number}", credit=0) for number, name in enumerate(names)]
    routers.settle_down()
    assert links[-1].is_attached
    for link in links:
        link.detach()
    routers.settle_down()
    return Time.spent_s / len(names)


def forwarding(settings: GroupSettings | None) -> float:
    """Return the router's seconds a message."""
    return core.forwarding(Routers(router(settings)), "bench.anonymous.q", messages=MESSAGES)


def compared(measure: Callable[[GroupSettings | None], float], settings: GroupSettings) -> tuple[float, float]:
    """Return a figure with policy, and by how many percent it is more than without.

    The least of several, in turns: whatever else the machine does makes it more.
    """
    bare, ruled = [], []
    for _ in range(REPETITIONS):
        bare.append(measure(None))
        ruled.append(measure(settings))
    return min(ruled), 100 * (min(ruled) / min(bare) - 1)


def run() -> list[Row]:
    """Run every case, by the processor's time and not the clock's, which counts what else the machine does."""
    Time.clock = time.thread_time
    attach_s, attach_more = compared(attaching, group())
    first_s, first_more = compared(attaching_first, group())
    message_s, message_more = compared(forwarding, group())
    looked_s, looked_more = compared(forwarding, group(allows_user_id_proxy=False))
    rules = f"{RULES:,} rules"
    return [
        Row(f"router's time a link attached and detached, {rules}", 1e6 * attach_s, "us"),
        Row(f"attach rate lost to {rules}", attach_more, "%", 3.0, at_most=True),
        Row("router's time a link of a new name", 1e6 * first_s, "us"),
        Row("attach rate lost where each name is new", first_more, "%"),
        Row(f"router's time a message, {rules}", 1e9 * message_s, "ns"),
        Row(f"more time a message for {rules}", message_more, "%"),
        Row("router's time a message whose user-id is looked at", 1e9 * looked_s, "ns"),
        Row("more time a message for its user-id", looked_more, "%"),
    ]
