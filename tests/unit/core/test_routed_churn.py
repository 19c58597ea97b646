"""Routed links that come and go by the thousand, with ends that are killed: nothing is left of them in any router."""

import gc
import sys
from collections import Counter

import pytest

from routerd.core import ROUTE_CONTAINER, LinkRouteSettings
from routerd.wire import Source, Target
from tests.routers import message
from tests.unit.core.joined_routers import Mesh
from tests.unit.core.routed import IN, OUT, Container

BLOCKS_MAX = 200
"""Blocks of memory that may be used afterwards and not before: less than one for each link."""
PARTS_MAX = 5
"""Parts of a run, of which one at least must leave no more than that."""


class Churn:
    """Two routers, and for each round a client of the one and a container of the other."""

    def __init__(self, links):
        self.links = links
        """Those of a round: half of them send, half receive, and each has a message under way."""
        self.mesh = Mesh("A", "B")
        self.mesh.join("A", "B")
        for direction in (IN, OUT):
            route = LinkRouteSettings(name=direction.value, pattern="lr/#", direction=direction, container_id="broker")
            self.mesh["B"].router.link_route_uses.add(route)
        self.rounds = 0
        self.attached = 0

    def run(self, rounds):
        """Have links come, and each time go in another way."""
        for _ in range(rounds):
            way = WAYS[self.rounds % len(WAYS)]
            self.rounds += 1
            client = self.mesh["A"].client(container_id="c1")
            container = self.mesh["B"].client(container_id="broker", kind=Container, peer={"role": ROUTE_CONTAINER})
            container.answers_links = way is not vanish_before_the_answer
            self._attach(client, container)
            way(self.mesh, client, container)
            self.mesh.pump()
            for one in (client, container):
                if not one.line.is_cut:
                    one.leave()
            self._forget()

    def _attach(self, client, container):
        senders = [client.session.sender(f"in {number}") for number in range(self.links // 2)]
        receivers = [client.session.receiver(f"out {number}") for number in range(self.links // 2)]
        for link in senders:
            link.attach(source=Source(), target=Target(address="lr.q"))
        for link in receivers:
            link.attach(source=Source(address="lr.q"), target=Target())
            link.grant(2)
        self.mesh.pump()
        self.attached += len(container.attaches)
        if container.answers_links:
            for link in container.links.values():
                if link.is_sender:
                    link.send(message())
                else:
                    link.grant(2)
            self.mesh.pump()
            for link in senders:
                link.send(message())
            self.mesh.pump()

    def _forget(self):
        """Have nothing kept here but what is in the routers."""
        for router in self.mesh.routers.values():
            router.take_events()
            router[0].router.awake = []
            for lines in (router.lines, router[0].lines):
                lines[:] = [line for line in lines if not line.is_cut]
        self.mesh.trunks[:] = [trunk for trunk in self.mesh.trunks if not trunk.line.is_cut]


def detach_by_the_client(mesh, client, container):
    for link in client.session.links():
        link.detach()


def detach_by_the_container(mesh, client, container):
    for link in container.links.values():
        link.detach(closed=False)


def detach_by_both(mesh, client, container):
    detach_by_the_client(mesh, client, container)
    detach_by_the_container(mesh, client, container)


def end_the_client_s_session(mesh, client, container):
    client.session.end()


def end_the_container_s_sessions(mesh, client, container):
    for link in container.links.values():
        link.session.end()


def leave(mesh, client, container):
    client.leave()


def vanish(mesh, client, container):
    client.vanish()


def vanish_before_the_answer(mesh, client, container):
    client.vanish()


def lose_the_container(mesh, client, container):
    container.vanish()


def lose_both(mesh, client, container):
    client.line.cut()
    container.line.cut()


def lose_the_trunk(mesh, client, container):
    mesh.trunks[0].cut()
    mesh.join("A", "B")


WAYS = (
    detach_by_the_client,
    detach_by_the_container,
    detach_by_both,
    end_the_client_s_session,
    end_the_container_s_sessions,
    leave,
    vanish,
    vanish_before_the_answer,
    lose_the_container,
    lose_both,
    lose_the_trunk,
)


def in_use():
    """How many objects of the router there are of each class, and how many blocks of memory are used."""
    gc.collect()
    classes = [type(one) for one in gc.get_objects()]
    found = Counter(one.__qualname__ for one in classes if str(one.__module__).startswith("routerd."))
    del classes
    return found, sys.getallocatedblocks()


def check_links_leave_nothing(rounds, links, rounds_before):
    """Links that leave something do so in every part; tables and free lists of the interpreter find their size."""
    churn = Churn(links)
    churn.run(rounds_before)
    blocks_left = []
    while not blocks_left or (min(blocks_left) >= BLOCKS_MAX and len(blocks_left) < PARTS_MAX):
        objects, blocks = in_use()
        churn.run(rounds)
        objects_after, blocks_after = in_use()
        assert objects_after == objects
        blocks_left.append(blocks_after - blocks)
    assert churn.attached == churn.rounds * links
    assert min(blocks_left) < BLOCKS_MAX


def test_links_that_come_and_go_leave_nothing_behind():
    check_links_leave_nothing(2 * len(WAYS), links=20, rounds_before=2 * len(WAYS))


@pytest.mark.soak
def test_a_hundred_thousand_links_that_come_and_go_leave_nothing_behind():
    # Tables and free lists of the interpreter have found their size after some 150 rounds.
    check_links_leave_nothing(63 * len(WAYS), links=100, rounds_before=28 * len(WAYS))
