"""Addresses byte for byte, as the removed driver composed them."""

import dataclasses
from typing import Any

import pytest
from oslo_config import cfg
from oslo_messaging import TransportURL

from oslo_messaging_amqp1.addressing import Destination, Service, address, addressing_for, subscriptions
from oslo_messaging_amqp1.settings import Settings, read_settings

NOTIFY = Service.NOTIFY
CASES = [
    (Destination("T", server="S"), "openstack.org/om/rpc/unicast/{}openstack/T/S", "exclusive.{}openstack.T.S"),
    (Destination("T"), "openstack.org/om/rpc/anycast/{}openstack/T", "unicast.{}openstack.T"),
    (Destination("T", fanout=True), "openstack.org/om/rpc/multicast/{}openstack/T", "broadcast.{}openstack.T.all"),
    (
        Destination("T", server="S", fanout=True),
        *("openstack.org/om/rpc/multicast/{}openstack/T", "broadcast.{}openstack.T.all"),
    ),
    (Destination("T", "E", "S"), "openstack.org/om/rpc/unicast/{}E/T/S", "exclusive.{}E.T.S"),
    (
        Destination("T.info", service=NOTIFY),
        *("openstack.org/om/notify/anycast/{}openstack/T.info", "unicast.{}openstack.T.info"),
    ),
    (Destination("a/b.c"), "openstack.org/om/rpc/anycast/{}openstack/a/b.c", "unicast.{}openstack.a/b.c"),
]


@pytest.fixture
def settings(conf: cfg.ConfigOpts) -> Settings:
    return read_settings(conf, TransportURL.parse(conf, "amqp://h"))


@pytest.mark.parametrize("vhost", [None, "vh"])
@pytest.mark.parametrize(("destination", "routable", "legacy"), CASES)
def test_a_destination_has_an_address_of_each_kind(
    settings: Settings, destination: Destination, routable: str, legacy: str, vhost: str | None
) -> None:
    for product, expected, separator in (("a-router", routable, "/"), (None, legacy, ".")):
        addressing = addressing_for(product, settings, "openstack", vhost)
        assert address(addressing, destination) == expected.format(f"{vhost}{separator}" if vhost else "")


def test_a_listener_for_rpc_has_three_addresses_even_without_a_server(settings: Settings) -> None:
    addressing = addressing_for("a-router", settings, "openstack", None)
    prefix = "openstack.org/om/rpc"
    assert subscriptions(addressing, Destination("T", server="S")) == (
        *(f"{prefix}/unicast/openstack/T/S", f"{prefix}/multicast/openstack/T", f"{prefix}/anycast/openstack/T"),
    )
    assert subscriptions(addressing, Destination("T"))[0] == f"{prefix}/unicast/openstack/T"


def test_a_listener_for_notifications_has_one_address(settings: Settings) -> None:
    addressing = addressing_for("a-router", settings, "openstack", None)
    assert subscriptions(addressing, Destination("T.info", service=NOTIFY)) == (
        "openstack.org/om/notify/anycast/openstack/T.info",
    )


def test_the_default_exchanges_are_for_routers_only(settings: Settings) -> None:
    chosen = dataclasses.replace(settings, default_rpc_exchange="RX", default_notification_exchange="NX")
    routable = addressing_for("a-router", chosen, "openstack", None)
    assert address(routable, Destination("T")) == "openstack.org/om/rpc/anycast/RX/T"
    assert address(routable, Destination("T.info", service=NOTIFY)) == "openstack.org/om/notify/anycast/NX/T.info"
    legacy = addressing_for(None, chosen, "openstack", None)
    assert address(legacy, Destination("T")) == "unicast.openstack.T"


def test_without_any_exchange_a_router_gets_openstack_and_a_broker_nothing(settings: Settings) -> None:
    destination = Destination("T", server="S")
    assert address(addressing_for("r", settings, None, None), destination) == (
        "openstack.org/om/rpc/unicast/openstack/T/S"
    )
    assert address(addressing_for(None, settings, None, None), destination) == "exclusive.T.S"


def test_a_virtual_host_of_a_slash_is_one(settings: Settings) -> None:
    addressing = addressing_for("r", settings, "openstack", "/")
    assert address(addressing, Destination("T")) == "openstack.org/om/rpc/anycast///openstack/T"


@pytest.mark.parametrize(
    ("mode", "product", "starts"),
    [
        ("dynamic", None, "unicast."),
        ("dynamic", "qpid-cpp", "unicast."),
        ("dynamic", "RabbitMQ", "unicast."),
        ("dynamic", "qpid-dispatch-router", "openstack.org/om/rpc/anycast/"),
        ("dynamic", "", "openstack.org/om/rpc/anycast/"),
        ("legacy", "qpid-dispatch-router", "unicast."),
        ("routable", None, "openstack.org/om/rpc/anycast/"),
    ],
)
def test_the_mode_or_the_product_of_the_peer_decides(
    settings: Settings, mode: str, product: str | None, starts: str
) -> None:
    chosen = dataclasses.replace(settings, addressing_mode=mode)
    assert address(addressing_for(product, chosen, "openstack", None), Destination("T")) == f"{starts}openstack" + (
        ".T" if starts.endswith(".") else "/T"
    )


@pytest.mark.parametrize(
    ("options", "routable", "legacy"),
    [
        ({"server_request_prefix": "one"}, None, "one.openstack.T.S"),
        ({"broadcast_prefix": "all"}, None, "all.openstack.T.all"),
        ({"group_request_prefix": "any"}, None, "any.openstack.T"),
        ({"rpc_address_prefix": "p"}, "p/anycast/openstack/T", None),
        ({"notify_address_prefix": "n"}, "n/anycast/openstack/T", None),
        ({"multicast_address": "m"}, "openstack.org/om/rpc/m/openstack/T", None),
        ({"unicast_address": "u"}, "openstack.org/om/rpc/u/openstack/T/S", None),
        ({"anycast_address": "a"}, "openstack.org/om/rpc/a/openstack/T", None),
    ],
)
def test_every_part_of_an_address_has_an_option(
    settings: Settings, options: dict[str, Any], routable: str | None, legacy: str | None
) -> None:
    chosen = dataclasses.replace(settings, **options)
    destinations = [
        *(Destination("T", server="S"), Destination("T", fanout=True), Destination("T")),
        Destination("T", service=NOTIFY),
    ]
    made = {address(addressing_for(product, chosen, "openstack", None), one) for product in (None, "r")
            for one in destinations}
    assert (routable or legacy) in made
