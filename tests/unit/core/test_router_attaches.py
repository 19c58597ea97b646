"""Attaches: which termini there are, where they lead, and what is refused and why."""

import pytest

from routerd.core import Distribution, Observer
from routerd.wire import RELEASED, Coordinator, Source, Symbol, Target
from tests.routers import Workers, message, message_to, outcome


def refusal(client, link):
    """What a client was told of a link that was refused: no terminus of ours, and why."""
    [answer] = [attach for attach in client.attaches if attach.name == link.name]
    [detach] = [event for event in client.events if event[:2] == ("link detached", link.name)]
    assert (answer.source if answer.role is False else answer.target) is None
    assert not link.is_attached
    return detach[2:]


def goes(workers, sender_of, sender, receiver_of, receiver, octets):
    """Whether a message arrives."""
    sender_of.send(sender, octets)
    return receiver_of.received(receiver) == [octets]


def test_an_address_that_is_a_symbol_is_text():
    workers = Workers()
    client = workers.client()
    receiver = client.consumer(Symbol("orders"), credit=1)
    assert goes(workers, client, client.producer(Symbol("orders")), client, receiver, message())
    assert workers[0].router.addresses.keys() == {"M0orders"}


class TestRefused:
    def test_a_coordinator_since_there_is_none_behind_the_router(self):
        client = Workers().client()
        link = client.producer(None, target=Coordinator(capabilities=(Symbol("amqp:local-transactions"),)))
        assert refusal(client, link) == (True, "amqp:precondition-failed")

    @pytest.mark.parametrize("source", [None, Source(), Source(address="")])
    def test_a_consumer_that_does_not_say_of_what(self, source):
        client = Workers().client()
        assert refusal(client, client.consumer(None, source=source)) == (True, "amqp:invalid-field")

    def test_a_producer_without_a_target(self):
        client = Workers().client()
        assert refusal(client, client.producer(None, target=None)) == (True, "amqp:invalid-field")

    @pytest.mark.parametrize("address", [7, b"orders", ["orders"]])
    def test_an_address_that_is_no_text(self, address):
        client = Workers().client()
        assert refusal(client, client.producer(address)) == (True, "amqp:invalid-field")
        assert refusal(client, client.consumer(address)) == (True, "amqp:invalid-field")

    def test_an_address_that_is_too_long(self, workers):
        client = workers.client(0)
        assert refusal(client, client.producer("x" * 5000)) == (True, "amqp:invalid-field")
        assert refusal(client, client.consumer("x" * 5000)) == (True, "amqp:invalid-field")
        assert client.consumer("é" * 4000).is_attached
        other = workers.client(workers.last)
        assert other.producer("é" * 4000).credit == 250

    def test_an_unavailable_address(self):
        workers = Workers()
        client = workers.client()
        assert refusal(client, client.producer("unavailable/x")) == (True, "amqp:not-found")
        assert refusal(client, client.consumer("unavailable")) == (True, "amqp:not-found")
        assert workers[0].router.addresses == {}

    def test_all_that_is_not_configured_where_that_is_unavailable(self):
        client = Workers(default_distribution=Distribution.UNAVAILABLE).client()
        assert refusal(client, client.producer("orders")) == (True, "amqp:not-found")
        assert client.consumer("closest/x").is_attached
        assert client.consumer("_local/x").is_attached
        assert client.consumer(None, source=Source(dynamic=True)).is_attached

    def test_an_answer_that_does_not_fit_the_frames_of_the_peer(self, workers):
        client = workers.client(0, max_frame_size=512)
        long = "x" * 300
        assert refusal(client, client.producer(long, "p" * 200)) == (True, "amqp:frame-size-too-small")
        assert refusal(client, client.consumer(long, "c" * 200)) == (True, "amqp:frame-size-too-small")
        assert client.producer("orders").is_attached
        client.leave()
        assert workers.left_over() == {}

    def test_a_consumer_that_does_not_say_all_that_it_has_not_settled(self, workers):
        client, other = workers.ends()
        link = client.consumer("orders", unsettled={b"a": None}, incomplete_unsettled=True)
        assert refusal(client, link) == (True, "amqp:precondition-failed")
        link.grant(5)
        producer = other.producer("orders")
        assert producer.credit == 0
        again = client.consumer("orders", credit=1)
        assert goes(workers, other, producer, client, again, message())

    def test_and_the_rest_of_the_connection_is_untouched(self):
        workers = Workers()
        client = workers.client()
        receiver = client.consumer("orders", credit=1)
        client.producer("unavailable")
        assert goes(workers, client, client.producer("orders"), client, receiver, message())


def test_a_watcher_hears_of_links():
    heard = []

    class Watcher(Observer):
        def link_attached(self, end):
            heard.append(("attached", end.link.name, end.link.is_sender))

        def link_refused(self, link, error):
            heard.append(("refused", link.name, str(error.condition)))

        def link_lost(self, end, error):
            heard.append(("lost", end.link.name, error))

        def connection_opened(self, peer, performative):
            heard.append(("opened", peer.number, performative.container_id))

        def connection_closed(self, peer, error):
            heard.append(("closed", peer.number, error))

        def violation(self, peer, error):
            heard.append(("violation", peer.number, error.condition))

    workers = Workers(observer=Watcher)
    client = workers.client()
    receiver = client.consumer("orders", "c")
    client.producer("orders", "p")
    client.producer("unavailable", "u")
    client.detach(receiver)
    client.line.server.receive_data(b"\0\0\0\0\0\0\0\0", 0.0)
    workers.pump()
    assert heard == [
        ("opened", 1, "client-1"),
        ("attached", "c", True),
        ("attached", "p", False),
        ("refused", "u", "amqp:not-found"),
        ("lost", "c", None),
        ("lost", "p", heard[5][2]),
        ("violation", 1, "amqp:connection:framing-error"),
        ("closed", 1, None),
    ]


def test_a_consumers_source_is_told_back_without_its_filter(workers):
    client = workers.client(0)
    source = Source(
        address="orders",
        durable=1,
        distribution_mode=Symbol("copy"),
        capabilities=(Symbol("queue"),),
        filter={Symbol("selector"): "x > 1"},
    )
    client.consumer(None, source=source, target=Target(address="mine"))
    [answer] = client.attaches
    source.filter = None
    assert (answer.source, answer.target) == (source, Target(address="mine"))


def test_a_producers_termini_are_told_back(workers):
    client = workers.client(0)
    client.producer(None, source=Source(address="mine"), target=Target(address="orders", durable=2))
    [answer] = client.attaches
    assert (answer.source, answer.target) == (Source(address="mine"), Target(address="orders", durable=2))


@pytest.mark.parametrize("written", ["orders", "/orders", "orders/", "orders.", "amqp:/orders", "amqps://host/orders"])
def test_an_address_may_be_written_in_several_ways(workers, written):
    client, other = workers.ends()
    receiver = other.consumer("orders", credit=1)
    assert goes(workers, client, client.producer(written), other, receiver, message())


class TestDynamic:
    def test_a_source_gets_an_address_that_reaches_it_from_everywhere(self, workers):
        client, other = workers.client(workers.last), workers.client(0)
        receivers = [client.consumer(None, source=Source(dynamic=True), credit=3) for _ in range(2)]
        addresses = [attach.source.address for attach in client.attaches]
        assert addresses == ["amqp:/_topo/0/R/temp.token1", "amqp:/_topo/0/R/temp.token2"]
        assert [attach.source.dynamic for attach in client.attaches] == [True, True]
        anonymous = other.producer(None)
        for receiver, address in zip(receivers, addresses, strict=True):
            assert goes(workers, other, other.producer(address), client, receiver, message())
            other.send(anonymous, message_to(address))
            assert client.received(receiver) == [message(), message_to(address)]
        client.detach(receivers[0])
        late = [other.send(anonymous, message_to(address)) for address in addresses]
        assert [outcome(each) for each in late] == [(RELEASED, True), (None, False)]

    def test_a_target_gets_an_address_from_which_others_receive(self, workers):
        client, other = workers.ends()
        sender = client.producer(None, target=Target(dynamic=True))
        [answer] = client.attaches
        assert (answer.target.address, answer.target.dynamic) == ("amqp:/_$temp.token1", True)
        receiver = other.consumer(answer.target.address, credit=1)
        assert goes(workers, client, sender, other, receiver, message())


class TestPlaces:
    @pytest.mark.parametrize("consuming", ["_local/x", "_topo/0/R/x"])
    @pytest.mark.parametrize("producing", ["_local/x", "_topo/0/R/x", "amqp:/_topo/0/R/x"])
    def test_this_router_has_several_names(self, workers, producing, consuming):
        client, other = workers.ends()
        receiver = other.consumer(consuming, credit=2)
        assert goes(workers, client, client.producer(producing), other, receiver, message())
        anonymous = client.producer(None)
        client.send(anonymous, message_to(producing))
        assert other.received(receiver) == [message(), message_to(producing)]
        assert outcome(client.send(anonymous, message_to("x"))) == (RELEASED, True)

    def test_another_router_can_be_named_and_gives_no_credit(self, workers):
        client = workers.client(0)
        sender = client.producer("_topo/0/Q/x")
        assert (sender.is_attached, sender.credit) == (True, 0)

    def test_a_mobile_address_is_no_local_one(self, workers):
        client = workers.client(0)
        client.consumer("_local/x", credit=1)
        assert client.producer("x").credit == 0


class TestWaypoints:
    def test_messages_go_by_the_phases_of_the_address(self):
        workers = Workers()
        client = workers.client()
        out = client.consumer("waypoint/x", credit=1)
        sender = client.producer("waypoint/x")
        assert (sender.credit, client.received(out)) == (0, [])
        assert sorted(workers[0].router.addresses) == ["M0waypoint/x", "M1waypoint/x"]

    def test_one_that_claims_to_be_a_waypoint_is_in_between(self, workers):
        client, waypoint = workers.ends()
        capable = (Symbol("qd.waypoint"),)
        inward = waypoint.consumer(None, source=Source(address="waypoint/x", capabilities=capable), credit=1)
        outward = waypoint.producer(None, target=Target(address="waypoint/x", capabilities=capable))
        receiver = client.consumer("waypoint/x", credit=1)
        assert goes(workers, client, client.producer("waypoint/x"), waypoint, inward, message())
        assert client.received(receiver) == []
        assert goes(workers, waypoint, outward, client, receiver, message("again"))

    @pytest.mark.parametrize(
        ("capability", "inward", "outward"),
        [
            ("qd.waypoint", 0, 1),
            ("qd.waypoint.1", 0, 1),
            ("qd.waypoint.2", 1, 2),
            ("qd.waypoint.9", 8, 9),
            ("qd.waypoint.12", 8, 9),
            ("qd.waypoint.0", 0, 0),
            ("qd.waypoints", 0, 0),
            ("qd.waypoint.x", 0, 0),
            ("queue", 0, 0),
        ],
    )
    def test_their_number_says_between_which_phases(self, capability, inward, outward):
        workers = Workers()
        client = workers.client()
        client.consumer(None, source=Source(address="x", capabilities=(Symbol(capability),)))
        client.producer(None, target=Target(address="x", capabilities=(Symbol(capability),)))
        assert sorted(workers[0].router.addresses) == sorted({f"M{inward}x", f"M{outward}x"})


class TestTenants:
    def test_each_has_addresses_of_its_own(self, workers):
        ends = []
        for hostname in ("a", "b", None):
            client = workers.client(0, peer={"is_multi_tenant": True}, hostname=hostname)
            other = workers.client(
                workers.last, peer={"is_multi_tenant": True}, hostname=hostname
            )
            ends.append((client, other, other.consumer("orders", credit=2)))
        for number, (client, other, receiver) in enumerate(ends):
            assert goes(workers, client, client.producer("orders"), other, receiver, message(str(number)))
            client.send(client.producer(None), message_to("orders"))
            assert other.received(receiver) == [message(str(number)), message_to("orders")]

    def test_they_share_the_places_of_the_router(self, workers):
        client = workers.client(0, peer={"is_multi_tenant": True}, hostname="a")
        other = workers.client(workers.last)
        receiver = other.consumer("_local/x", credit=1)
        assert goes(workers, client, client.producer("_local/x"), other, receiver, message())

    def test_their_addresses_are_configured_with_their_names(self):
        workers = Workers()
        client = workers.client(peer={"is_multi_tenant": True}, hostname="multicast")
        receivers = [client.consumer("orders", credit=1) for _ in range(2)]
        client.send(client.producer("orders"), message())
        assert [client.received(receiver) for receiver in receivers] == [[message()]] * 2

    def test_a_listener_of_one_tenant_takes_no_heed_of_hostnames(self):
        workers = Workers()
        client = workers.client(hostname="a")
        client.consumer("orders")
        assert list(workers[0].router.addresses) == ["M0orders"]


def test_an_attach_that_is_over_when_it_could_be_answered_is_left_alone():
    workers = Workers(2)
    client, other = workers.client(0), workers.client(0)
    workers.holds_confirmations = True
    gone = client.consumer("orders")
    staying = other.consumer("orders")
    failing = client.another_session()
    broken = client.consumer("orders", session=failing)
    lone = other.consumer("offers")
    # Of one the session has failed and its end is not answered yet, of another the connection is lost.
    client.line.holds.add(client.connection)
    [server] = [session for session in client.server.sessions() if session.channel == failing.channel]
    server.end()
    workers.holds_confirmations = False
    workers.pump()
    assert [link.is_attached for link in (gone, staying, broken, lone)] == [True, True, False, True]
    client.line.holds.clear()
    workers.pump()
    assert workers[0].router.addresses["M0orders"].local_count == 2


def test_an_attach_may_be_over_before_it_is_answered():
    workers = Workers(2)
    client = workers.client(0)
    workers.holds_confirmations = True
    client.consumer("orders")
    client.vanish()
    workers.holds_confirmations = False
    workers.pump()
    assert workers.left_over() == {}
