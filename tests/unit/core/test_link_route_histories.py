"""Histories of routed links over workers, trunks and edge routers, drawn by seed: in the end nothing is left of them.

Clients and containers attach, send, decide, detach and vanish; uplinks and trunks are lost and made anew.
"""

import random

import pytest

from tests.routers import message
from tests.unit.core.edge_routers import EdgeMesh
from tests.unit.core.test_edge_link_routes import answer_requests, check_nothing_left, container_at, deactivate, tick

SEEDS = range(40)
STEPS = 60
PATIENCE_S = 130


class History:
    """One of them."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.mesh = EdgeMesh()
        for name, workers in (("I", 2), ("J", 1)):
            self.mesh.add(name, workers)
            answer_requests(self.mesh[name])
        self.trunk = self.mesh.join("I", "J")
        self.uplink = self.mesh.hang("E", "I", at=seed % 2)
        self.clients = []
        self.containers = []
        self.links = []

    def step(self):
        actions = (
            *(self.attach, self.attach, self.attach, self.send, self.send, self.send, self.detach, self.answer_back),
            *(self.come, self.contain, self.vanish, self.lose_container, self.lose_uplink, self.lose_trunk),
        )
        self.dice.choice(actions)()
        self.mesh.pump()
        self.links = [(client, link) for client, link in self.links if link.is_attached]
        if self.dice.random() < 0.2:
            tick(self.mesh, self.dice.choice((1, 4)))

    def router(self):
        name = self.dice.choice("EIJ")
        return self.mesh[name], self.dice.randrange(2) if name == "I" else 0

    def come(self):
        joined, worker = self.router()
        self.clients.append(joined.client(worker, container_id=self.dice.choice(("same", "other"))))

    def contain(self):
        joined, worker = self.router()
        container = container_at(joined, "lr/#", worker)
        self.containers.append(container)

    def attach(self):
        if not self.clients:
            self.come()
        client = self.dice.choice(self.clients)
        address = self.dice.choice(("lr.a", "lr.b"))
        name = self.dice.choice(("", "name"))
        if (name and client.connection.links.find(name, True)) or client.connection.links.find(name, False):
            name = ""
        if self.dice.random() < 0.5:
            link = client.producer(address, name)
        else:
            link = client.consumer(address, name, credit=self.dice.randrange(5))
        if link.is_attached:
            self.links.append((client, link))

    def send(self):
        """Let an end of a link use its credit, partly with a part of a message."""
        for one in [*self.clients, *self.containers]:
            for link in list(one.links.values()):
                if not link.is_attached:
                    continue
                if not link.is_sender:
                    if self.dice.random() < 0.5:
                        link.grant(self.dice.randrange(1, 4))
                elif link.credit > 0 and link.current is None and self.dice.random() < 0.5:
                    settled = self.dice.random() < 0.3
                    if self.dice.random() < 0.2:
                        one.stream(link, message()[:5], settled=settled, ends=False)
                    else:
                        one.send(link, message(), settled=settled)

    def answer_back(self):
        """Let those who receive decide about what they have."""
        for one in [*self.clients, *self.containers]:
            for deliveries in one.unsettled.values():
                for delivery in deliveries:
                    is_there = delivery.link.is_attached and not delivery.settled
                    if is_there and not delivery.is_partial and self.dice.random() < 0.5:
                        self.dice.choice((delivery.accept, delivery.release))()

    def detach(self):
        if self.links:
            _, link = self.dice.choice(self.links)
            link.detach(closed=self.dice.random() < 0.8)

    def vanish(self):
        if self.clients:
            self.clients.pop(self.dice.randrange(len(self.clients))).vanish()

    def lose_container(self):
        if self.containers:
            container = self.containers.pop(self.dice.randrange(len(self.containers)))
            deactivate(container)
            container.vanish()

    def lose_uplink(self):
        if self.dice.random() < 0.4:
            self.uplink.line.cut()
            self.mesh.pump()
            self.uplink = self.mesh.hang("E", "I", at=self.dice.randrange(2))

    def lose_trunk(self):
        if self.dice.random() < 0.4:
            self.trunk.cut()
            self.mesh.pump()
            self.trunk = self.mesh.join("I", "J", at=(self.dice.randrange(2), 0))

    def end(self):
        for container in self.containers:
            deactivate(container)
        for one in self.dice.sample([*self.clients, *self.containers], len(self.clients) + len(self.containers)):
            one.vanish() if self.dice.random() < 0.5 else one.leave()
        tick(self.mesh, PATIENCE_S)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_left_in_the_end(seed):
    history = History(seed)
    for _ in range(STEPS):
        history.step()
    history.end()
    check_nothing_left(history.mesh)
    for joined in (*history.mesh.routers.values(), *history.mesh.edges.values()):
        for worker in joined.workers.values():
            patterns = worker.router.link_routes.patterns.values()
            assert [one.containers for one in patterns if one.containers] == []
            assert worker.router.connection_routes.by_peer == {}
            for peer in worker.router.peers.values():
                for session in peer.connection.sessions():
                    left = [link for link in session.links() if link.is_relayed]
                    assert left == []
