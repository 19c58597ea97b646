"""Which series a scrape finds, from what workers and the routing engine say."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from routerd.core import RouterMode, RouterSettings
from routerd.management import (
    DETAILED_FAMILIES,
    FAMILIES,
    Certificate,
    ExchangeRow,
    Metrics,
    MetricsQuery,
    PolicyRow,
    TopicFigures,
    TrunkRow,
    Unanswered,
    VhostRow,
    WorkerFigures,
    metrics_text,
)
from routerd.management.metrics.exposition import Kind
from routerd.management.metrics.families import LEFT_OUT, OLD_FAMILIES
from tests.unit.management.fake_router import FakeRouter, address, connection, counters, link, node, run, topic, worker

CONNECTOR = ("connector", {"name": "to-b", "role": "inter-router", "host": "b", "port": "5673"})
RECORDED = {
    **{"rows_written": 10, "rows_pending": 2, "rows_lost": 1, "files_written": 3, "files_deleted": 1},
    **{"octets_written": 4000, "errors": 1},
}
TOPICS = TopicFigures(
    topics=2,
    subscriptions=3,
    publishers_here=4,
    unsettled=5,
    unsettled_octets=600,
    records=7,
    oldest_s=8.1239,
    accepted=9,
    rejected=10,
    unknown=11,
    expired=12,
)


def figures(number: int, **values: Any) -> WorkerFigures:
    """Return what a worker with some traffic counts."""
    row = worker(
        number,
        connections=2,
        links=4,
        addresses=3,
        ingress=counters(deliveries=10, accepted=6, delayed_1s=1),
        egress=counters(deliveries=9),
        trunk_out=counters(deliveries=1, dropped_presettled=1),
        octets_in={"client": 1000},
        octets_out={"client": 500},
        stalls=2,
        event_loop_lag_s=0.00125,
        **values.pop("row", {}),
    )
    given = {"policy": PolicyRow(connections_denied=1, links_denied=2, total_denials=4), "log_lines": {"error": 1}}
    return WorkerFigures(counters=row, **{**given, **values})


def router(*workers: WorkerFigures, mode: RouterMode = RouterMode.INTERIOR) -> FakeRouter:
    fake = FakeRouter(CONNECTOR, settings=RouterSettings(id="A", mode=mode, version="1.0"))
    fake.worker_figures = list(workers)
    fake.node_rows = [
        node(0, "A", last_topology_change=1000.0, topology_changes=3, engine=1),
        node(1, "B", cost=1),
        node(2, "C", cost=None),
    ]
    return fake


def found(fake: FakeRouter, metrics: Metrics | None = None) -> dict[str, dict[tuple[str, ...], float]]:
    samples = run((metrics or Metrics(fake)).gather(MetricsQuery()))
    return {name: dict(values) for name, values in samples.items()}


def test_sums_are_those_of_all_workers() -> None:
    samples = found(router(figures(0), figures(1)))
    assert samples["qdr_connections_total"] == samples["mobula_connections"] == {(): 4}
    assert samples["qdr_deliveries_ingress_total"] == {(): 20}
    assert samples["mobula_deliveries_total"][("in", "client")] == 20
    assert samples["mobula_deliveries_total"][("out", "router")] == 2
    assert samples["mobula_deliveries_settled_total"][("in", "client", "accepted")] == 12
    assert samples["mobula_deliveries_dropped_total"][("out", "router")] == 2
    assert samples["mobula_deliveries_delayed_total"][("in", "client", "1")] == 2
    assert samples["mobula_received_bytes_total"] == {("client",): 2000}
    assert samples["mobula_credit_stalls_total"] == {(): 4}
    assert samples["mobula_log_lines_total"] == {("error",): 2}
    assert samples["mobula_policy_denials_total"] == {
        ("connection",): 2, ("link",): 4, ("message_size",): 0, ("session",): 2,
    }
    assert samples["mobula_worker_event_loop_lag_seconds"] == {("0",): 0.00125, ("1",): 0.00125}
    assert samples["mobula_router_info"] == {("A", "interior", "1.0"): 1}


def test_the_network_is_told() -> None:
    trunk = TrunkRow(router="B", role="inter-router", cost=3)
    own = figures(
        0,
        trunks=[trunk, TrunkRow(router="B", role="inter-router", cost=2)],
        edges=5,
        certificates={"tls": Certificate(2000.0, "CN=a")},
    )
    fake = router(own, figures(1, certificates={"tls": Certificate(1500.0, "CN=b")}))
    identity = fake.entities[0].identity
    fake.worker_figures[0] = replace(own, connectors={identity: True, "gone": False})
    samples = found(fake)
    assert samples["mobula_trunk_connections"] == {("B", "inter-router"): 2}
    assert samples["mobula_trunk_cost"] == {("B",): 2}
    assert samples["mobula_edge_connections"] == {(): 5}
    assert samples["mobula_connector_up"] == {("to-b", "inter-router"): 1}
    assert (samples["mobula_routers"], samples["mobula_routers_unreachable"]) == ({(): 2}, {(): 1})
    assert samples["mobula_topology_changes_total"] == {(): 3}
    assert samples["mobula_topology_last_change_timestamp_seconds"] == {(): 1000.0}
    assert samples["mobula_certificate_expiry_timestamp_seconds"] == {("tls",): 1500.0}


def test_topics_are_told_where_there_are_any() -> None:
    def of_topics(samples: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in samples.items() if name.startswith(("mobula_topic_", "mobula_topics"))}

    assert of_topics(found(router(figures(0), figures(1)))) == {}
    samples = found(router(figures(0), figures(1, topics=TOPICS)))
    assert of_topics(samples) == {
        "mobula_topics": {(): 2},
        "mobula_topic_subscriptions": {(): 3},
        "mobula_topic_publishers": {(): 4},
        "mobula_topic_unsettled": {(): 5},
        "mobula_topic_unsettled_bytes": {(): 600},
        "mobula_topic_held": {(): 7},
        "mobula_topic_oldest_seconds": {(): 8.124},
        "mobula_topic_accepted_total": {(): 9},
        "mobula_topic_rejected_total": {(): 10},
        "mobula_topic_unknown_total": {(): 11},
        "mobula_topic_expired_total": {(): 12},
    }


def test_recording_is_told_where_there_is_any() -> None:
    assert not [name for name in found(router(figures(0))) if "recording" in name]
    on = figures(0, row={"recording_status": "recording", "recording": RECORDED})
    broken = figures(1, row={"recording_status": "disk is full", "recording": RECORDED})
    samples = found(router(on, broken))
    assert samples["mobula_recording_up"] == {(): 0}
    assert samples["mobula_recording_rows_total"] == {("written",): 20, ("lost",): 2}
    assert samples["mobula_recording_rows_pending"] == {(): 4}
    assert samples["mobula_recording_written_bytes_total"] == {(): 8000}


def test_a_worker_that_does_not_answer_is_down_and_its_counts_stay() -> None:
    fake = router(figures(0), figures(1))
    metrics = Metrics(fake)
    found(fake, metrics)
    fake.worker_figures, fake.absent = [figures(0)], [1]
    samples = found(fake, metrics)
    assert samples["mobula_worker_up"] == {("1",): 0, ("0",): 1}
    assert samples["qdr_deliveries_ingress_total"] == {(): 20}
    assert samples["qdr_connections_total"] == {(): 2}
    fake.worker_figures, fake.absent = [figures(0), figures(1, row={"restarts": 1})], []
    assert found(fake, metrics)["qdr_deliveries_ingress_total"] == {(): 30}


def test_a_new_management_actor_goes_on_from_what_workers_keep() -> None:
    fake = router(figures(0))
    first = Metrics(fake)
    found(fake, first)
    fake.worker_figures = [figures(0, row={"restarts": 1})]
    assert found(fake, first)["qdr_deliveries_ingress_total"] == {(): 20}
    assert found(fake)["qdr_deliveries_ingress_total"] == {(): 20}
    fake.worker_figures = [figures(0, row={"restarts": 2})]
    assert found(fake)["qdr_deliveries_ingress_total"] == {(): 30}
    assert found(router(figures(0)))["qdr_deliveries_ingress_total"] == {(): 10}


def test_an_engine_that_is_started_again_counts_on() -> None:
    fake = router(figures(0))
    metrics = Metrics(fake)
    found(fake, metrics)
    fake.node_rows[0] = node(0, "A", last_topology_change=1000.0, topology_changes=1, engine=2)
    assert found(fake, metrics)["mobula_topology_changes_total"] == {(): 4}


def test_restarts_of_actors_without_connections_stay_while_these_are_away() -> None:
    fake = router(figures(0))
    fake.restarts = {"table": 1, "engine": 0, "management": 0}
    metrics = Metrics(fake)
    found(fake, metrics)
    fake.restarts = {"management": 0}
    assert found(fake, metrics)["mobula_actor_restarts_total"] == {("table",): 1, ("engine",): 0, ("management",): 0}
    # A management actor that has just been started knows the others from what workers keep.
    fake.restarts = {"engine": 2, "management": 1}
    assert found(fake)["mobula_actor_restarts_total"] == {("table",): 1, ("engine",): 2, ("management",): 1}
    # The table counts over its incarnations, so that none is counted twice.
    fake.restarts = {"table": 2, "engine": 2, "management": 1}
    assert found(fake)["mobula_actor_restarts_total"] == {("table",): 2, ("engine",): 2, ("management",): 1}


def test_a_router_whose_engine_is_away_tells_the_rest() -> None:
    fake = router(figures(0))

    async def away() -> Any:
        raise Unanswered("engine: no answer")

    fake.nodes = away  # type: ignore[method-assign]
    samples = found(fake)
    assert samples["mobula_connections"] == {(): 2}
    assert "mobula_topology_changes_total" not in samples


def test_every_sample_has_a_family_and_every_family_a_sample() -> None:
    busy = figures(
        0,
        row={"recording_status": "recording", "recording": RECORDED},
        trunks=[TrunkRow(router="B", role="inter-router", cost=3)],
        certificates={"tls": Certificate(1.0, "CN=a")},
        topics=TOPICS,
    )
    fake = router(busy)
    fake.worker_figures = [replace(busy, connectors={fake.entities[0].identity: True})]
    samples = found(fake)
    assert set(samples) == {family.name for family in FAMILIES}
    for family in FAMILIES:
        assert {len(labels) for labels in samples[family.name]} == {len(family.labels)}, family.name


def test_names_say_what_their_series_are() -> None:
    families = [*FAMILIES, LEFT_OUT, *(one for several in DETAILED_FAMILIES.values() for one in several)]
    assert len({one.name for one in families}) == len(families)
    old = {one.name for one in OLD_FAMILIES}
    for one in families:
        if one.name not in old:
            assert one.name.startswith("mobula_")
            assert one.name.endswith("_total") is (one.kind is Kind.COUNTER), one.name
        assert one.help.endswith(".")


# --- detailed


def detailed(fake: FakeRouter, *families: str, **query: Any) -> dict[str, dict[tuple[str, ...], float]]:
    samples = run(Metrics(fake).gather(MetricsQuery(families=families, **query)))
    return {name: dict(values) for name, values in samples.items()}


def with_addresses(count: int = 3) -> FakeRouter:
    fake = FakeRouter()
    fake.address_rows = [address(f"M0a/{number}", worker=0, producers=1, ingress=5) for number in range(count)]
    fake.address_rows += [address("M0a/0", worker=1, consumers=2, egress=5, parked=1, oldest_parked_s=2.5)]
    return fake


def test_an_address_is_one_thing_at_all_workers() -> None:
    samples = detailed(with_addresses(), "address")
    key = ("a/0", "mobile")
    assert samples["mobula_address_producers"][key] == 1
    assert samples["mobula_address_consumers"][key] == 2
    assert samples["mobula_address_waiting_age_seconds"][key] == 2.5
    assert len(samples["mobula_address_ingress_total"]) == 3
    assert samples[LEFT_OUT.name] == {("address",): 0}


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [(("a/1",), ["a/1"]), (("a/*",), ["a/0", "a/1", "a/2"]), (("b*", "a/2"), ["a/2"]), (("none",), [])],
)
def test_addresses_choose(addresses: tuple[str, ...], expected: list[str]) -> None:
    samples = detailed(with_addresses(), "address", addresses=addresses)
    assert [text for text, _ in samples.get("mobula_address_waiting", {})] == expected


def test_what_is_beyond_the_limit_is_counted() -> None:
    samples = detailed(with_addresses(), "address", "connection", limit=15)
    assert [text for text, _ in samples["mobula_address_producers"]] == ["a/0", "a/1"]
    assert samples[LEFT_OUT.name] == {("address",): 1, ("connection",): 0}


def test_things_of_all_kinds_have_their_series() -> None:
    fake = with_addresses()
    fake.connection_rows = [connection(10, container="c"), connection(9, user="u"), connection(11, role="fabric")]
    fake.link_rows = [
        link(2, connection=10, deliveries=3),
        link(1, address=None, is_outgoing=True),
        link(3, role="inner"),
    ]
    fake.node_rows = [node(0, "A"), node(1, "B", cost=1), node(2, "C", cost=2, next_hop="B")]
    fake.exchange_rows = [ExchangeRow(0, "x", 5, 1, 4, 0)]
    vhost = VhostRow(hostname="v", connections_approved=2, connections_current=1, senders_denied=3)
    fake.policy_rows = [PolicyRow(vhosts=[vhost]), PolicyRow(vhosts=[vhost])]
    fake.topic_rows = [topic("news", unsettled=5), topic("prices", oldest_s=2.5)]
    samples = detailed(fake, *DETAILED_FAMILIES)
    assert [labels[0] for labels in samples["mobula_connection_producers"]] == ["9", "10"]
    assert list(samples["mobula_link_deliveries_total"].items()) == [
        (("1", "1", "out", "", ""), 0),
        (("10", "2", "in", "orders", "c"), 3),
    ]
    assert samples["mobula_route_cost"] == {("B", "B"): 1, ("C", "B"): 2}
    assert samples["mobula_exchange_messages_total"][("x", "forwarded")] == 4
    assert samples["mobula_delivery_topic_unsettled"] == {("news",): 5, ("prices",): 0}
    assert samples["mobula_delivery_topic_oldest_seconds"] == {("news",): 0.0, ("prices",): 2.5}
    assert samples["mobula_vhost_connections"] == {("v",): 2}
    assert samples["mobula_vhost_denials_total"][("v", "senders")] == 6
    families = {one.name: one for several in DETAILED_FAMILIES.values() for one in several}
    assert set(samples) - {LEFT_OUT.name} == set(families)
    for name, family in families.items():
        assert {len(labels) for labels in samples[name]} == {len(family.labels)}, name


def test_the_text_has_the_families_that_were_asked_for() -> None:
    query = MetricsQuery(families=("connection", "address"), is_open_metrics=True)
    text = metrics_text(query, run(Metrics(with_addresses()).gather(query)))
    assert text.content_type.startswith("application/openmetrics-text")
    lines = text.body.decode().splitlines()
    assert 'mobula_address_producers{address="a/0",class="mobile"} 1' in lines
    assert lines[-2:] == ['mobula_detailed_left_out{family="address"} 0', "# EOF"]
