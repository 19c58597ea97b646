"""Other networks under the recorded traffic, against the same worked out in plain Python."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from analytics.errors import UnknownName, WrongChange
from analytics.network import Network
from analytics.whatif import Demand, HopLatency, demands, evaluate, hop_latency, optimise, parse_scenario, what_if
from analytics.whatif.changes import Scenario
from tests.analytics.made_rows import ROUTERS, costs_of

STATES = {router: costs_of(router) for router in ROUTERS}


def walk(states, origin, destination):
    """Return the cheapest path, by trying all paths without a loop; of equals the one that no test has."""
    best = None
    waiting = [(0, (origin,))]
    while waiting:
        cost, path = waiting.pop()
        if path[-1] == destination and (best is None or cost < best[0]):
            best = (cost, path)
        for peer, more in states.get(path[-1], {}).items():
            if peer not in path and peer in states:
                waiting.append((cost + more, (*path, peer)))
    return best


def loads_of(states, world):
    """Return what each trunk would carry if every address were balanced or closest as it was, in plain Python."""
    sent = defaultdict(Counter)
    homes = defaultdict(set)
    kinds = {}
    for row in world.flows:
        if row["egress_kind"] == "client":
            sent[row["address"], row["origin"]][row["router"]] += row["octets"]
            homes[row["address"]].add(row["router"])
            kinds[row["address"]] = row["distribution"]
    loads = Counter()
    for (address, origin), octets in sent.items():
        ways = {home: walk(states, origin, home) for home in homes[address] if origin in states}
        ways = {home: way for home, way in ways.items() if way and home in states}
        if kinds[address] == "closest":
            least = min(cost for cost, _ in ways.values())
            shares = {home: 1 for home, (cost, _) in ways.items() if cost == least}
        else:
            shares = {home: octets[home] for home in ways}
        for home, share in shares.items():
            path = ways[home][1]
            for trunk in pairwise(path):
                loads[trunk] += sum(octets.values()) * share / sum(shares.values())
    return loads


@pytest.mark.parametrize("change", ["cost A D 1", "remove-trunk B C", "add-router E A=1 D=1", "cost A B 7; cost C D 1"])
def test_trunks_get_what_plain_python_says(study, world, change):
    scenario = parse_scenario(change)
    result = evaluate(STATES, demands(study.flow_cells), scenario)
    expected = loads_of(scenario.network(STATES).states, world)
    assert {trunk: octets for trunk, octets in result.octets.items() if octets} == {
        trunk: pytest.approx(octets) for trunk, octets in expected.items() if octets
    }
    assert result.unreachable == 0


def test_demands_lose_no_message(study, world):
    left = sum(row["messages"] for row in world.flows if row["egress_kind"] == "client")
    assert sum(one.messages for one in demands(study.flow_cells)) == left
    assert sum(one.messages for one in demands(study.flow_cells, ["rpc"])) == left


def test_the_latency_by_hops_is_the_mean_of_the_records(study, world):
    accepted = [row for row in world.decisions if row["outcome"] == "accepted"]

    def mean(name, rows):
        return sum(row[name] * row["weight"] for row in rows) / sum(row["weight"] for row in rows)

    first = [row for row in accepted if row["hop"] == 0]
    last = [row for row in accepted if row["egress_kind"] == "client"]
    latency = hop_latency(study.records.decisions)
    assert latency.consumer_us == pytest.approx(mean("latency_us", last))
    # 500 us for each hop is what the rows were made with.
    assert latency.hop_us == pytest.approx(500)
    assert latency.of(mean("hop", last)) == pytest.approx(mean("latency_us", first))


LINE = {"A": {"B": 1}, "B": {"A": 1, "C": 1}, "C": {"B": 1}}


def demand(distribution, *parts, origin="A", address=None):
    return Demand(origin, distribution, tuple((router, float(n), 10.0 * n) for router, n in parts), address)


def test_a_router_that_is_removed_takes_its_messages_with_it():
    result = evaluate(
        LINE, [demand("balanced", ("C", 7)), demand("balanced", ("A", 2))], parse_scenario("remove-router B")
    )
    assert (result.unreachable, result.by_hops) == (7.0, {0: 2.0})


def test_what_enters_at_a_removed_router_reaches_nobody():
    gone = demand("balanced", ("A", 5), origin="C")
    assert evaluate(LINE, [gone], parse_scenario("remove-router C")).unreachable == 5.0


def test_the_others_take_over_when_a_consumer_can_not_be_reached():
    result = evaluate(LINE, [demand("balanced", ("B", 1), ("C", 3))], parse_scenario("remove-trunk B C"))
    assert (result.unreachable, result.messages["A", "B"]) == (0.0, 4.0)


def test_copies_pass_a_trunk_once():
    result = evaluate(LINE, [demand("multicast", ("B", 4), ("C", 4))], Scenario("now"))
    assert (result.messages["A", "B"], result.messages["B", "C"]) == (4.0, 4.0)
    assert result.by_hops == {1: 4.0, 2: 4.0}


def test_a_consumer_moves_with_its_messages():
    moved = demand("balanced", ("C", 4), address="rpc")
    result = evaluate(LINE, [moved, demand("balanced", ("C", 1))], parse_scenario("move rpc C A"))
    assert (result.messages["A", "B"], result.by_hops) == (1.0, {0: 4.0, 2: 1.0})


def test_the_latency_follows_the_hops():
    result = evaluate(LINE, [demand("balanced", ("B", 1), ("C", 1))], Scenario("now"))
    assert result.mean_hops == 1.5
    assert result.latency_us(HopLatency(1000.0, 100.0)) == 1150.0


def test_scenarios_are_a_job_of_spark(spark):
    rows = what_if(
        spark,
        LINE,
        [demand("balanced", ("C", 8))],
        [parse_scenario("add-router D A=1 C=1"), parse_scenario("remove-trunk A B")],
        duration_s=2.0,
        latency=HopLatency(0.0, 1.0),
    ).collect()
    loads = {(row["scenario"], row["router"], row["peer"]): row["octets_s"] for row in rows if row["octets_s"]}
    by_d = {key: octets for key, octets in loads.items() if key[0].startswith("add")}
    assert loads["as it is", "A", "B"] == 40.0
    assert set(by_d.values()) == {40.0}
    assert {row["unreachable"] for row in rows if row["scenario"] == "remove-trunk A B"} == {8.0}
    assert [row["octets_s_now"] for row in rows if row["scenario"] == "remove-trunk A B" and row["router"] == "A"] == [
        40.0
    ]


def test_a_cost_is_found_that_lowers_the_busiest_trunk(spark):
    ring = {"A": {"B": 1, "C": 30}, "B": {"A": 1, "C": 1}, "C": {"B": 1, "A": 30}}
    traffic = [demand("balanced", ("C", 8)), demand("balanced", ("C", 8), origin="B")]
    optimum = optimise(spark, ring, traffic)
    assert optimum.before.most_octets == 160.0
    assert optimum.after.most_octets == 80.0
    assert optimum.scenario.changes[0].names == ("A", "C")
    assert optimum.after.octets["A", "C"] == 80.0


def test_where_nothing_is_better_nothing_is_proposed(spark):
    assert optimise(spark, LINE, [demand("balanced", ("C", 8))]).scenario is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no change in ''"),
        ("cost A B", "'cost A B' is not a change"),
        ("cost A B 0", "'0' in 'cost A B 0' is not a cost"),
        ("cost A B x", "'x' in 'cost A B x' is not a cost"),
        ("paint A red", "'paint A red' is not a change"),
        ("add-router E", "'add-router E' is not a change"),
    ],
)
def test_what_is_no_change_is_refused(text, complaint):
    with pytest.raises(WrongChange, match=complaint):
        parse_scenario(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("cost A C 1", "no trunk 'A C' in these records; there is A B, B C"),
        ("remove-router X", "no router 'X' in these records; there is A, B, C"),
        ("add-router E X=1", "no router 'X'"),
        ("move rpc A X", "no router 'X'"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(text, complaint):
    with pytest.raises(UnknownName, match=complaint):
        parse_scenario(text).network(LINE)


def test_a_router_can_not_be_added_twice():
    with pytest.raises(WrongChange, match="'A' is there already"):
        parse_scenario("add-router A B=1").network(LINE)


def test_only_a_trunk_that_both_ends_advertise_can_be_used():
    network = Network({"A": {"B": 1}, "B": {}})
    assert network.path("A", "B") is None
