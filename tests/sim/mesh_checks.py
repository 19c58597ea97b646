"""What must hold in a router of a mesh at any time, and in the whole mesh once it has been left alone."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from routerd.core import HINTS, UPLINK, AddressSpace, Treatments
from tests.sim.checks import check, check_quiet
from tests.sim.mesh_ledger import trace_of
from tests.sim.mesh_protocol import Links, cost_of, tree_from
from tests.sim.network import Line, is_quiet
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.mesh_router import MeshRouter
    from tests.sim.mesh_simulation import MeshSimulation

Trees = dict[str, dict[str, list[str]]]
STEP_S = 0.001
SILENCE_S = 30.0
"""Within this time there is a moment at which nothing is on its way on a line, whatever routers tell each other."""
LINKS_OF_A_TRUNK = 22
WITHOUT_TAKERS_S = 2.2
"""A message waits for news of whoever may take it for a second, and a second more for a look at it."""


@dataclass
class Silence:
    """A line at a moment of silence, for the checks that are those of a single router."""

    lines: list[Line]
    is_whole: bool = True

    @property
    def hosts(self) -> dict[int, Any]:
        """No workers with a table."""
        return {}


def check_router(host: "MeshRouter") -> None:
    """Check that no link has more under way than it may have, and that no count is below nothing.

    Nor has another router settled a part of a message: a qdrouterd takes no notice of that, and keeps the message.
    """
    for peer in host.router.peers.values():
        for inlet in peer.inlets:
            # Texts are for what is broken only: this is done at the end of each turn of each router.
            if _has_too_much(inlet):
                raise Broken(f"{host.id}: {_account_of(inlet)}")
        for outlet in peer.outlets if peer.is_router or peer.is_edge else ():
            if outlet.side is not None and outlet.side.outstanding < 0:
                raise Broken(f"{host.id}: {outlet.side.outstanding} under way beside {outlet.link.name}")
            out = outlet.link.current
            if out is not None and out.remote_settled:
                raise Broken(f"{host.id}: the other end of {outlet.link.name} has settled a part of a message")
    for address in host.router.addresses.values():
        for route in address.routes:
            if route.outstanding < 0:
                raise Broken(f"{host.id}: {route.outstanding} under way for {address.key}")


class Vain:
    """The messages at one router that wait for nobody, and since when they do."""

    def __init__(self, host: "MeshRouter") -> None:
        self._host = host
        self._since: dict[Any, float] = {}

    def check(self) -> None:
        """Check that none of them has waited for long."""
        host, now = self._host, self._host.world.now
        before, self._since = self._since, {}
        for address in host.router.addresses.values():
            for one in _waiting_for_nobody(address):
                since = self._since[one] = before.get(one, now)
                if now - since > WITHOUT_TAKERS_S:
                    raise Broken(f"{host.id}: a message for {address.key} has waited for nobody since {since:.4f}")

    def forget(self) -> None:
        """Begin anew: the router did nothing for a while."""
        self._since.clear()


def _waiting_for_nobody(address: Any) -> list[Any]:
    """Return the message that waits in front of others where nobody can take it, of each queue."""
    found = []
    if address.local_count == 0 and address.parked_from_siblings:
        found.append(address.parked_from_siblings[0])
    if address.local_count == 0 and address.remote_count == 0:
        found += [queue[0] for queue in (address.parked, address.parked_from_trunks) if queue]
    return [one for one in found if not address.routes or _has_passed(address, one)]


def _has_passed(address: Any, parked: Any) -> bool:
    """Whether a message that waits came by all the neighbours to which it could go."""
    if parked.inlet.trunk is None or not parked.is_complete:
        return False
    passed = trace_of(bytes(parked.octets))
    return all(route.next_hop in passed for route in address.routes)


def _has_too_much(inlet: Any) -> bool:
    credit = inlet.link.credit
    if inlet.waiting < 0 or inlet.parked < 0 or credit > inlet.capacity:
        return True
    # Routers give credit back at once. A message that is just coming is not counted as waiting before it is known
    # where it goes.
    is_counted = credit > 0 and inlet.trunk is None
    return is_counted and credit + inlet.link.unsettled_count + inlet.waiting > inlet.capacity + 1


def _account_of(inlet: Any) -> str:
    return (
        f"{inlet.link.name} has credit {inlet.link.credit}, {inlet.link.unsettled_count} unsettled, "
        f"{inlet.waiting} waiting and {inlet.parked} parked, of {inlet.capacity}"
    )


# --- the network


def check_network(simulation: "MeshSimulation") -> None:
    """Check that every router knows the paths and the addresses, and that producers have the credit that follows."""
    links = simulation.links()
    trees = {id: tree_from(id, links) for id in links}
    consumers = {host.id: consumers_at(simulation, host) for host in simulation.alive()}
    wanted = {host.id: wanted_at(simulation, host, consumers) for host in simulation.alive()}
    for host in simulation.interiors():
        _check_routes(simulation, host, trees, links)
        _check_addresses(host, trees[host.id], wanted)
    for host in simulation.alive():
        check_router(host)
        own = {interest.key: interest.consumers for interest in host.router.siblings.all_interests().interests}
        check(own == wanted[host.id], f"{host.id} takes others to want {own}, and not {wanted[host.id]}")
        reached = [] if host.interior is None else [*trees.get(host.interior, ())]
        _check_credit(host, [host.id, *(one for one in _with_edges(simulation, reached) if one != host.id)], consumers)
        for address in host.router.addresses.values():
            passes_by = address.routes or address.key[:1] == "R" or address.key == UPLINK
            check(bool(passes_by or not address.is_idle), f"{host.id} keeps {address.key}, which nobody uses")


def _with_edges(simulation: "MeshSimulation", interiors: list[str]) -> list[str]:
    return [host.id for host in simulation.alive() if host.interior in interiors]


def consumers_at(simulation: "MeshSimulation", host: "MeshRouter") -> dict[str, int]:
    """Return by key how many consumers clients have at a router, as these know it."""
    space = AddressSpace(host.id, is_edge=host.is_edge)
    found: dict[str, int] = {}
    for client in simulation.clients:
        if client.worker == host.index:
            for consumer in client.consumers:
                if consumer.is_attached:
                    key = space.key(consumer.address)
                    found[key] = found.get(key, 0) + 1
    return found


def wanted_at(simulation: "MeshSimulation", host: "MeshRouter", consumers: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return by key how many links a router has to consumers, edge routers among them."""
    found = dict(consumers[host.id])
    for edge in simulation.alive():
        if edge.is_edge and edge.interior == host.id:
            for key in [*consumers[edge.id], f"H{edge.id}"]:
                if key[:1] in ("M", "H"):
                    found[key] = found.get(key, 0) + 1
            for key in _reply_keys(edge):
                found[key] = 1
    return found


def _reply_keys(edge: "MeshRouter") -> list[str]:
    """Return the keys at which the interior router of an edge router sends it answers: of dynamic sources."""
    uplinks = [peer for peer in edge.router.peers.values() if peer.trunk is not None]
    links = [inlet.link for peer in uplinks for inlet in peer.inlets if inlet.link.is_attached]
    addresses = [link.remote_source.address for link in links if link.remote_source.dynamic]
    return [f"L{address.rpartition('/')[2]}" for address in addresses]


def _check_routes(simulation: "MeshSimulation", host: "MeshRouter", trees: Trees, links: Links) -> None:
    network = host.router.directory.network
    told = {other: (route.next_hop, route.cost, route.trunk) for other, route in network.routes.items()}
    paths = {other: path for other, path in trees[host.id].items() if other != host.id}
    true = {
        other: (path[1], cost_of(path, links), _best_trunk(simulation, host, path[1])) for other, path in paths.items()
    }
    if told != true:
        wrong = {one: (told.get(one), true.get(one)) for one in told | true if told.get(one) != true.get(one)}
        raise Broken(f"the routes of {host.id}, as told and as they are: {wrong}")
    radius = max((len(path) - 1 for path in paths.values()), default=0)
    check(network.radius == radius, f"the radius of {host.id} is {network.radius}, not {radius}")
    through = {
        origin: frozenset(other for other, path in tree.items() if host.id in path[1:-1])
        for origin, tree in trees.items()
    }
    through = {origin: others for origin, others in through.items() if others}
    check(dict(network.through) == through, f"what leads through {host.id} is {network.through}, and not {through}")


def _best_trunk(simulation: "MeshSimulation", host: "MeshRouter", neighbour: str) -> int:
    """Return the trunk to use to a neighbour: the cheapest, and of these the one with the lowest number."""
    found = []
    for line in simulation.trunks:
        for router, other, end in zip(line.routers, line.routers[::-1], line.ends, strict=True):
            if router is host and other.id == neighbour and line.is_whole:
                cost = max(end.connection.context.cost for end in line.ends)
                found.append((cost, end.connection.context.number))
    return min(found)[1]


def _check_addresses(host: "MeshRouter", reached: dict[str, Any], wanted: dict[str, dict[str, int]]) -> None:
    treatments = Treatments(host.settings)
    mapping = {mapped.router: dict(mapped.added) for mapped in host.router.directory.network.mapping()}
    for other in reached:
        if other == host.id:
            continue
        keys = [key for key in wanted[other] if key[:1] in ("M", "H")]
        true = {key: HINTS[treatments.of_key(key).distribution] for key in keys}
        told = mapping.get(other, {})
        check(told == true, f"{host.id} believes that {other} has {told}, and it has {true}")


def _check_credit(host: "MeshRouter", reached: list[str], consumers: dict[str, dict[str, int]]) -> None:
    """Producers have credit if there are consumers, and none if not."""
    for peer in host.router.peers.values():
        for inlet in peer.inlets:
            if inlet.address is None or inlet.trunk is not None:
                continue
            key = inlet.address.key
            places = reached if key[:1] == "M" else [host.id]
            number = sum(consumers[place].get(key, 0) for place in places)
            is_midway = inlet.current is not None or inlet.collected is not None
            credit, under_way = inlet.link.credit, inlet.link.unsettled_count + inlet.waiting + is_midway
            name = f"{host.id}: {inlet.link.name} to {key}"
            if number == 0:
                check(credit == 0, f"{name} has credit {credit}, and there is no consumer")
            else:
                # What is settled or leaves brings new credit.
                check(credit + under_way > 0, f"{name} has no credit, and there are {number} consumers")


# --- lines


def check_lines(simulation: "MeshSimulation") -> None:
    """Check each line, in a moment of silence, that both its ends know the same of it."""
    left: list[Line] = [*simulation.lines, *simulation.trunks]
    end = simulation.world.now + SILENCE_S
    while left:
        check(simulation.world.now < end, f"{len(left)} lines are never silent")
        silent = [line for line in left if line.is_over or is_quiet(line)]
        check_quiet(Silence(silent))  # type: ignore[arg-type]
        left = [line for line in left if line not in silent]
        simulation.world.run_for(STEP_S)


# --- what is left


def check_settled(simulation: "MeshSimulation") -> None:
    """Check, when every message has come to an end, that nothing waits or is believed to be under way."""
    for host in simulation.alive():
        for key, address in host.router.addresses.items():
            waiting = [*address.parked, *address.parked_from_trunks]
            waiting += [fan for route in address.routes for fan in route.waiting or ()]
            check(not waiting, f"{host.id}: all is settled, and {len(waiting)} messages wait for {key}")
            routes = {route.next_hop: route.outstanding for route in address.routes if route.outstanding}
            check(not routes, f"{host.id}: all is settled, and these are under way for {key}: {routes}")
        for peer in host.router.peers.values():
            found = _left_at(peer)
            check(not found, f"{host.id}: all is settled, and connection {peer.number} has {found}")


def _left_at(peer: Any) -> list[str]:
    found = []
    for inlet in peer.inlets:
        for what in ("parked", "waiting", "current", "collected"):
            if getattr(inlet, what):
                found.append(f"{what} at {inlet.link.name}")
        if inlet.link.unsettled_count:
            found.append(f"{inlet.link.unsettled_count} unsettled from {inlet.link.name}")
    for outlet in peer.outlets:
        for what in ("waiting", "held"):
            if getattr(outlet, what):
                found.append(f"{what} at {outlet.link.name}")
        if outlet.link.unsettled_count:
            found.append(f"{outlet.link.unsettled_count} unsettled to {outlet.link.name}")
    return found


def check_nothing_is_left(simulation: "MeshSimulation") -> None:
    """Check that routers know of nothing but each other when all clients are gone."""
    check_settled(simulation)
    for host in simulation.alive():
        router = host.router
        own = wanted_at(simulation, host, defaultdict(dict))
        # Routers themselves stay addresses, once something was sent to one.
        keys = [key for key in router.addresses if key not in own and not _is_place(host, key)]
        check(not keys, f"{host.id} has left {keys}")
        clients = [number for number, peer in router.peers.items() if not (peer.is_router or peer.is_edge)]
        check(not clients, f"{host.id} has left connections {clients}")
        for peer in router.peers.values():
            trunk = peer.trunk
            if trunk is None:
                continue
            found = {
                "addresses": [end.link.name for end in (*peer.inlets, *peer.outlets) if _is_for_clients(end)],
                "hungry": [*trunk.hungry],
                "starved": [*peer.starved],
                "control": len(trunk.queue),
                "streams": trunk.wanted_streams or trunk.opening,
                "links": len(peer.inlets) + len(peer.outlets) - len(peer.connection.links),
                "too few": peer.is_router and max(0, LINKS_OF_A_TRUNK - len(peer.inlets) - len(peer.outlets)),
                "sessions": [one.channel for one in peer.connection.sessions() if not one.links()],
            }
            left = {what: one for what, one in found.items() if one}
            check(not left, f"{host.id} has left at trunk {peer.number}: {left}")


def _is_place(host: "MeshRouter", key: str) -> bool:
    """Whether an address is that of another router, an edge router among them."""
    return key == UPLINK or (key[:1] in ("R", "H") and host.router.directory.network.reaches(key))


def _is_for_clients(end: Any) -> bool:
    """Whether a link between an edge and its interior router is for an address that clients use."""
    return end.address is not None and end.address.key[:1] == "M"
