"""Exchanges of routers in a network, and of edge routers: messages that come from other routers, and go to them."""

import pytest

from routerd.wire import ACCEPTED, RELEASED, Error, Message, Rejected, Source, Symbol, Target
from tests.unit.core.edge_routers import EdgeMesh
from tests.unit.core.exchanges import Exchanging, about

NO = Rejected(error=Error(condition="amqp:decode-error"))
PLACES = [(host, start, end) for host in "IEP" for start in "IEPG" for end in "IEPG"]


@pytest.fixture
def mesh():
    """I and P joined; E is at I, G at P."""
    mesh = EdgeMesh("I", "P")
    mesh.join("I", "P")
    mesh.hang("E", "I")
    mesh.hang("G", "P")
    return mesh


def exchanging_at(mesh, host, **options):
    exchanging = Exchanging(mesh[host])
    exchanging.add(**options)
    return exchanging


def outcome(delivery):
    return delivery.remote_state if delivery.remote_settled else None


@pytest.mark.parametrize(("host", "start", "end"), PLACES)
@pytest.mark.parametrize("hop", ["orders", "multicast/a", "closest/a"])
def test_a_message_reaches_the_consumer_and_its_outcome_the_producer(mesh, host, start, end, hop):
    exchanging = exchanging_at(mesh, host)
    exchanging.bind("a.#", hop)
    there, here = mesh[end].client(), mesh[start].client()
    consumer = there.consumer(hop, credit=10)
    sender = here.producer("topic")
    delivery = here.send(sender, about("a.b"))
    assert there.received(consumer) == [about("a.b")]
    there.latest(consumer).update(NO, True)
    mesh.pump()
    assert outcome(delivery) == NO
    assert outcome(here.send(sender, about("b"))) == RELEASED
    here.send(sender, about("a.c"), settled=True)
    assert there.received(consumer)[1:] == [about("a.c")]


@pytest.mark.parametrize("host", "IE")
@pytest.mark.parametrize("phase", [0, 1, 3])
def test_phases_count_over_routers(mesh, host, phase):
    exchanging = exchanging_at(mesh, host, phase=phase)
    exchanging.bind("a", "x", phase=phase)
    there, here = mesh["G"].client(), mesh["P"].client()
    source = Source(address="x", capabilities=(Symbol(f"qd.waypoint.{phase + 1}"),))
    consumer = there.consumer(None, source=source, credit=10)
    target = Target(address="topic", capabilities=(Symbol(f"qd.waypoint.{phase}"),))
    delivery = here.send(here.producer(None, target=target), about("a"))
    assert there.received(consumer) == [about("a")]
    there.latest(consumer).accept()
    mesh.pump()
    assert outcome(delivery) == ACCEPTED


def test_the_way_of_a_message_begins_anew_at_the_exchange(mesh):
    exchanging = exchanging_at(mesh, "P")
    exchanging.bind("a", "x")
    there, here = mesh["I"].client(peer={"strips_out": False}), mesh["I"].client()
    consumer = there.consumer("x", credit=10)
    here.send(here.producer("topic"), about("a"))
    [octets] = there.received(consumer)
    annotations = Message.decode(octets).message_annotations
    assert annotations[Symbol("x-opt-qd.ingress")] == "0/P"
    assert annotations[Symbol("x-opt-qd.trace")][0] == "0/P"
    assert annotations[Symbol("x-opt-qd.trace")][-1] == "0/I"


def test_a_next_hop_elsewhere_is_none_once_its_consumers_have_left(mesh):
    exchanging = exchanging_at(mesh, "E", alternate="rest")
    exchanging.bind("a", "x")
    there, here = mesh["G"].client(), mesh["E"].client()
    consumer = there.consumer("x", credit=10)
    rest = there.consumer("rest", credit=10)
    sender = here.producer("topic")
    here.send(sender, about("a", "1"))
    there.detach(consumer)
    here.send(sender, about("a", "2"))
    assert (there.received(consumer), there.received(rest)) == ([about("a", "1")], [about("a", "2")])


def test_a_large_message_passes_over_routers(mesh):
    exchanging = exchanging_at(mesh, "I")
    exchanging.bind("a", "x")
    exchanging.bind("a", "y")
    there, here = mesh["G"].client(), mesh["P"].client()
    consumers = [there.consumer(hop, credit=10) for hop in "xy"]
    sender = here.producer("topic")
    octets = about("a", bytes(400_000))
    delivery = here.stream(sender, octets[:150_000], octets[150_000:])
    assert [there.received(one) for one in consumers] == [[octets], [octets]]
    for one in consumers:
        there.latest(one).accept()
    mesh.pump()
    assert outcome(delivery) == ACCEPTED
