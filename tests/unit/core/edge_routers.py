"""Edge routers in memory, at routers of a mesh, and what stands in for either end of their connections.

`EdgeMesh` is a mesh whose oracle also tells of edge routers, which are in no network themselves. `FarInterior` and
`FarEdge` are the other ends for all that routers of ours would not do.
"""

import gc
from typing import Any

from routerd.core import EDGE, HINTS, Distribution, Peer, Router, RouterMode
from routerd.wire import AmqpValue, Connection, ConnectionConfig, Error, Header, Message, Source, Symbol, Target
from tests.routers import Client, Line
from tests.unit.core.joined_routers import JoinedRouter, Mesh, Trunk

DOWNLINK = "qd.router-edge-downlink"
TRACKING = "_$qd.edge_addr_tracking"
LOOKUP = "_$qd.addr_lookup"
HEARTBEAT = "_$qd.edge_heartbeat"
CAPACITY = 250
BEAT_S = 2.0

LINKS = [
    ("sender", None, None, (), ()),
    ("receiver", "E", None, (DOWNLINK,), (DOWNLINK,)),
    ("receiver", TRACKING, None, (), ()),
    ("sender", None, HEARTBEAT, (), ()),
    ("receiver", None, None, (), ()),
]
"""What an edge router E attaches at first: which end it has, source and target, and the capabilities of either."""


class EdgeHost(JoinedRouter):
    """A router of a mesh, or an edge router."""

    def interests(self) -> dict[str, int]:
        """The addresses that other routers are told of: those of its edge routers as well."""
        routers = [worker.router for worker in self.workers.values()]
        interests = (one for router in routers for one in router.siblings.all_interests().interests)
        edges = {one.key: HINTS[Distribution.BALANCED] for one in interests if one.key[:1] == "H"}
        return super().interests() | edges

    def look_after_edges(self) -> None:
        """Have each worker do what it does every two seconds."""
        for worker in self.workers.values():
            worker.router.look_after_edges(self.now)


class Shell:
    """Ends the transport of a connection when the router wants it."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.is_ending = False

    def abort(self) -> None:
        """End it."""
        self._line.cut()

    def end_soon(self) -> None:
        """Give the peer some time."""
        self.is_ending = True


class Uplink(Trunk):
    """The connection of an edge router to a router; the oracle has nothing to do with it."""

    @property
    def peer(self) -> Peer:
        """The record at the edge router."""
        return self.peers[0]

    @property
    def far_peer(self) -> Peer:
        """The record at the interior router."""
        return self.peers[1]


class EdgeMesh(Mesh):
    """Routers that are joined, and edge routers at some of them."""

    def __init__(self, *ids: str, **options: Any) -> None:
        self.edges: dict[str, EdgeHost] = {}
        self.uplinks: list[Uplink] = []
        super().__init__(*ids, **options)

    def __getitem__(self, id: str) -> Any:
        return self.edges[id] if id in self.edges else self.routers[id]

    def add(self, id: str, workers: int = 1, **options: Any) -> JoinedRouter:
        """Start another router of the network."""
        router = self.routers[id] = EdgeHost(self, id, workers, **{"mode": RouterMode.INTERIOR} | options)
        self.pump()
        return router

    def hang(
        self,
        edge: str,
        router: str,
        *,
        at: int = 0,
        configs: tuple[dict[str, Any], dict[str, Any]] = ({}, {}),
        capacity: int = 0,
        **options: Any,
    ) -> Uplink:
        """Have an edge router, which is started unless there is one, connect to a worker of a router."""
        if edge not in self.edges:
            self.edges[edge] = EdgeHost(self, edge, 1, mode=RouterMode.EDGE, **options)
        routers = self.edges[edge], self.routers[router]
        ends = []
        for host, config in zip((routers[0][0], routers[1][at]), configs, strict=True):
            peer = host.router.connections.new_peer(EDGE, capacity=capacity)
            peer.is_initiator = host is routers[0][0]
            options = {"container_id": host.router.settings.id, "channel_max": 0x7FFF}
            ends.append(host.end(peer, ConnectionConfig(**options | config), is_client=peer.is_initiator))
        ends[0].open()
        ends[1].start(self.now)
        ends[0].start(self.now)
        uplink = Uplink(Line(*ends), routers)
        for end in ends:
            end.context.shell = Shell(uplink.line)
        self.uplinks.append(uplink)
        self.pump()
        return uplink

    def beat(self, seconds: float = BEAT_S) -> None:
        """Let time pass, and each router look after its edge routers, or its uplink, once."""
        self.pump(seconds)
        for router in (*self.routers.values(), *self.edges.values()):
            router.look_after_edges()
        self.pump()

    def pump(self, seconds: float = 0.0) -> None:
        """Let time pass, and carry octets and news until all is silent."""
        self.now += seconds
        for router in self.edges.values():
            router.set_clock(self.now)
        super().pump()

    def _turn(self) -> bool:
        has_moved = False
        for edge in self.edges.values():
            has_moved = edge.turn() or has_moved
        has_moved = super()._turn() or has_moved
        for uplink in self.uplinks:
            has_moved = uplink.line.carry(self.now) or has_moved
        return has_moved

    def left_over(self) -> dict[str, Any]:
        """What edge and interior routers hold that should be gone once no client is there: nothing."""
        found: dict[str, Any] = {}
        for id, joined in {**self.routers, **self.edges}.items():
            for index, worker in joined.workers.items():
                router = worker.router
                kept = {key: one for key, one in router.addresses.items() if not _is_of_an_edge(key)}
                found |= {f"{id}{index} address {key}": address for key, address in kept.items()}
                for number, peer in router.peers.items():
                    found |= {f"{id}{index} {name} of {number}": value for name, value in _left(peer) if value}
        return found


def _asks(link: Any) -> bool:
    return LOOKUP in (getattr(link.target, "address", None), getattr(link.remote_target, "address", None))


def _is_of_an_edge(key: str) -> bool:
    return key[:1] == "H" or key == "L_edge" or key.startswith("Ltemp.")


def _left(peer: Peer) -> list[tuple[str, Any]]:
    ends = [*peer.inlets, *peer.outlets]
    left = [("unsettled", sum(end.link.unsettled_count for end in ends)), ("starved", peer.starved)]
    if peer.is_edge:
        # The links of the beginning are on two sessions; that for look-ups comes with the first client.
        others = [end for end in ends if not _asks(end.link)]
        return [*left, ("links", others[len(LINKS) :]), ("sessions", peer.connection.sessions()[2:])]
    return [*left, ("peer", not (peer.is_fabric or peer.is_router or peer.is_inner))]


# --- far ends


class FarInterior(Client):
    """An interior router that does only what it is told to, at the far end of an edge router's uplink."""

    credit = CAPACITY
    """What links from the edge router get when they are attached."""

    @property
    def peer(self) -> Peer:
        """The edge router's record of the uplink."""
        peer: Peer = self.line.client.context
        return peer

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Answer, and grant credit."""
        Client.on_link_attached(self, link, performative)
        if self.answers and not link.is_sender and self.credit:
            link.grant(self.credit)

    def ends(self) -> list[tuple[Any, ...]]:
        """What the edge router has attached so far, in order, in the form of `LINKS`."""
        found = []
        for link, attach in zip(self.links.values(), self.attaches, strict=True):
            role = "receiver" if link.is_sender else "sender"
            source, target = attach.source, attach.target
            capabilities = tuple(source.capabilities), tuple(target.capabilities)
            found.append((role, source.address, target.address, *capabilities))
        return found

    def link_to(self, address: str | None) -> Any:
        """The link that the edge router sends on to an address."""
        return self._link(address, lambda link, attach: not link.is_sender and attach.target.address == address)

    def link_from(self, address: str | None) -> Any:
        """The link that the edge router receives on from an address."""
        return self._link(address, lambda link, attach: link.is_sender and attach.source.address == address)

    def _link(self, address: str | None, is_meant: Any) -> Any:
        pairs = zip(self.links.values(), self.attaches, strict=True)
        found = [link for link, attach in pairs if is_meant(link, attach) and link.is_attached]
        assert found, f"there is no link for {address}"
        return found[0]

    def addresses(self) -> tuple[list[str], list[str]]:
        """Those that the edge router receives from, and those that it sends to, beyond the links of the beginning."""
        pairs = [
            (link, attach)
            for link, attach in list(zip(self.links.values(), self.attaches, strict=True))[len(LINKS) :]
            if link.is_attached
        ]
        receiving = [attach.source.address for link, attach in pairs if link.is_sender]
        return sorted(receiving), sorted(attach.target.address for link, attach in pairs if not link.is_sender)

    def tell(self, *notice: Any) -> None:
        """Send a notice of address tracking."""
        self.tell_octets(value(list(notice)))

    def tell_octets(self, octets: bytes) -> None:
        """Send octets in the place of a notice."""
        self.send(self.link_from(TRACKING), octets, settled=True)


def far_interior(
    edge: EdgeHost, id: str = "I", *, answers: bool = True, credit: int = CAPACITY, size_max: int = 0, **config: Any
) -> FarInterior:
    """The far end of an uplink that an edge router has made."""
    host = edge[0]
    far = FarInterior(edge)
    far.answers, far.credit, far.size_max = answers, credit, size_max
    peer = host.router.connections.new_peer(EDGE)
    peer.is_initiator = True
    client = host.end(peer, ConnectionConfig(container_id=edge.id, channel_max=0x7FFF), is_client=True)
    options = {"container_id": id, "channel_max": 0x7FFF}
    far.connection = Connection(ConnectionConfig(**options | config), far, is_client=False)
    client.open()
    far.line = edge.line(client, far.connection, host)
    peer.shell = Shell(far.line)
    edge.pump()
    return far


class FarEdge(Client):
    """An edge router that does only what it is told to, connected to a router."""

    id = "X"

    def __init__(self, workers: Any) -> None:
        super().__init__(workers)
        self.streams: list[Any] = []
        """The links for large messages that the router has attached."""
        self.stream_credit = CAPACITY
        self.refuses_streams = False

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Take a link of the router, and let it send; or refuse it."""
        is_stream = link.name.startswith("qdlink.")
        if is_stream and self.refuses_streams:
            link.refuse(Error(condition="amqp:not-allowed"))
            return
        Client.on_link_attached(self, link, performative)
        if is_stream:
            self.streams.append(link)
            if self.stream_credit:
                link.grant(self.stream_credit)

    def attach(self) -> "FarEdge":
        """Attach the links that every edge router has, with credit."""
        self.uplink = self.producer(None)
        self.downlink = self.downlink_from(self.id)
        self.tracking = self.consumer(TRACKING, credit=CAPACITY)
        self.heartbeat = self.producer(HEARTBEAT)
        self._heart_credit = 0
        return self

    def downlink_from(self, address: Any, *, credit: int = CAPACITY) -> Any:
        """Attach a link with the capability of downlinks."""
        termini = _down_termini(address)
        return self.consumer(None, credit=credit, **termini)

    def notices(self) -> list[Any]:
        """What it was told of addresses, in order."""
        return [Message.decode(octets).body.value for octets in self.received(self.tracking)]  # type: ignore[union-attr]

    def beat(self, octets: bytes | None = None) -> None:
        """Send a heartbeat."""
        self.send(self.heartbeat, value(0) if octets is None else octets, settled=True)

    def beat_as_qdrouterd(self) -> bool:
        """Send a heartbeat if the last flow has added credit, and none was sent since; whether it was sent.

        To the heart of a qdrouterd the credit is what a flow adds, and what it sends itself is a flow that adds none.
        """
        added = 0
        for name, *event in self.take():
            if name == "link flow" and event[0] == self.heartbeat.name:
                added, self._heart_credit = event[1] - self._heart_credit, event[1]
        if added <= 0:
            return False
        self._heart_credit -= 1
        self.beat()
        return True

    @property
    def router(self) -> Router:
        """The worker that it is connected to."""
        handler: Router = self.server.handler  # type: ignore[assignment]
        return handler


def far_edge(router: EdgeHost, *, worker: int = 0, **options: Any) -> FarEdge:
    """A connection of an edge router that has attached nothing yet."""
    host = router[worker]
    far = FarEdge(router)
    connection = Connection(ConnectionConfig(container_id=FarEdge.id, **options), far, is_client=True)
    server = host.connection(ConnectionConfig(container_id=router.id), role=EDGE)
    far.connect(connection, router.line(connection, server, host))
    far.peer.shell = Shell(far.line)
    router.pump()
    return far


def _down_termini(address: Any) -> dict[str, Any]:
    capabilities = (Symbol(DOWNLINK),)
    return {
        "source": Source(address=address, capabilities=capabilities),
        "target": Target(capabilities=capabilities),
    }


def value(body: Any) -> bytes:
    """A message as routers write it that has this value."""
    return bytes(Message(header=Header(), body=AmqpValue(body)).encode())


def kept_by_key(*found: Any) -> list[Any]:
    """What is still there because some dictionary has it for a key: after its end, nothing."""
    return [
        one
        for one in found
        if any(type(holder) is dict and one in holder for holder in gc.get_referrers(one))
    ]


def refusals(recorder: Client) -> list[tuple[Any, ...]]:
    """The links that were detached by the far end, with the reasons, since the last call."""
    return [event[1:] for event in recorder.take() if event[0] == "link detached"]


def edge_router(id: str = "E", **options: Any) -> EdgeHost:
    """An edge router that has no uplink yet."""
    mesh = EdgeMesh()
    mesh.edges[id] = edge = EdgeHost(mesh, id, 1, mode=RouterMode.EDGE, **options)
    mesh.pump()
    return edge


def interior_router(id: str = "I", workers: int = 1, **options: Any) -> Any:
    """An interior router that has no edge router yet."""
    return EdgeMesh(id, workers=workers, **options)[id]
