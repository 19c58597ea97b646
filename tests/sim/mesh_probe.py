"""Messages from every router to every address, in a mesh at rest: they must come where they belong."""

from typing import TYPE_CHECKING

from tests.sim.actions import ADDRESSES
from tests.sim.client import Client
from tests.sim.ledger import Sent
from tests.sim.mesh_checks import consumers_at
from tests.sim.mesh_protocol import cost_of, tree_from
from tests.sim.mesh_rest import finish_messages
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.links import Consumer
    from tests.sim.mesh_simulation import MeshSimulation

STEP_S = 0.5
OPEN_S = 1.0
PROBED_MAX = 6
"""Routers from which messages are sent at a time."""


def probe(simulation: "MeshSimulation") -> None:
    """Send one message to each address from each of some routers, and check who gets them; nothing else may happen."""
    random = simulation.world.random
    routers = sorted(simulation.routers)
    sent: list[Sent] = []
    simulation.note("probe")
    simulation.is_finishing = True
    finish_messages(simulation)
    clients = [_come(simulation, index) for index in random.sample(routers, min(PROBED_MAX, len(routers)))]
    simulation.world.run_for(OPEN_S)
    for client in clients:
        for address in ADDRESSES:
            client.produce(address).is_settling = 0.0
    simulation.world.run_for(OPEN_S)
    for client in clients:
        for producer in client.producers:
            if producer.can_send:
                producer.is_streaming = False
                producer.send(str(producer.address))
                sent.append(simulation.ledger.sent[-1])
    simulation.world.run_for(STEP_S)
    finish_messages(simulation)
    simulation.is_finishing = False
    for one in sent:
        check_probe(simulation, one)
    for client in clients:
        client.leave()
    simulation.world.run_for(OPEN_S)


def _come(simulation: "MeshSimulation", index: int) -> Client:
    client = simulation.new_client()
    simulation.absent.remove(client)
    client.come(index)
    return client


def check_probe(simulation: "MeshSimulation", sent: Sent) -> None:
    """Check who got a message."""
    got = [receipt.consumer for receipt in sent.receipts]
    if sent.is_multicast:
        missing = [each for each in sent.audience if each not in got and not _may_lack_it(each, sent)]
        if missing or len(set(map(id, got))) < len(got):
            raise Broken(f"{sent} came to {got}, and should have come to {sent.audience} once each")
    elif not got and not any(_may_lack_it(each, sent) for each in simulation.consumers_of(sent.address)):
        raise Broken(f"{sent} is {sent.outcome!r}, and came to nobody")
    elif got and sent.address.startswith("closest"):
        _check_nearest(simulation, sent, got[0])


def _may_lack_it(consumer: "Consumer", sent: Sent) -> bool:
    return consumer.wants_settled or 0 < consumer.link.max_message_size < len(sent.expected) + 100


def _check_nearest(simulation: "MeshSimulation", sent: Sent, consumer: "Consumer") -> None:
    links = simulation.links()
    start, end = (simulation.routers[one.client.worker] for one in (sent.producer, consumer))
    paths = tree_from(start.interior, links) if start.interior in links else {}
    key = f"M0{sent.address}"
    # To what an edge router has itself it sends nothing over its uplink.
    costs = {start.id: -1 if start.is_edge else 0} | {
        host.id: cost_of(paths[host.interior], links)
        for host in simulation.alive()
        if host is not start and host.interior in paths
    }
    able = {host.id for host in simulation.alive() if key in consumers_at(simulation, host)}
    costs = {id: cost for id, cost in costs.items() if id in able}
    if costs[end.id] > min(costs.values()):
        raise Broken(f"{sent} came to {end.id}, though there are nearer ones: {costs}")
