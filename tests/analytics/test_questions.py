"""Every question, against the same worked out in plain Python from the same rows."""

import heapq
import math
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from analytics.errors import AnalyticsError, UnknownName
from analytics.questions import anomalies
from analytics.questions.cells import LATENCY_STEP
from analytics.topology import clocks_ahead
from routerd.records import message_key
from tests.analytics.made_rows import CLOCK_AHEAD_US, COSTS, SPAN_S, costs_of


def rows_of(frame, *names):
    """Return rows as tuples of some of their columns, in the order in which they came."""
    return [tuple(row[name] for name in names) for row in frame.collect()]


def percentile(weighted, part):
    """Return the percentile of values that occur so often, between neighbours in proportion, as Spark says it does."""
    values = sorted(value for value, weight in weighted for _ in range(weight))
    at = (len(values) - 1) * part
    low, high = values[math.floor(at)], values[math.ceil(at)]
    return low + (high - low) * (at - math.floor(at))


def utc(micros):
    return datetime(1970, 1, 1) + timedelta(microseconds=micros)


@pytest.mark.parametrize("by", ["routers", "address", "family"])
def test_the_matrix_sums_what_left_the_network(study, world, by):
    expected = Counter()
    octets = Counter()
    for row in world.flows:
        if row["egress_kind"] == "client":
            family = row["address"].replace("/", ".").split(".")[0]
            key = (
                row["origin"],
                row["router"],
                *{"routers": (), "address": (row["address"],), "family": (family,)}[by],
            )
            expected[key] += row["messages"]
            octets[key] += row["octets"]
    names = ("origin", "destination", *(() if by == "routers" else (by,)))
    found = rows_of(study.matrix(by), *names, "messages", "octets")
    assert {row[:-2]: row[-2:] for row in found} == {key: (expected[key], octets[key]) for key in expected}
    assert [row[-2] for row in found] == sorted(expected.values(), reverse=True)


def test_the_top_talkers_come_first_with_their_share(study, world):
    sums = Counter()
    for row in world.flows:
        if row["egress_kind"] == "client":
            sums[row["egress"]] += row["messages"]
    total = sum(sums.values())
    best = sorted(sums, key=lambda name: -sums[name])[:3]
    found = [
        row for row in rows_of(study.talkers(3), "what", "rank", "name", "messages", "share") if row[0] == "consumer"
    ]
    assert [(row[1], row[3]) for row in found] == [(at, sums[name]) for at, name in enumerate(best, 1)]
    assert [row[4] for row in found] == pytest.approx([row[3] / total for row in found])


def known_latencies(world, by):
    groups = defaultdict(list)
    for row in world.decisions:
        if row["outcome"] not in ("accepted", "rejected"):
            continue
        if (by == "address" and row["hop"]) or (by == "path" and row["egress_kind"] != "client"):
            continue
        groups[row[by]].append((row["latency_us"], row["weight"]))
    return groups


@pytest.mark.parametrize("by", ["address", "path", "hop"])
def test_percentiles_of_the_latency_are_exact_for_rows(study, world, by):
    groups = known_latencies(world, by)
    found = rows_of(study.latency(by), by, "decisions", "p50_us", "p90_us", "p99_us", "p999_us", "max_us")
    assert [row[0] for row in found] == sorted(groups)
    for name, decisions, *percentiles, most in found:
        assert decisions == sum(weight for _, weight in groups[name])
        expected = [percentile(groups[name], part) for part in (0.5, 0.9, 0.99, 0.999)]
        assert percentiles == pytest.approx(expected)
        assert most == max(value for value, _ in groups[name])


def test_percentiles_of_cells_are_within_the_width_of_one(study, world):
    from analytics.questions import latency

    cells = latency(study.decision_cells, "hop").collect()
    for row, exact in zip(cells, latency(study.records.decisions, "hop").collect(), strict=True):
        for name in ("p50_us", "p90_us", "p99_us"):
            assert row[name] / exact[name] == pytest.approx(1, abs=LATENCY_STEP - 1)
        assert row["decisions"] == exact["decisions"]


def test_cells_lose_no_rows(study, world):
    assert study.decision_cells.agg({"rows": "sum"}).first()[0] == len(world.decisions)
    assert study.flow_cells.agg({"rows": "sum"}).first()[0] == len(world.flows)


@pytest.mark.parametrize("seconds", [60, 3600])
def test_outcomes_are_counted_where_messages_entered(study, world, seconds):
    expected = defaultdict(Counter)
    for row in world.flows:
        if row["ingress_kind"] == "client":
            slot = row["time"] // 1_000_000 // seconds * seconds
            expected[utc(slot * 1_000_000)].update(
                {name: row[name] for name in ("messages", "accepted", "rejected", "released")}
            )
    found = rows_of(study.outcomes(seconds), "time", "messages", "accepted", "rejected", "released")
    assert found == [
        (time, *(expected[time][name] for name in ("messages", "accepted", "rejected", "released")))
        for time in sorted(expected)
    ]


def test_what_was_not_delivered_is_told_with_its_cause(study, world):
    expected = Counter()
    for row in world.decisions:
        if row["cause"]:
            expected[row["address"], row["router"], row["outcome"], row["cause"]] += row["weight"]
    found = rows_of(study.undeliverables(), "address", "router", "outcome", "cause", "messages")
    assert {row[:-1]: row[-1] for row in found} == dict(expected)


def test_balance_is_by_share_and_by_capacity(study, world):
    got = defaultdict(lambda: defaultdict(list))
    for row in world.decisions:
        if row["egress_kind"] == "client" and row["outcome"] in ("accepted", "rejected"):
            got[row["address"]][row["egress"]].append((row["latency_us"], row["weight"]))

    def jain(values):
        return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))

    expected = {}
    for consumers in got.values():
        counts = {name: sum(weight for _, weight in some) for name, some in consumers.items()}
        speeds = {
            name: (10 * (int(name.split("-")[-2]) + 1)) / percentile(some, 0.5) for name, some in consumers.items()
        }
        for name in consumers:
            expected[name] = (
                counts[name],
                counts[name] / sum(counts.values()),
                speeds[name] / sum(speeds.values()),
                jain(list(counts.values())),
                jain([counts[one] / speeds[one] for one in counts]),
            )
    found = rows_of(study.balance(), "consumer", "messages", "share", "capacity_share", "jain", "fairness")
    assert {row[0]: row[1:] for row in found} == {name: pytest.approx(values) for name, values in expected.items()}


def test_the_slow_consumer_is_named(study):
    assert rows_of(study.balance().where("is_slow"), "consumer") == [("rpc/worker-1-A",)]


def least_costs(origin, cost_of):
    """Return the cost of the best path to each router, by trying all in the order of what they cost."""
    costs = {}
    waiting = [(0, origin)]
    while waiting:
        cost, router = heapq.heappop(waiting)
        if router not in costs:
            costs[router] = cost
            for peer, more in costs_of(router).items():
                heapq.heappush(waiting, (cost + cost_of(more), peer))
    return costs


def test_stretch_is_what_a_path_costs_against_the_best(study, world):
    messages = Counter()
    for row in world.decisions:
        if row["egress_kind"] == "client":
            messages[row["path"]] += row["weight"]
    trunks = {**COSTS, **{(other, one): cost for (one, other), cost in COSTS.items()}}
    expected = {}
    for path, count in messages.items():
        routers = path.split("/")
        cost = sum(trunks[pair] for pair in pairwise(routers))
        best = least_costs(routers[0], lambda cost: cost)[routers[-1]]
        fewest = least_costs(routers[0], lambda cost: 1)[routers[-1]]
        expected[path] = (count, cost, best, cost / best if best else 1.0, len(routers) - 1 - fewest)
    found = rows_of(study.stretch(), "path", "messages", "cost", "best_cost", "stretch", "extra_hops")
    assert {row[0]: row[1:] for row in found} == {path: pytest.approx(values) for path, values in expected.items()}
    assert found[0][0] == "A/D"


def test_trunks_are_told_by_their_seconds(study, world):
    seconds = defaultdict(Counter)
    for row in world.flows:
        if row["egress_kind"] == "trunk":
            seconds[row["router"], row["egress_router"]][row["time"]] += row["octets"]
    most = max(max(by_second.values()) for by_second in seconds.values())
    found = rows_of(
        study.trunks(), "router", "peer", "octets", "busy_seconds", "peak_octets_s", "p99_octets_s", "headroom"
    )
    assert {row[:2]: row[2:5] for row in found} == {
        trunk: (sum(by_second.values()), len(by_second), max(by_second.values()))
        for trunk, by_second in seconds.items()
    }
    for one, other, *_, p99, headroom in found:
        ordered = sorted(seconds[one, other].values())
        assert p99 == ordered[math.ceil(0.99 * len(ordered)) - 1]
        assert headroom == pytest.approx(1 - p99 / most)


def test_stalls_are_told_by_link(study, world):
    expected = defaultdict(list)
    for row in world.events:
        if row["kind"] == "credit-stall":
            expected[row["router"], row["link"], row["peer"]].append(row["duration_us"] / 1e6)
    found = rows_of(study.stalls(), "router", "link", "peer", "stalls", "total_s", "longest_s", "share_of_time")
    assert {row[:3]: row[3:6] for row in found} == {
        link: pytest.approx((len(some), sum(some), max(some))) for link, some in expected.items()
    }
    assert [row[6] for row in found] == pytest.approx([row[4] / study.records.duration_s for row in found])


def test_churn_counts_what_was_lost_and_what_changed(study, world):
    what = {"trunk-lost": "trunk", "address-removed": "address", "link-detached": "link", "route-changed": "route"}
    name = {"address": "address", "link": "link", "trunk": "peer", "route": "peer"}
    expected = Counter()
    for row in world.events:
        if row["kind"] in what:
            thing = what[row["kind"]]
            expected[thing, row["router"], row[name[thing]]] += 1
    found = rows_of(study.churn(), "what", "router", "name", "lost", "changed", "is_flapping")
    assert {row[:3]: row[3] + row[4] for row in found} == dict(expected)
    assert all(is_flapping == (lost + changed >= 3) for *_, lost, changed, is_flapping in found)


def test_a_clock_that_is_ahead_is_found_out(study):
    pairs = rows_of(study.clocks(), "earlier", "later", "ahead_us")
    # Half a hop is all that can't be told.
    assert clocks_ahead(pairs) == {"D": pytest.approx(CLOCK_AHEAD_US, abs=500)}


def test_clocks_that_agree_are_left_alone():
    assert clocks_ahead([("A", "B", 300), ("B", "C", -200)]) == {}


def test_an_audit_follows_one_message_with_all_that_was_known(study, world, spark):
    asked = max(world.decisions, key=lambda row: row["hop"])
    from pyspark.sql import functions as F

    from analytics.questions import audit

    keyed = study.records.decisions.withColumn(
        "message_key",
        F.when(F.col("message_key") == asked["message_key"], F.lit(message_key(b"the-one"))).otherwise(0),
    )
    found = audit(keyed, message="the-one").collect()
    way = [row for row in world.decisions if row["message_key"] == asked["message_key"]]
    assert [(row["router"], row["egress"], row["latency_us"]) for row in found] == [
        (row["router"], row["egress"], row["latency_us"]) for row in sorted(way, key=lambda row: row["hop"])
    ]
    for row, made in zip(found, sorted(way, key=lambda row: row["hop"]), strict=True):
        assert [one.asDict() for one in row["candidates"]] == made["candidates"]
        assert row["reason"] == reason(made)


def reason(row):
    """Say in the same words why the first of two candidates was taken."""
    chosen, other = row["candidates"]
    if row["distribution"] == "closest":
        return f"it was the nearest, at cost {chosen['cost']}"
    load, against = (one["cost"] + one["outstanding"] for one in (chosen, other))
    if against < load:
        return f"another had less to do ({against} against {load}) and could not take it"
    if against == load:
        return f"it was one of those with the least load, {load}, and its turn"
    return f"it had the least load: {load} against {against}"


def test_an_audit_of_an_address_looks_at_one_moment(study, world):
    asked = world.decisions[0]
    at = utc(asked["time"]).replace(tzinfo=UTC)
    near = [
        row
        for row in world.decisions
        if row["address"] == asked["address"] and abs(row["time"] - asked["time"]) <= 1_000_000
    ]
    found = rows_of(study.audit(address=asked["address"], at=at), "router", "time")
    assert sorted(found) == sorted((row["router"], utc(row["time"])) for row in near)


def test_an_audit_needs_a_message_or_an_address_and_a_time(study):
    with pytest.raises(AnalyticsError, match="of one message"):
        study.audit(address="rpc")


def test_an_unknown_address_is_named_with_those_that_are_known(study):
    with pytest.raises(UnknownName, match=r"no address 'rpq' .* orders.new, orders/old, rpc, telemetry.1"):
        study.audit(address="rpq", at=datetime(2026, 11, 21, tzinfo=UTC))


def test_an_unknown_message_is_said_to_be(study):
    with pytest.raises(UnknownName, match="no message 'nowhere'"):
        study.audit(message="nowhere")


def test_the_period_of_the_records_is_that_of_their_rows(study, world):
    times = [row["time"] for rows in (world.flows, world.decisions, world.events) for row in rows]
    assert study.records.begin == utc(min(times)).replace(tzinfo=UTC)
    assert study.records.duration_s == pytest.approx((max(times) - min(times)) / 1e6, abs=1e-3)
    assert study.records.duration_s == pytest.approx(SPAN_S, rel=0.01)


def hour_row(address, day, hour, messages):
    time = datetime(2026, 11, day, hour, 30)
    return (time, address, "client", messages, 0, 0, 0, 0)


HOUR_SCHEMA = "time timestamp, address string, ingress_kind string, " + ", ".join(
    f"{name} bigint" for name in ("messages", "rejected", "released", "modified", "dropped")
)


def unlike(spark, rows):
    found = anomalies(spark.createDataFrame(rows, HOUR_SCHEMA))
    return rows_of(found, "address", "hour", "measure", "value", "usual")


def test_an_hour_is_unusual_against_the_same_hour_of_earlier_days(spark):
    usual = [hour_row("rpc", day, hour, 1000 * hour + day) for day in range(1, 8) for hour in (3, 9)]
    assert unlike(spark, usual) == []
    surge = [*usual, hour_row("rpc", 8, 3, 9000), hour_row("rpc", 8, 9, 9007)]
    # 9000 is nothing unusual at 9, but at 3 it is: the median of the days 1 to 7 is that of day 4.
    assert unlike(spark, surge) == [("rpc", datetime(2026, 11, 8, 3), "messages", 9000, 3004.0)]


def test_an_address_that_falls_silent_is_unusual(spark):
    rows = [hour_row("rpc", day, 3, 1000) for day in range(1, 5)] + [
        hour_row("other", day, 3, 10) for day in range(1, 6)
    ]
    assert unlike(spark, rows) == [("rpc", datetime(2026, 11, 5, 3), "messages", 0, 1000.0)]


def test_one_earlier_day_says_nothing(spark):
    assert unlike(spark, [hour_row("rpc", 1, 3, 10), hour_row("rpc", 2, 3, 10_000)]) == []
