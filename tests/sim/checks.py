"""What must hold in a worker at any time, and everywhere when all is quiet."""

from typing import TYPE_CHECKING, Any

from tests.sim.network import Line
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.simulation import Simulation
    from tests.sim.table import Members
    from tests.sim.workers import WorkerHost


def check(is_so: bool, text: str) -> None:
    """Raise unless something holds."""
    if not is_so:
        raise Broken(text)


def check_worker(host: "WorkerHost") -> None:
    """Check that no link has more under way than it may have, and that counts are those of what is there."""
    for peer in host.router.peers.values():
        for inlet in peer.inlets:
            # One that is just coming is not counted as waiting before it is known where it goes.
            used = inlet.link.credit + inlet.link.unsettled_count + inlet.waiting
            check(
                used <= inlet.capacity + 1 or inlet.link.credit == 0,
                f"worker {host.index}: {inlet.link.name} has credit {inlet.link.credit}, "
                f"{inlet.link.unsettled_count} unsettled and {inlet.waiting} waiting, of {inlet.capacity}",
            )
            check(inlet.waiting >= 0, f"worker {host.index}: {inlet.link.name} has {inlet.waiting} waiting")
    for address in host.router.addresses.values():
        local = [outlet for outlet in address.outlets if not outlet.is_fabric]
        check(
            address.outlets[: address.local_count] == local,
            f"worker {host.index}: {address.key} takes {address.local_count} outlets for local, not {len(local)}",
        )


def check_settled(host: "WorkerHost") -> None:
    """Check that nothing is unsettled in a worker, now that all messages have come to an end."""
    for peer in host.router.peers.values():
        for end in (*peer.inlets, *peer.outlets):
            number = end.link.unsettled_count
            check(number == 0, f"worker {host.index}: all is settled, and {end.link.name} has {number} unsettled")


def check_barrier(simulation: "Simulation", host: "WorkerHost", answered: list[Any], members: "Members") -> None:
    """Check that every member knows of the consumers whose attaches are being answered."""
    for sibling in members:
        other = simulation.hosts.get(sibling.worker)
        if other is None or other is host or other.sibling != sibling:
            continue
        neighbour = other.router.directory.neighbours.get(host.index)
        if neighbour is None or neighbour.sibling != host.sibling:
            continue  # given up by the table meanwhile
        for outlet in answered:
            check(
                neighbour.interests.get(outlet.address.key, 0) > 0,
                f"an attach to {outlet.address.key} at worker {host.index} is answered, "
                f"and worker {other.index} does not know",
            )


def check_quiet(simulation: "Simulation", *, is_empty: bool = False) -> None:
    """Check, when nothing is on its way, that everybody is of one mind."""
    check(simulation.is_whole, "all is quiet, and the workers have not found each other")
    for line in simulation.lines:
        check(line.is_over or line.is_whole, "all is quiet, and one end of a transport does not know that it ended")
        if not line.is_over:
            _check_line(line)
    for host in simulation.hosts.values():
        check_worker(host)
        _check_credit(simulation, host)
        _check_interests(simulation, host)
        if is_empty:
            _check_empty(host)
    if is_empty and not simulation.is_alone:
        left = simulation.table.table.snapshot().interests
        check(left == (), f"the table has {left}, and nobody is there")


def _check_line(line: Line) -> None:
    near, far = line.near.connection, line.far.connection
    for end, other in ((line.near, line.far), (line.far, line.near)):
        check(end.outgoing.size == 0, f"{end.outgoing.size} octets are on their way for ever")
        check(not end.is_blocked, "an end is blocked and nothing is on its way")
        check(end.connection.state is other.connection.state, "the ends are not in the same state")
    by_channel = {session.channel: session for session in far.sessions()}
    check(len(near.sessions()) == len(by_channel), "the ends know of different sessions")
    for session in near.sessions():
        other = by_channel[session.remote_channel]
        # What is aborted while the peer's window is closed, the peer does not know of yet.
        if not session.has_backlog:
            _check_rings(session.outgoing, other.incoming)
        if not other.has_backlog:
            _check_rings(other.outgoing, session.incoming)
        links = {(link.name, not link.is_sender): link for link in other.links()}
        check(len(links) == len(session.links()), "the ends know of different links")
        for link in session.links():
            _check_link(link, links[link.name, link.is_sender])


def _check_rings(outgoing: Any, incoming: Any) -> None:
    sent = {delivery.id: delivery for delivery in outgoing.all()}
    received = {delivery.id: delivery for delivery in incoming.all()}
    lone = [*(sent.keys() - received.keys()), *(received.keys() - sent.keys())]
    deliveries = [{**sent, **received}[number] for number in lone]
    texts = [f"{each.id} of {each.link.name} ({each.link.state.value}), settled={each.settled}" for each in deliveries]
    check(not lone, f"unsettled at one end only: {len(sent)} sent, {len(received)} received: {texts}")


def _check_link(link: Any, other: Any) -> None:
    sender, receiver = (link, other) if link.is_sender else (other, link)
    if not (sender.is_attached and receiver.is_attached):
        # Nothing but an attach that its worker has not answered may be half done.
        raise Broken(f"all is quiet, and link {link.name} is {link.state.value} and {other.state.value}")
    check(not (receiver.drain and receiver.credit), f"all is quiet, and link {link.name} is being drained for ever")
    queued = sender.credit_on_wire() - sender.credit
    # What was begun before its credit was taken back still leaves.
    check(
        (sender.credit, sender.delivery_count) == (max(0, receiver.credit - queued), receiver.delivery_count),
        f"link {link.name}: credit {sender.credit}, queued {queued}, count {sender.delivery_count} at the sender; "
        f"credit {receiver.credit}, count {receiver.delivery_count} at the receiver",
    )


def _check_credit(simulation: "Simulation", host: "WorkerHost") -> None:
    """Producers have credit if there are consumers, and none if not."""
    for peer in host.router.peers.values():
        for inlet in peer.inlets:
            if inlet.address is None or peer.is_fabric:
                continue
            key = inlet.address.key
            consumers = sum(_consumers_at(each, key) for each in simulation.hosts.values())
            is_midway = inlet.current is not None or inlet.collected is not None
            credit, under_way = inlet.link.credit, inlet.link.unsettled_count + inlet.waiting + is_midway
            name = f"worker {host.index}: {inlet.link.name} to {key}"
            if consumers == 0:
                check(credit == 0, f"{name} has credit {credit}, and there is no consumer")
            else:
                # What is settled or leaves brings new credit.
                check(credit + under_way > 0, f"{name} has no credit, and there are {consumers} consumers")


def _consumers_at(host: "WorkerHost", key: str) -> int:
    address = host.router.addresses.get(key)
    return 0 if address is None else address.local_count


def _check_interests(simulation: "Simulation", host: "WorkerHost") -> None:
    """Each worker knows what the others want, and has no link that nobody wants."""
    for other in simulation.hosts.values():
        if other is host:
            continue
        wanted = {key: one.local_count for key, one in other.router.addresses.items() if one.local_count}
        neighbour = host.router.directory.neighbours[other.index]
        check(
            neighbour.interests == wanted,
            f"worker {host.index} takes worker {other.index} to want {neighbour.interests}, not {wanted}",
        )
        for key, outlet in neighbour.outlets.items():
            check(key in wanted and outlet.is_open, f"worker {host.index} keeps a link for {key} to {other.index}")
    for address in host.router.addresses.values():
        is_sent_to = any(not inlet.is_fabric for inlet in address.inlets)
        check(not (address.missing and is_sent_to), f"worker {host.index} lacks links for {address.key}")
        check(not address.is_idle, f"worker {host.index} keeps {address.key}, which nobody uses")


def _check_empty(host: "WorkerHost") -> None:
    router = host.router
    found: dict[str, Any] = dict(router.addresses)
    for number, peer in router.peers.items():
        if not peer.is_fabric:
            found[f"connection {number}"] = peer
        parts = (peer.inlets, peer.outlets, peer.starved, peer.connection.sessions(), len(peer.connection.links))
        if any(parts):
            found[f"on connection {number}"] = parts
    for other, neighbour in router.directory.neighbours.items():
        if neighbour.outlets:
            found[f"outlets to worker {other}"] = neighbour.outlets
    check(not found, f"worker {host.index} has left over {found}")
