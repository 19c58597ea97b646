"""The endpoints for tests of clients."""

import pytest

from routerd.core import LinkKeeper, LoopBack, add_built_in_endpoints
from routerd.wire import ACCEPTED, Error, LinkState, Message, Rejected, Source, Symbol, Target, UInt
from tests.routers import Client, Workers, message, outcome

PREFIX = "org.apache.qpid.dispatch.router/test/"
WRONG = Error(condition=Symbol("x:wrong"), description="it went wrong")


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def workers(request):
    workers = Workers(request.param)
    for worker in workers.workers.values():
        add_built_in_endpoints(worker.router, workers.now, is_host=worker.index == 0)
    workers.lines += [peer.shell for peer in workers[0].router.peers.values() if isinstance(peer.shell, LoopBack)]
    workers.pump()
    return workers


@pytest.fixture
def client(workers):
    """A client at the last worker."""
    return workers.client(workers.last)


def refusals(client):
    """What the client was told of links that were closed."""
    return [(event[1], event[3]) for event in client.take() if event[0] == "link detached"]


@pytest.mark.parametrize(("name", "told"), [("sink", ACCEPTED), ("discard", Rejected())])
def test_messages_are_taken(workers, client, name, told):
    link = client.producer(PREFIX + name)
    deliveries = [client.send(link, message(str(number))) for number in range(300)]
    assert [outcome(each) for each in deliveries] == [(told, True)] * 300


@pytest.mark.parametrize(("name", "settled"), [("source", False), ("source_ps", True)])
def test_messages_are_made_without_end(workers, client, name, settled):
    link = client.consumer(PREFIX + name, credit=3)
    for _ in range(200):
        for delivery in client.unsettled.pop(link.name, []):
            assert delivery.remote_settled is settled
            delivery.accept()
        link.grant(3)
        workers.pump()
    numbers = [Message.decode(each).application_properties for each in client.received(link)]
    assert numbers == [{"sequence": UInt(number)} for number in range(603)]


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("deny", Client.producer),
        ("deny", Client.consumer),
        ("sink", Client.consumer),
        ("discard", Client.consumer),
        ("source", Client.producer),
        ("source_ps", Client.producer),
    ],
)
def test_the_other_direction_is_refused(workers, client, name, end):
    end(client, PREFIX + name, "link")
    assert refusals(client) == [("link", "qd:forbidden")]


def test_other_addresses_are_as_ever(client):
    assert client.producer(None).is_attached
    assert client.consumer(PREFIX + "other").is_attached
    assert client.producer("orders", target=Target(dynamic=True, address=None)).is_attached


@pytest.mark.parametrize("is_sender", [False, True])
def test_a_link_is_answered_by_its_mirror_image(workers, client, is_sender):
    client.answers = False
    attach = client.producer if is_sender else client.consumer
    termini = {"source": Source(address=PREFIX + "echo"), "target": Target(address=PREFIX + "echo")}
    link = attach(None, "mine", **termini)
    mirror = client.links["echo of mine"]
    assert (mirror.is_sender, link.state, mirror.state) == (not is_sender, LinkState.ATTACH_SENT, LinkState.ATTACH_RCVD)
    assert (mirror.remote_source, mirror.remote_target) == (termini["source"], termini["target"])
    mirror.attach(**termini)
    workers.pump()
    assert link.is_attached
    assert (link.remote_source, link.remote_target) == (termini["source"], termini["target"])
    client.take()
    link.detach(error=WRONG)
    workers.pump()
    assert refusals(client) == [("mine", None), ("echo of mine", "x:wrong")]


def test_a_mirror_image_that_is_detached_detaches_its_link(workers, client):
    client.consumer(PREFIX + "echo", "mine")
    client.take()
    client.detach(client.links["echo of mine"], error=WRONG)
    assert refusals(client) == [("echo of mine", None), ("mine", "x:wrong")]


def test_a_mirror_image_whose_link_is_gone_is_not_kept(workers, client):
    client.answers = False
    link = client.consumer(PREFIX + "echo", "mine")
    link.detach()
    workers.pump()
    mirror = client.links["echo of mine"]
    mirror.attach()
    workers.pump()
    assert (link.state, mirror.state) == (LinkState.DETACHED, LinkState.DETACHED)


def test_what_is_sent_to_an_echo_is_ignored(workers, client):
    client.producer(PREFIX + "echo", "mine")
    mirror = client.links["echo of mine"]
    mirror.grant(1)
    workers.pump()
    assert client.received(mirror) == []
    client.vanish()
    peers = workers[workers.last].router.peers.values()
    assert [peer for peer in peers if peer.is_external] == []


def test_a_keeper_that_keeps_nothing_changes_nothing():
    workers = Workers()
    workers[0].router.keeping.keepers["M0orders"] = LinkKeeper()
    client = workers.client()
    assert client.consumer("orders", credit=1).is_attached
    assert client.producer("orders").credit == 250
