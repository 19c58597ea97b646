"""What our side of a connection says of itself: to clients, to other routers, and among the workers of a router."""

from dataclasses import replace

import pytest

from routerd.config import ConnectorConfig, FailoverUrl, ListenerConfig, Role
from routerd.core import RouterSettings
from routerd.io import WorkerConfig
from routerd.io.connections.configs import OPEN_S, client_config, connector_config, fabric_config, open_within_s
from routerd.wire import ConnectionConfig, Int, Symbol, encode

ROUTER = RouterSettings(id="R", version="1.2.3")
CAPABILITIES = ("ANONYMOUS-RELAY", "qd.streaming-links")
OURS = {Symbol("product"): "mobula", Symbol("version"): "1.2.3", Symbol("qd.conn-id"): Int(7)}
VERSION = Symbol("qd.annotations-version")
COST = Symbol("qd.inter-router-cost")


def listener(**options: object) -> ListenerConfig:
    return ListenerConfig(**{"host": "", "port": 5672} | options)  # type: ignore[arg-type]


def connector(**options: object) -> ConnectorConfig:
    return ConnectorConfig(**{"host": "b", "port": 5672} | options)  # type: ignore[arg-type]


def said(config: ConnectionConfig) -> dict[object, object]:
    """The properties of the open, all of them with keys that are symbols."""
    assert config.properties is not None
    assert {type(key) for key in config.properties} == {Symbol}
    return dict(config.properties)


@pytest.mark.parametrize(("configured_s", "within_s"), [(0, OPEN_S), (1, 1), (300, 300)])
def test_every_peer_has_to_open_within_some_time(configured_s: int, within_s: float) -> None:
    assert open_within_s(listener(handshake_timeout_s=configured_s)) == within_s
    assert open_within_s(listener(handshake_timeout_s=configured_s, authenticate_peer=True)) == within_s


def test_clients_are_told_who_we_are_and_what_we_accept() -> None:
    assert client_config(ROUTER, listener(), 7) == ConnectionConfig(
        container_id="R",
        max_frame_size=16_384,
        channel_max=32_767,
        incoming_window=512,
        link_names_max=10_000,
        idle_timeout_s=16.0,
        offered_capabilities=CAPABILITIES,
        desired_capabilities=CAPABILITIES,
        properties=OURS,
    )


@pytest.mark.parametrize(
    ("role", "given", "most"),
    [
        (Role.NORMAL, None, 10_000),
        (Role.NORMAL, 5, 5),
        (Role.NORMAL, 0, 0x7FFFFFFF),
        (Role.EDGE, None, 0x7FFFFFFF),
        (Role.INTER_ROUTER, None, 0x7FFFFFFF),
        (Role.EDGE, 20_000, 20_000),
    ],
)
def test_clients_may_have_so_many_links_and_routers_any_number(role: Role, given: int | None, most: int) -> None:
    assert client_config(ROUTER, listener(role=role, max_links=given), 7).link_names_max == most


def test_a_listener_may_have_other_bounds() -> None:
    config = client_config(
        ROUTER, listener(max_frame_size=512, max_sessions=1, session_frames=3, idle_timeout_s=0), 7
    )
    bounds = config.max_frame_size, config.channel_max, config.incoming_window, config.idle_timeout_s
    assert bounds == (512, 0, 3, 0.0)


@pytest.mark.parametrize(("capacity", "frames"), [(0, 512), (250, 512), (256, 512), (257, 514), (10_000, 20_000)])
def test_a_session_takes_what_a_link_may_send_twice(capacity: int, frames: int) -> None:
    assert client_config(ROUTER, listener(link_capacity=capacity), 7).incoming_window == frames
    assert connector_config(ROUTER, connector(link_capacity=capacity), 7).incoming_window == frames


def test_clients_are_told_where_they_can_connect_instead() -> None:
    urls = (FailoverUrl("h", 5672), FailoverUrl("i", 5671, "amqps"))
    found = said(client_config(ROUTER, listener(failover_urls=urls), 7))
    assert found == OURS | {
        Symbol("failover-server-list"): [
            {Symbol("network-host"): "h", Symbol("port"): "5672"},
            {Symbol("network-host"): "i", Symbol("port"): "5671", Symbol("scheme"): "amqps"},
        ]
    }


def test_properties_of_the_configuration_are_told_too() -> None:
    options = {"open_properties": {"place": "here", "floor": 3}}
    expected = OURS | {Symbol("place"): "here", Symbol("floor"): 3}
    assert said(client_config(ROUTER, listener(**options), 7)) == expected
    assert said(connector_config(ROUTER, connector(**options), 7)) == expected


def test_a_peer_that_we_connect_to_is_told_which_host_we_mean() -> None:
    config = connector_config(ROUTER, connector(max_sessions=11, session_frames=9, idle_timeout_s=5), 7)
    assert config == ConnectionConfig(
        container_id="R",
        hostname="b",
        max_frame_size=16_384,
        channel_max=10,
        incoming_window=9,
        idle_timeout_s=5.0,
        offered_capabilities=CAPABILITIES,
        desired_capabilities=CAPABILITIES,
        properties=OURS,
    )


@pytest.mark.parametrize(
    ("role", "cost", "between"),
    [
        (Role.NORMAL, 5, {}),
        (Role.ROUTE_CONTAINER, 5, {}),
        (Role.INTER_ROUTER, 1, {VERSION: Int(1)}),
        (Role.INTER_ROUTER, 5, {COST: Int(5), VERSION: Int(1)}),
        (Role.EDGE, 1, {VERSION: Int(1)}),
        (Role.EDGE, 2, {COST: Int(2), VERSION: Int(1)}),
    ],
)
def test_routers_tell_each_other_costs_and_how_they_annotate(
    role: Role, cost: int, between: dict[object, object]
) -> None:
    for config in (
        client_config(ROUTER, listener(role=role, cost=cost), 7),
        connector_config(ROUTER, connector(role=role, cost=cost), 7),
    ):
        assert said(config) == OURS | between
        # Others take them for what they are only if they are ints.
        assert all(encode(value)[0] in (0x54, 0x71) for key, value in said(config).items() if key in (COST, VERSION))


def test_workers_tell_each_other_who_they_are() -> None:
    config = fabric_config(WorkerConfig(router=ROUTER, index=2, workers=4, incarnation=9))
    assert (config.container_id, said(config)) == ("R#2", {Symbol("worker"): 2, Symbol("incarnation"): 9})
    assert (config.max_frame_size, config.incoming_window, config.idle_timeout_s) == (65_536, 512, 0.0)
    assert (config.channel_max, config.link_names_max) == (0xFFFF, 0x7FFFFFFF)


def test_a_ticket_has_room_in_the_frames_of_a_connector_that_may_show_one() -> None:
    both = [connector(sasl_mechanisms=names) for names in (None, ("GSSAPI",))]
    sizes = [connector_config(ROUTER, one, 7).sasl_frame_size for one in both]
    assert sizes == [512, 16_896]


def test_the_peers_of_a_router_that_takes_long_tags_may_send_them() -> None:
    router = replace(ROUTER, takes_long_tags=True)
    assert client_config(router, listener(), 7).takes_long_tags
    assert connector_config(router, connector(), 7).takes_long_tags
    assert not client_config(ROUTER, listener(), 7).takes_long_tags
