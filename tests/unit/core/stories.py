"""Stories of producers and consumers that are told twice, with messages that go together and messages that go alone."""

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from routerd.core import Router
from routerd.wire import ACCEPTED, RELEASED, Header, Modified, Receiver, Symbol
from tests.routers import Workers, message, outcome
from tests.unit.core.joined_routers import Mesh
from tests.unit.core.recorder_rows import decision_rows, flow_rows, record, take


class Scene:
    """Producers and consumers of one address; watched, each message takes the usual way."""

    def __init__(
        self,
        workers: int = 1,
        *,
        routers: int = 1,
        is_watched: bool = False,
        credit: int = 200,
        every: int | None = None,
        rows: int = 64,
        address: str = "orders",
        peer: dict[str, Any] | None = None,
    ) -> None:
        """If one message in `every` is recorded, it is in sets of so many rows.

        Of several routers in a line, producers are at the first one and consumers at the last one.
        """
        self.workers = self.far = Workers(workers)
        hosts = [self.workers]
        self.mesh: Mesh | None = None
        if routers > 1:
            self.mesh = Mesh(*"ABCD"[:routers], workers=workers)
            for first, second in pairwise(self.mesh.routers):
                self.mesh.join(first, second)
            hosts = list(self.mesh.routers.values())
            self.workers, self.far = hosts[0], hosts[-1]
        self.routers: list[Router] = [worker.router for host in hosts for worker in host.workers.values()]
        for router in self.routers:
            if every is not None:
                record(router, every, rows=rows)
            for trunk in router.peers.values() if routers > 1 else ():
                trunk.watch(is_watched)
        self.address = address
        self.peer = peer
        self.is_watched = is_watched
        self.last = workers - 1
        self.consumers: list[tuple[Any, Any]] = []
        self.sent: list[Any] = []
        self.seen: list[Any] = []
        self.come(credit)
        # Trunks are at the first worker of each router.
        near = 0 if routers == 1 else self.last
        self.producers = [(client, client.producer(address)) for client in (self.client(near), self.client(near))]

    def client(self, worker: int, *, is_far: bool = False) -> Any:
        host = self.far if is_far else self.workers
        client = host.client(worker, peer=self.peer)
        client.peer.watch(self.is_watched)
        return client

    def come(self, credit: int) -> None:
        """Have another consumer."""
        client = self.client(self.last, is_far=True)
        self.consumers.append((client, client.consumer(self.address, credit=credit)))

    def send(
        self,
        count: int,
        *,
        producer: int = 0,
        settled: bool = False,
        tag: bytes = b"",
        look: int = 0,
        size: int = 60,
    ) -> list[Any]:
        """Send as many messages as there is credit for, at once; with a `look`, some have other first sections."""
        _, link = self.producers[producer]
        made: list[Any] = []
        while len(made) < count and self.may_send(producer) > 0:
            number = len(self.sent) + len(made)
            own = tag + b"%d" % number if tag else None
            made.append(link.send(looking(f"{number:04}" + "." * size, number, look), own, settled))
        self.sent += made
        self.workers.pump()
        return made

    def may_send(self, producer: int) -> int:
        """How many messages a producer has credit for."""
        _, link = self.producers[producer]
        return link.credit if link.is_attached else 0

    def unsettled(self) -> list[Any]:
        """What consumers have, and nobody has settled."""
        found = [one for client, link in self.consumers for one in client.unsettled.get(link.name, ())]
        return [one for one in found if not (one.settled or one.remote_settled)]

    def decide(self, first: int, count: int, state: Any) -> None:
        """Have consumers decide about some of what they have."""
        for one in self.unsettled()[first : first + count]:
            if one.link.is_attached:
                one.update(state, True)
        self.workers.pump()

    @property
    def told(self) -> list[Any]:
        """What producers know."""
        return [outcome(one) for one in self.sent]

    def counters(self) -> list[Any]:
        """All counters of the address, worker by worker, and how much is under way."""
        found: list[Any] = []
        names = ("deliveries", "presettled", "dropped_presettled", "accepted", "rejected", "released", "modified")
        for router in self.routers:
            for peer in router.peers.values():
                for end in (*peer.inlets, *peer.outlets):
                    link = end.link
                    found.append([getattr(end, name) for name in (*names, "delayed_1s", "delayed_10s")])
                    # When producers and routers are granted again may depend on how much comes or is settled at a time.
                    is_granted_later = isinstance(link, Receiver) or peer.is_router
                    found.append([0 if is_granted_later else link.credit, link.unsettled_count])
                for session in peer.connection.sessions():
                    found.append([session.incoming.count, session.outgoing.count])
            for address in router.addresses.values():
                routes = [route.outstanding for route in address.routes]
                sums = [address.ingress, address.egress, address.transit]
                found.append([address.key, address.waiting, address.octets_from_trunks, sums, routes])
            found.append(router.sending.transit)
        return found

    def recorded(self) -> list[Any]:
        """What each worker has recorded until now."""
        found = []
        for router in self.routers:
            recorder = router.journal.recorder
            if recorder is not None:
                records = take(router)
                events = [(event.kind, event.number, event.detail) for event in records.events]
                lost = recorder.lost_flows, recorder.lost_decisions
                found.append([sorted(map(repr, decision_rows(records))), flow_rows(records), events, lost])
        return found

    def received(self) -> list[Any]:
        """What each consumer got."""
        return [client.received(link) for client, link in self.consumers]


def looking(text: str, number: int, look: int) -> bytes:
    """A message; with a look, some have another priority, or annotations."""
    if look == 0 or number % look:
        return message(text)
    if look % 2:
        return message(text, header=Header(priority=number % 5))
    return message(text, message_annotations={Symbol("x-user"): number % 3})


actions = st.one_of(
    st.tuples(
        st.just("send"),
        st.integers(1, 60),
        st.integers(0, 1),
        st.sampled_from([b"", b"", b"t"]),
        st.sampled_from([False, False, True]),
        st.sampled_from([0, 0, 0, 1, 2, 7, 8]),
    ),
    st.tuples(
        st.just("decide"),
        st.one_of(st.just(0), st.integers(0, 60)),
        st.integers(1, 80),
        st.sampled_from([ACCEPTED, ACCEPTED, ACCEPTED, RELEASED, Modified(), None]),
    ),
    st.tuples(st.just("grant"), st.integers(0, 1), st.integers(1, 100)),
    st.tuples(st.just("give up"), st.integers(0, 200), st.integers(1, 30)),
    st.tuples(st.just("come"), st.integers(0, 100)),
    st.tuples(st.just("detach"), st.integers(0, 4), st.booleans()),
    st.tuples(st.just("vanish"), st.integers(0, 4)),
    st.tuples(st.just("wait"), st.integers(0, 12)),
    st.tuples(st.just("record")),
)


def step(scene: Scene, kind: str, values: list[Any]) -> list[Any]:
    """Have something happen; return what is seen of it."""
    seen: list[Any] = []
    if kind == "send":
        count, producer, tag, settled, look = values
        scene.send(count, producer=producer, tag=tag, settled=settled, look=look)
    elif kind == "decide":
        scene.decide(*values)
    elif kind == "grant":
        _, link = scene.consumers[values[0] % len(scene.consumers)]
        if link.is_attached:
            link.grant(values[1])
    elif kind == "give up":
        for one in scene.sent[values[0] : values[0] + values[1]]:
            if one.link.is_attached and not (one.settled or one.remote_settled):
                one.update(None, True)
    elif kind == "come" and len(scene.consumers) < 3 and not any(link.is_attached for _, link in scene.consumers):
        # Which of several consumers gets a message does depend on what came with it.
        scene.come(values[0])
    elif kind == "detach":
        everybody = [*scene.consumers, *scene.producers]
        client, link = everybody[values[0] % len(everybody)]
        if link.is_attached:
            client.detach(link, closed=values[1])
    elif kind == "vanish":
        everybody = [*scene.consumers, *scene.producers]
        client, _ = everybody[values[0] % len(everybody)]
        if not client.line.is_cut:
            client.vanish()
    elif kind == "record":
        seen = scene.recorded()
    elif kind == "cut" and scene.mesh is not None:
        first, second = list(scene.mesh.routers)[-2:]
        trunk = scene.mesh.trunks[-1]
        if trunk.cost() is None:
            scene.mesh.join(first, second)
        else:
            trunk.cut()
    scene.workers.pump(float(values[0]) if kind == "wait" else 0.0)
    return [scene.told, scene.received(), scene.counters(), *seen]


def play(together: Scene, alone: Scene, steps: list[Any]) -> None:
    """Have a story happen twice, and nobody see a difference."""
    for kind, *values in steps:
        if kind == "send":
            values[0] = min(values[0], together.may_send(values[1]), alone.may_send(values[1]))
        seen, expected = step(together, kind, values), step(alone, kind, values)
        assert seen == expected, (kind, values)


TURNS: list[Any] = [
    ("send", 60, 0, b"", False, 0),
    ("decide", 0, 25, ACCEPTED),
    ("send", 60, 1, b"t", False, 0),
    ("record",),
    ("decide", 0, 30, ACCEPTED),
    ("send", 60, 0, b"", False, 0),
    ("decide", 7, 3, RELEASED),
    ("grant", 0, 40),
    ("decide", 0, 20, ACCEPTED),
    ("record",),
    ("wait", 3),
    ("decide", 0, 80, ACCEPTED),
    ("grant", 0, 60),
    ("vanish", 0),
    ("record",),
]
