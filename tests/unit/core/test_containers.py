"""Connections to containers: which link routes and auto-links are used with them, in which order, and how long."""

from typing import Any

from routerd.core import LinkDirection, LinkRouteSettings
from tests.routers import Workers, message
from tests.unit.core.containers import Told, auto_link, container


def route(name: str, **options: Any) -> LinkRouteSettings:
    return LinkRouteSettings(name=name, direction=LinkDirection.IN, pattern="a/#", **options)


def workers() -> tuple[Workers, Told]:
    told = Told()
    return Workers(observer=lambda: told), told


def test_those_are_first_that_know_the_listener_and_link_routes_before_auto_links():
    found, told = workers()
    router = found[0].router
    router.auto_links.add(auto_link("q1", "in", name="b1", connection="L"))
    router.link_route_uses.add(route("r1", container_id="broker"))
    router.auto_links.add(auto_link("q2", "in", name="a1"))
    router.link_route_uses.add(route("r2", connection="L"))
    router.link_route_uses.add(route("r3", connection="L"))
    router.link_route_uses.add(route("r4"))
    router.link_route_uses.add(route("r5", connection="other"))
    broker = container(found, place="L")
    assert told.take() == [
        "Link Route Activated 'r2' on connection L",
        "Link Route Activated 'r3' on connection L",
        "Auto Link Activated 'b1' on connection L",
        "Link Route Activated 'r1' on container broker",
        "Auto Link Activated 'a1' on container broker",
    ]
    broker.leave()
    assert told.take() == [
        "Link Route Deactivated 'r2' on connection L",
        "Link Route Deactivated 'r3' on connection L",
        "Auto Link Deactivated 'b1' on connection L",
        "Link Route Deactivated 'r1' on container broker",
        "Auto Link Deactivated 'a1' on container broker",
    ]


def test_the_name_of_a_listener_is_not_the_id_of_a_container():
    found, told = workers()
    found[0].router.link_route_uses.add(route("r1", container_id="L"))
    found[0].router.link_route_uses.add(route("r2", connection="broker"))
    container(found, place="L")
    assert told.take() == []


def test_a_use_that_is_added_is_active_on_each_connection_and_one_that_is_removed_on_none():
    found, told = workers()
    router = found[0].router
    brokers = [container(found), container(found), container(found, name="other")]
    router.link_route_uses.add(route("r", container_id="broker"))
    assert told.take() == ["Link Route Activated 'r' on container broker"] * 2
    assert set(router.link_route_uses.uses["r"].peers) == {one.peer for one in brokers[:2]}
    brokers[0].vanish()
    assert set(router.link_route_uses.uses["r"].peers) == {brokers[1].peer}
    router.link_route_uses.remove("r")
    assert told.take() == ["Link Route Deactivated 'r' on container broker"] * 2
    assert router.link_route_uses.uses == {}
    router.link_route_uses.remove("r")
    container(found)
    assert told.take() == []


def test_a_link_route_of_the_same_name_takes_the_place_of_the_other():
    found, told = workers()
    container(found)
    found[0].router.link_route_uses.add(route("r", container_id="broker"))
    found[0].router.link_route_uses.add(route("r", container_id="other"))
    assert told.take() == [f"Link Route {what} 'r' on container broker" for what in ("Activated", "Deactivated")]
    assert not found[0].router.link_route_uses.uses["r"].peers


def test_a_client_is_no_container():
    found, told = workers()
    found[0].router.link_route_uses.add(route("r", container_id="broker"))
    found.client(container_id="broker")
    assert told.take() == []


def test_what_a_container_attaches_itself_is_a_clients():
    found, _ = workers()
    broker, client = container(found), found.client()
    receiver = broker.consumer("orders", credit=1)
    client.send(client.producer("orders"), message("a"))
    assert broker.received(receiver) == [message("a")]
    sender, other = broker.producer("news"), client.consumer("news", credit=1)
    assert sender.credit == 250
    broker.send(sender, message("b"))
    assert client.received(other) == [message("b")]


def test_links_are_routed_to_a_container_while_its_connection_lasts():
    found = Workers()
    found[0].router.link_route_uses.add(route("r", connection="L"))
    broker = container(found, place="L")
    client = found.client()
    routed = client.producer("a/1")
    assert broker.link("a/1").is_attached
    broker.leave()
    assert client.errors[routed.name].condition == "qd:routed-link-lost"
    refused = client.producer("a/1")
    assert client.errors[refused.name].condition == "qd:no-route-to-dest"


def test_links_are_not_routed_to_a_container_by_a_link_route_that_is_removed():
    found = Workers()
    router = found[0].router
    router.link_route_uses.add(route("r", connection="L"))
    broker = container(found, place="L")
    client = found.client()
    client.producer("a/1")
    assert broker.link("a/1").is_attached
    router.link_route_uses.remove("r")
    client.producer("a/2")
    assert not broker.living("a/2")
    assert broker.link("a/1").is_attached
