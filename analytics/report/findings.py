"""What needs attention: sentences from the answers, the most urgent first, each with what to do."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from analytics.network import Network
from analytics.report.answers import Answer
from analytics.topology import clocks_ahead

_DEAR = 2
_STALLED = 0.001
_TIGHT = 0.2
_WRONG_US = 500_000


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that somebody should look at."""

    urgency: int
    """1: act; 2: look; 3: good to know."""
    section: str
    says: str
    do: str


def findings(answers: Mapping[str, Answer], network: Network, *, knows_capacity: bool = False) -> list[Finding]:
    """Return all findings, the most urgent first."""
    found = [
        *_detours(answers["stretch"].rows, network),
        *_slow_consumers(answers["balance"].rows),
        *_lost(answers["churn"].rows),
        *_undelivered(answers["undeliverables"].rows),
        *_stalled(answers["stalls"].rows),
        *_unusual(answers["anomalies"].rows),
        *_wrong_clocks(answers["clocks"].rows),
        *(_tight(answers["trunks"].rows) if knows_capacity else ()),
    ]
    return sorted(found, key=lambda one: one.urgency)


def _detours(rows: Iterable[dict[str, Any]], network: Network) -> Iterator[Finding]:
    """Find the trunks that are passed by, though the way over them has fewer hops."""
    usual = median([cost for _, _, cost in network.trunks]) if network.trunks else 0
    costs = {(one, other): cost for one, other, cost in network.trunks}
    passed_by: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    worse = []
    for row in rows:
        if row["stretch"] is not None and row["stretch"] > 1:
            worse.append(row)
        elif row["extra_hops"]:
            ends = row["path"].split("/")
            shorter = network.with_equal_costs.path(ends[0], ends[-1]) or ()
            trunks = [(min(pair), max(pair)) for pair in pairwise(shorter)]
            dear = max(trunks, key=lambda trunk: costs.get(trunk, 0), default=None)
            if dear is not None and costs.get(dear, 0) >= _DEAR * usual:
                passed_by[dear].append(row)
    for trunk, paths in passed_by.items():
        messages = sum(row["messages"] for row in paths)
        one, other = trunk
        yield Finding(
            1,
            "stretch",
            f"Trunk {one} - {other} costs {costs[trunk]}, the usual trunk {usual:g}: {messages:,} messages went "
            f"round it, the longest way being {paths[0]['path'].replace('/', ' - ')}.",
            f"If the trunk is as good as others, lower its cost; `routeranalyze whatif --change 'cost {one} {other} "
            f"{usual:g}'` says what that does to all trunks.",
        )
    if worse:
        messages = sum(row["messages"] for row in worse)
        yield Finding(
            2,
            "stretch",
            f"{messages:,} messages took a path that was not the best of its time, such as "
            f"{worse[0]['path'].replace('/', ' - ')} ({worse[0]['stretch']:.3g} times the least cost).",
            "A few after a change of the network are normal. Many say that routers do not agree on it: look at churn.",
        )


def _slow_consumers(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    for row in rows:
        if row["is_slow"]:
            yield Finding(
                1,
                "balance",
                f"Consumer {row['consumer']} of {row['address']} at {row['router']} is slow: it takes "
                f"{row['p50_us'] / 1000:,.3g} ms for a message, many times what the others take, and gets "
                f"{row['share']:.1%} of them.",
                "Look at its host and what it does; with `balanced` the others take over most of its messages, "
                "with `closest` nobody does.",
            )


def _lost(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    seen: set[frozenset[str]] = set()
    for row in rows:
        ends = frozenset((row["router"], row["name"]))
        if row["what"] != "trunk" or not row["lost"] or ends in seen:
            continue
        seen.add(ends)
        one, other = sorted(ends) if len(ends) == 2 else (row["router"], row["name"])
        how = f"flaps: it was lost {row['lost']} times" if row["is_flapping"] else f"was lost {_times(row['lost'])}"
        yield Finding(
            1,
            "churn",
            f"Trunk {one} - {other} {how} between {row['first']:%F %T} and {row['last']:%F %T}.",
            "Look at the network between these hosts, and at the routers' logs of that time.",
        )
    flapping = [row for row in rows if row["what"] != "trunk" and row["is_flapping"]]
    for row in flapping[:5]:
        yield Finding(
            2,
            "churn",
            f"The {row['what']} {row['name']} at {row['router']} comes and goes: {row['lost'] + row['changed']} times.",
            "A client that reconnects all the time, or a consumer that attaches for each message, costs every router.",
        )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _undelivered(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    causes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        causes[row["cause"]].append(row)
    for cause, some in causes.items():
        messages = sum(row["messages"] for row in some)
        addresses = ", ".join(dict.fromkeys(row["address"] for row in some[:5]))
        is_ours = cause != "consumer-decided"
        yield Finding(
            2 if is_ours else 3,
            "undeliverables",
            f"About {messages:,} messages were not delivered ({cause}), to {addresses}.",
            _WHAT_TO_DO.get(cause, "The routers' logs of that time may say more."),
        )


_WHAT_TO_DO = {
    "no-consumer": "Start a consumer for the address, or stop its senders.",
    "no-route": "Look whether the network was in parts: churn has lost trunks and routers.",
    "loop": "Look whether addresses are configured alike at all routers.",
    "consumer-lost": "See why the consumer went away; its container is in the routers' logs.",
    "trunk-lost": "See why the trunk was lost; a second one between other hosts helps.",
    "consumer-decided": "The consumer refused them: its own log says why.",
    "too-large": "Raise the consumer's max-message-size, or send less at a time.",
    "too-many-wait": "The consumer does not keep up with pre-settled messages: give it more credit, or a second one.",
    "policy": "See which policy applies to the listener, and whether it is meant to.",
}


def _stalled(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    for row in [row for row in rows if row["share_of_time"] >= _STALLED][:5]:
        whose = f" of {row['peer']}" if row["peer"] else ""
        yield Finding(
            2,
            "stalls",
            f"Messages for {row['address'] or 'all addresses'} waited for credit of {row['link']}{whose} at "
            f"{row['router']}: {_times(row['stalls'])}, {row['total_s']:,.3g} s in all, "
            f"{row['longest_s']:,.3g} s at the longest.",
            "The consumer takes less than it is sent: add one, make it faster, or have it grant more credit.",
        )


def _unusual(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    for row in list(rows)[:5]:
        yield Finding(
            2,
            "anomalies",
            f"{row['address']} had {row['value']:,} {row['measure']} in the hour of {row['hour']:%F %H:%M}, "
            f"where {row['usual']:,.0f} are usual at that time of day.",
            "Ask whoever sends to it whether that was meant.",
        )


def _wrong_clocks(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    ahead = clocks_ahead((row["earlier"], row["later"], row["ahead_us"]) for row in rows)
    for router, ahead_us in ahead.items():
        if abs(ahead_us) >= _WRONG_US:
            yield Finding(
                2,
                "clocks",
                f"The clock of {router} is {abs(ahead_us) / 1e6:,.3g} s {'ahead of' if ahead_us > 0 else 'behind'} "
                "those of the others.",
                "Synchronise it. Latencies are not affected, and path stretch allows for it; "
                "series over time are off by as much.",
            )


def _tight(rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    for row in [row for row in rows if row["headroom"] < _TIGHT][:5]:
        yield Finding(
            1,
            "trunks",
            f"Trunk {row['router']} to {row['peer']} is nearly full: {row['headroom']:.0%} of its capacity is left.",
            "`routeranalyze optimise` looks for costs that spread the load.",
        )
