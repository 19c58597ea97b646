"""Links that are routed to a container over up to three routers and an edge: all passes, and nothing stays behind."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from proton import Endpoint, Event, Link

from tests.system.broker import Broker
from tests.system.conftest import meshing, running
from tests.system.management_client import ManagementClient
from tests.system.mesh import TWO_ACTORS, Mesh
from tests.system.proton_client import ProtonClient
from tests.system.routers import IN_PROCESS, RunningRouter, listener, section
from tests.waiting import eventually

AT = "CBAE"
"""The routers: the container is at C, B and A are further away, and E is an edge router at A."""
BROKERS, EDGES = "brokers", "edges"
LARGE = b"x" * 1_000_000
LINKS = 50
"""That a client attaches at a time."""
ROUNDS_OF_SOAK = 2000
RSS_MORE = 24 << 20
"""What a router may have more than after the first tenth: pools grow for a while."""


def routes(**place: str) -> list[str]:
    return [section("linkRoute", prefix="lr", direction=direction, **place) for direction in ("in", "out")]


class Many(ProtonClient):
    """A client of many links at a time, which accepts what comes."""

    def __init__(self, port: int, **options: Any) -> None:
        self.detached: set[str] = set()
        super().__init__(port, **options)

    def on_link_remote_detach(self, event: Event) -> None:
        """Note it: proton does not keep it in the state of the link."""
        self.detached.add(event.link.name)

    def on_link_remote_close(self, event: Event) -> None:
        """Note it, and answer."""
        self.detached.add(event.link.name)
        super().on_link_remote_close(event)

    def wait_until_detached(self, links: list[Link]) -> None:
        """Wait until the router has detached all of these links, or answered their detach."""
        self.wait_until(lambda: {link.name for link in links} <= self.detached, "all are detached")

    def on_delivery(self, event: Event) -> None:
        """Take a message."""
        if event.link.name in self._ends:
            super().on_delivery(event)
        elif event.link.is_receiver:
            event.delivery.update(event.delivery.ACCEPTED)
            event.delivery.settle()


class Line:
    """Three routers in a line, and an edge router."""

    def __init__(self, mesh: Mesh, edge: RunningRouter) -> None:
        self.mesh = mesh
        self.edge = edge

    def router(self, name: str) -> RunningRouter:
        """Return a router."""
        return self.edge if name == "E" else self.mesh.routers[name]

    def client(self, name: str) -> Many:
        """Return a client at a router."""
        return Many(self.router(name).port_of("clients"), container_id=f"at-{name}")

    def broker(self, **options: Any) -> Broker:
        """Return the container, once links are routed to it from everywhere."""
        broker = Broker(self.mesh.routers["C"].port_of(BROKERS), "broker", **options)
        for name in AT:
            eventually(lambda: self.is_routed(name), f"{name} routes links", every_s=0.05)  # noqa: B023
        return broker

    def is_routed(self, name: str) -> bool:
        """Whether links for the container are routed from a router."""
        client = self.client(name)
        try:
            client.producer("lr.probe").close()
        except AssertionError:
            return False
        finally:
            client.close()
        return True

    def left(self) -> dict[str, tuple[int, int, set[str]]]:
        """Return of each router how many links and connections there are, and which addresses."""
        return {
            name: (len(self.query(name, "router.link")), len(self.query(name, "connection")), self.keys(name))
            for name in AT
        }

    def keys(self, name: str) -> set[str]:
        """Return the addresses of a router, without those of whoever asks and of other routers."""
        return {row["key"] for row in self.query(name, "router.address") if not str(row["key"]).startswith("Ltemp.")}

    def query(self, name: str, entity_type: str) -> list[dict[str, Any]]:
        """Return the entities of a type at a router."""
        with ManagementClient(self.router(name).port_of("clients")) as manage:
            return manage.query(entity_type)

    def rss_bytes(self) -> dict[str, int]:
        """Return the memory that each router has, with all its processes."""
        return {name: sum(one.rss_bytes() for one in self.router(name).serving()) for name in AT}


@pytest.fixture(scope="module", params=[IN_PROCESS, TWO_ACTORS], ids=lambda form: form.name)
def line(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    form = request.param
    where = ("--address", request.getfixturevalue("ray_head").address) if form.actors else ()
    with meshing(form, request) as mesh, ExitStack() as stack:
        mesh.add("C", sections=(listener(BROKERS, role="route-container"), *routes(connection=BROKERS)))
        mesh.add("B", "C", sections=routes())
        mesh.add("A", "B", sections=(listener(EDGES, role="edge"), *routes()))
        mesh.wait_joined()
        uplink = {"role": "edge", "host": "127.0.0.1", "port": mesh.routers["A"].port_of(EDGES)}
        text = "\n".join(
            [
                section("router", mode="edge", id="E", managementAccess="change"),
                section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
                listener("clients"),
                section("connector", name="up", **uplink),
                "",
            ]
        )
        yield Line(mesh, stack.enter_context(running(form, tmp_path_factory.mktemp("edge"), text, *where)))


@pytest.mark.parametrize("name", AT)
def test_all_passes(line: Line, name: str) -> None:
    with line.broker() as broker, line.client(name) as client:
        producer = client.producer("lr.q")
        assert {one.outcome() for one in producer.send_all(range(200))} == {"accepted"}
        assert broker.taken == list(range(200))
        assert producer.send(LARGE).outcome() == "accepted"
        assert broker.taken[-1] == LARGE
        for outcome in ("rejected", "released", "modified"):
            broker.outcome = outcome
            assert producer.send("no").outcome() == outcome
        consumer = client.consumer("lr.q", credit=3, is_renewed=False)
        assert consumer.wait_for(3) == [f"of the container {number}" for number in range(3)]
        broker.wait_until(lambda: len(broker.outcomes) == 3, "the container hears of its outcomes")
        assert set(broker.outcomes) == {"accepted"}
        broker.has_messages = False
        drains = client.consumer("lr.q", credit=0)
        drains.drain(5)
        assert drains.received == []


def test_clients_hear_of_the_loss_of_the_container(line: Line) -> None:
    broker = line.broker()
    with ExitStack() as stack:
        links = {client: attach(client, "lr.q") for client in (stack.enter_context(line.client(name)) for name in AT)}
        broker.cut()
        for client, theirs in links.items():
            client.wait_until_detached(theirs)
            assert {one.remote_condition and one.remote_condition.name for one in theirs} == {"qd:routed-link-lost"}


def attach(client: Many, address: str) -> list[Link]:
    """Attach many links, half of which send; wait until all are answered."""
    with client.lock:
        session = client.keep(client.connection.session())
        session.open()
        links: list[Link] = []
        for number in range(LINKS):
            make = session.sender if number % 2 else session.receiver
            link = client.keep(make(client.next_name()))
            (link.target if number % 2 else link.source).address = address
            link.open()
            if number % 4 == 0:
                link.flow(1)
            links.append(link)
        client.wake()
    client.wait_until(lambda: all(link.state & Endpoint.REMOTE_ACTIVE for link in links), "all links are attached")
    return links


def close_links(client: Many, broker: Broker, links: list[Link]) -> None:
    with client.lock:
        for number, link in enumerate(links):
            (link.close if number % 3 else link.detach)()
        client.wake()
    client.wait_until_detached(links)


def end_session(client: Many, broker: Broker, links: list[Link]) -> None:
    with client.lock:
        links[0].session.close()
        client.wake()
    client.wait_until(lambda: links[0].session.state & Endpoint.REMOTE_CLOSED, "the session has ended")


def cut_client(client: Many, broker: Broker, links: list[Link]) -> None:
    client.cut()


def close_client(client: Many, broker: Broker, links: list[Link]) -> None:
    client.close()


def cut_broker(client: Many, broker: Broker, links: list[Link]) -> None:
    broker.cut()
    client.wait_until_detached(links)


def close_broker(client: Many, broker: Broker, links: list[Link]) -> None:
    broker.close()
    client.wait_until_detached(links)


ENDS: tuple[Callable[[Many, Broker, list[Link]], None], ...] = (
    *(close_links, end_session, cut_client, close_links, close_client, cut_broker),
    *(close_links, end_session, cut_client, close_links, close_client, close_broker),
)


def come_and_go(line: Line, rounds: range) -> None:
    """Attach links at each router in turn, and have one of their ends go in all ways, one after the other."""
    broker = None
    for number in rounds:
        end = ENDS[number % len(ENDS)]
        name = AT[number // len(ENDS) % len(AT)]
        if broker is None:
            broker = line.broker()
        client = line.client(name)
        end(client, broker, attach(client, "lr.many"))
        client.close()
        if broker.is_over:
            broker.close()
            broker = None
    if broker is not None:
        broker.close()


def test_nothing_stays_of_links_that_came_and_went(line: Line) -> None:
    line.broker().close()
    before = line.left()
    come_and_go(line, range(2 * len(ENDS)))
    eventually(lambda: line.left() == before, lambda: f"{line.left()}, and before {before}", every_s=0.2)


@pytest.mark.soak
def test_nothing_stays_of_a_hundred_thousand_links(line: Line) -> None:
    line.broker().close()
    before = line.left()
    come_and_go(line, range(ROUNDS_OF_SOAK // 10))
    memory = line.rss_bytes()
    come_and_go(line, range(ROUNDS_OF_SOAK // 10, ROUNDS_OF_SOAK))
    eventually(lambda: line.left() == before, lambda: f"{line.left()}, and before {before}", every_s=0.2)
    more = {name: octets - memory[name] for name, octets in line.rss_bytes().items()}
    assert all(octets <= RSS_MORE for octets in more.values()), more
