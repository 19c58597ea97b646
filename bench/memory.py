"""Routers in memory: their workers, their clients and each other, joined by lines that carry octets by hand.

Only what the routers do is timed (`Time.spent_s`): not the clients, nor the lines, nor what routers are told of each
other.
"""

import time
from collections.abc import Callable
from itertools import count
from typing import Any, cast

from routerd.core import (
    FABRIC,
    INTER_ROUTER,
    AddressSettings,
    AddressTable,
    Distribution,
    MappedAddresses,
    NetworkNews,
    Peer,
    Router,
    RouterMode,
    RouterSettings,
    RouteTo,
    Sibling,
)
from routerd.wire import Connection, ConnectionConfig, Handler, Int, Source, Symbol, Target

CREDIT = 1000
BODY = b"\x00\x53\x75\xa0\x64" + b"x" * 100
COPIES = AddressSettings(pattern="copies/#", distribution=Distribution.MULTICAST)
SESSIONS_MAX = 0x7FFF
FABRIC_WINDOW = 512
TRUNK_COST = 1


class Time:
    """What the routers have taken so far."""

    spent_s = 0.0
    clock = time.perf_counter

    @classmethod
    def of(cls, end: Connection, work: Callable[..., Any], *arguments: Any) -> Any:
        """Have an end of a connection do its work, timed if it is a router's."""
        start = cls.clock()
        result = work(*arguments)
        if isinstance(end.handler, Router):
            cls.spent_s += cls.clock() - start
        return result


class Client(Handler):
    """Accepts what it gets, and keeps its credit up."""

    def __init__(self) -> None:
        self.received = 0

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        """Count a message once it is whole."""
        if delivery.is_partial:
            return
        self.received += 1
        if not delivery.remote_settled:
            delivery.accept()
        if receiver.credit <= CREDIT // 2:
            receiver.grant(CREDIT // 2)


class Line:
    """The transport between two ends of a connection."""

    def __init__(self, client: Connection, server: Connection) -> None:
        self.client = client
        self.server = server
        server.start(0.0)
        client.start(0.0)
        client.open()

    def carry(self) -> bool:
        """Carry what there is, once in each direction; whether there was anything."""
        has_moved = False
        for near, far in ((self.client, self.server), (self.server, self.client)):
            octets = Time.of(near, near.data_to_send, 0.0)
            if octets:
                has_moved = True
                Time.of(far, far.receive_data, octets, 0.0)
                near.written(octets)
                if isinstance(near.context, Peer) and near.context.is_full:
                    Time.of(near, cast(Router, near.handler).written, near.context)
        return has_moved


class Pair(Line):
    """A client's connection, with a session, and the router's end of it."""

    def __init__(self, router: Router, capacity: int = 0) -> None:
        client = Connection(ConnectionConfig(container_id="client"), Client(), is_client=True)
        Line.__init__(self, client, router_end(router, router.connections.new_peer(capacity=capacity)))
        self._settle_down()
        self.session = self.client.session()
        self.session.begin()
        self._settle_down()

    def _settle_down(self) -> None:
        while self.carry():
            pass

    def consumer(self, address: str, name: str = "r", credit: int = CREDIT) -> Any:
        """Attach a receiver, with credit."""
        receiver = self.session.receiver(name)
        receiver.attach(source=Source(address=address), target=Target())
        if credit:
            receiver.grant(credit)
        return receiver

    def producer(self, address: str, name: str = "s") -> Any:
        """Attach a sender."""
        sender = self.session.sender(name)
        sender.attach(source=Source(), target=Target(address=address))
        return sender


def router_end(router: Router, peer: Peer, *, is_client: bool = False, **options: Any) -> Connection:
    """Return the router's end of a connection with a peer."""
    config = ConnectionConfig(**{"container_id": router.router_id} | options)
    peer.connection = Connection(config, router, is_client=is_client)
    peer.connection.context = peer
    return peer.connection


class Routers:
    """Workers of one router, or routers of one worker each, with the lines between them and to their clients."""

    def __init__(self, *routers: Router) -> None:
        self.routers = routers
        self.lines: list[Line] = []

    def pair(self, router: int = 0, capacity: int = 0) -> Pair:
        """Connect a client to a router; 0 is the capacity that links have if nobody says another."""
        pair = Pair(self.routers[router], capacity)
        self.lines.append(pair)
        self.settle_down()
        return pair

    def settle_down(self) -> None:
        """Go on until there is nothing to carry, and nothing to tell."""
        while self._turn() or self._tell():
            pass

    def _turn(self) -> bool:
        has_moved = False
        for line in self.lines:
            has_moved = line.carry() or has_moved
        for router in self.routers:
            start = Time.clock()
            router.end_turn()
            Time.spent_s += Time.clock() - start
        return has_moved

    def _tell(self) -> bool:
        return False


def single_router(**options: Any) -> Routers:
    """Return a router of one worker."""
    return Routers(Router(_settings("bench", **options), lambda: ""))


class Workers(Routers):
    """Two workers of a router, which learn of each other's consumers from a table."""

    def __init__(self) -> None:
        names = count(1)
        workers = [
            Router(_settings("bench"), lambda: f"token{next(names)}", worker=index, workers=2, is_alone=False)
            for index in range(2)
        ]
        Routers.__init__(self, *workers)
        self._table = AddressTable(1)
        self._siblings = [Sibling(index, 1, f"fabric/{index}") for index in range(2)]
        self._awaited: list[tuple[Router, int, tuple[int, int]]] = []
        for worker, sibling in zip(workers, self._siblings, strict=True):
            interests = worker.siblings.all_interests()
            self._awaited.append((worker, interests.sequence, self._table.join(sibling, interests)))
        self.settle_down()
        self.lines.append(Line(self._fabric_end(1), self._fabric_end(0)))
        self.settle_down()

    def _fabric_end(self, index: int) -> Connection:
        worker = self.routers[index]
        return router_end(
            worker,
            worker.connections.new_peer(FABRIC),
            is_client=index == 1,
            container_id=f"bench#{index}",
            incoming_window=FABRIC_WINDOW,
            properties={Symbol("worker"): index, Symbol("incarnation"): 1},
        )

    def _tell(self) -> bool:
        has_moved = False
        for worker, sibling in zip(self.routers, self._siblings, strict=True):
            if (changes := worker.siblings.take_changes()) is not None:
                has_moved = True
                version = self._table.update(sibling.worker, sibling.incarnation, changes)
                self._awaited.append((worker, changes.sequence, version))
            if (delta := self._table.delta_for(sibling.worker)) is not None:
                has_moved = True
                worker.siblings.apply(delta)
                self._table.acknowledge(sibling.worker, sibling.incarnation, delta.version)
        known = self._table.known_by_all()
        for awaited in [one for one in self._awaited if one[2] <= known]:
            has_moved = True
            self._awaited.remove(awaited)
            awaited[0].clients.confirm(awaited[1])
        return has_moved


class TwoRouters(Routers):
    """Two routers with a trunk between them, who are told what the other one has consumers for."""

    def __init__(self, address: str) -> None:
        names = count(1)
        settings = [_settings(id, mode=RouterMode.INTERIOR) for id in ("A", "B")]
        Routers.__init__(self, *(Router(one, lambda: f"token{next(names)}") for one in settings))
        peers = [router.connections.new_peer(INTER_ROUTER, capacity=CREDIT) for router in self.routers]
        for index, peer in enumerate(peers):
            peer.cost, peer.is_initiator = TRUNK_COST, index == 0
        self.lines.append(Line(*(self._trunk_end(index, peer) for index, peer in enumerate(peers))))
        self.settle_down()
        for router, peer, other in zip(self.routers, peers, ("B", "A"), strict=True):
            mapped = (MappedAddresses("B", {f"M0{address}": -1}),) if other == "B" else ()
            routes = {other: RouteTo(other, peer.number, TRUNK_COST)}
            router.routes.apply_network(NetworkNews((1, 1), routes=routes, radius=1, through={}, mapped=mapped))
        self.settle_down()

    def _trunk_end(self, index: int, peer: Peer) -> Connection:
        cost = {Symbol("qd.inter-router-cost"): Int(TRUNK_COST)}
        return router_end(
            self.routers[index], peer, is_client=index == 0, channel_max=SESSIONS_MAX, properties=cost
        )


def _settings(id: str, **options: Any) -> RouterSettings:
    return RouterSettings(id=id, addresses=(COPIES,), **options)
