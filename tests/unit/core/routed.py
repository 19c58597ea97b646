"""A router with link routes, a client, and a container that does what it is told."""

from typing import Any

from routerd.core import LinkDirection, LinkRouteSettings
from routerd.wire import LinkState
from routerd.wire.composite import encode_composite
from tests.routers import Client, Recorder, Workers

IN, OUT = LinkDirection.IN, LinkDirection.OUT


class Container(Client):
    """The far end of routed links: it answers attaches as it is told, or not at all."""

    def __init__(self, workers: Workers) -> None:
        super().__init__(workers)
        self.returns_credit = False
        self.answers_links = True
        self.answer_with: dict[str, Any] = {}
        """What its answers say other than the attach that they answer."""
        self.refuses: Any = None
        """The error with which it refuses links."""

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Answer a link, refuse it, or leave it."""
        answers, self.answers = self.answers, False
        Recorder.on_link_attached(self, link, performative)
        self.answers = answers
        if link.state is not LinkState.ATTACH_RCVD or not self.answers_links:
            return
        if self.refuses is not None:
            link.refuse(self.refuses)
        else:
            self.answer(link)

    def answer(self, link: Any, **options: Any) -> None:
        """Answer an attach."""
        termini = {"source": link.remote_source, "target": link.remote_target}
        link.attach(**termini | self.answer_with | options)

    @property
    def latest_link(self) -> Any:
        """The link that was attached here last."""
        return self.links[self.attaches[-1].name]


class Routed:
    """One router whose links for `lr` go to a container, with a client."""

    def __init__(self, workers: int = 1, *, client: int = 0, at: int = 0, **options: Any) -> None:
        self.workers = Workers(workers, **options)
        self.client = self.workers.client(client, container_id="c1")
        # Tests of drains look at both ends, and answer for the sender.
        self.client.returns_credit = False
        self.container = self.workers.client(at, container_id="broker", kind=Container)
        self.add("in", "lr/#", IN)
        self.add("out", "lr/#", OUT)
        self.activate(self.container)

    @property
    def router(self) -> Any:
        """The first worker's part of the router."""
        return self.workers[0].router

    def add(self, name: str, pattern: str, direction: LinkDirection, **options: Any) -> None:
        """Configure a link route at all workers."""
        for worker in self.workers.workers.values():
            worker.router.link_routes.add(
                LinkRouteSettings(name=name, pattern=pattern, direction=direction, **options)
            )

    def activate(self, container: Client, *names: str) -> None:
        """Have a container take the links of link routes."""
        for name in names or ("in", "out"):
            container.server.handler.link_routes.activated(name, container.peer)
        self.pump()

    def deactivate(self, container: Client, *names: str) -> None:
        """Have a container take no more links."""
        for name in names or ("in", "out"):
            container.server.handler.link_routes.deactivated(name, container.peer)
        self.pump()

    def pump(self, seconds: float = 0.0) -> None:
        """Carry everything until all is silent."""
        self.workers.pump(seconds)

    def let_pass(self, seconds: int) -> None:
        """Let seconds pass, at the end of each of which the router looks around."""
        for _ in range(seconds):
            self.pump(1.0)
            for worker in self.workers.workers.values():
                worker.router.each_second(self.workers.now)
            self.pump()

    def consumer(self, address: Any = "lr.q", credit: int = 0, **options: Any) -> tuple[Any, Any]:
        """A link on which the client receives, and the container's end of it."""
        link = self.client.consumer(address, credit=credit, **options)
        return link, self.container.latest_link

    def producer(self, address: Any = "lr.q", credit: int = 0, **options: Any) -> tuple[Any, Any]:
        """A link on which the client sends, and the container's end of it, which has given credit."""
        link = self.client.producer(address, **options)
        far = self.container.latest_link
        if credit:
            far.grant(credit)
            self.pump()
        return link, far

    def refusal(self, link: Any) -> tuple[Any, ...]:
        """What the client was told of a link that was refused: no terminus of ours, and why."""
        [answer] = [attach for attach in self.client.attaches if attach.name == link.name]
        assert (answer.source if answer.role is False else answer.target) is None
        assert not link.is_attached
        return self.end_of(self.client, link)

    def end_of(self, client: Client, link: Any) -> tuple[Any, ...]:
        """Whether a link was closed, and the error with which it was detached."""
        [detach] = [event for event in client.events if event[:2] == ("link detached", link.name)]
        return detach[2:]

    def check_nothing_left(self) -> None:
        """Hold it that no link, session, delivery or entry is left of routed links."""
        self.pump()
        for worker in self.workers.workers.values():
            router = worker.router
            links = router.routed_links
            assert (links.pending, links.namesakes) == ({}, {})
            for peer in router.peers.values():
                assert (peer.routed, peer.stuck, peer.routed_in, peer.routed_out) == ({}, {}, 0, 0)
                assert len(peer.connection.links) == 0
                # Clients and containers have one that they have begun; what the router began is over.
                assert len(peer.connection.sessions()) == (0 if peer.is_fabric else 1)
                for session in peer.connection.sessions():
                    assert session.links() == []
                    assert (session.incoming.count, session.outgoing.count) == (0, 0)
                    assert not session.has_backlog


def put(sender: Any, transfer: Any, payload: bytes = b"") -> None:
    """Write a transfer by hand."""
    body = bytearray()
    encode_composite(body, transfer)
    sender.session.output.put_frame(sender.session.channel, 0, body + payload)
    sender.session.connection.wake()
