"""A router at hand: a backing of plain lists, and what drives the agent's coroutines."""

from collections.abc import Coroutine, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from routerd.core import ManagementAccess, RouterSettings
from routerd.management import (
    CENTRAL_ACTORS,
    PREFIX,
    AddressRow,
    Agent,
    Answer,
    AutoLinkRow,
    BindingRow,
    Certificate,
    ConfiguredEntity,
    ConnectionRow,
    ConnectorRow,
    ExchangeRow,
    LinkRouteRow,
    LinkRow,
    LogRow,
    NodeRow,
    PolicyRow,
    PoolRow,
    PublisherRow,
    Request,
    RouterFigures,
    SubscriptionRow,
    Tally,
    TopicRow,
    WorkerFigures,
    WorkerRow,
    file_entities,
    find_entity_type,
    last_number,
)

T = TypeVar("T")

COUNTERS = (
    *("deliveries", "presettled", "dropped_presettled", "accepted", "rejected", "released", "modified"),
    *("delayed_1s", "delayed_10s"),
)
SECTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("router", {"id": "R1", "metadata": "rack 4"}),
    ("listener", {"host": "127.0.0.1", "port": "5672", "name": "L1"}),
    ("listener", {"host": "", "port": "amqps"}),
    ("log", {"module": "SERVER", "enable": "debug+"}),
    ("address", {"prefix": "/multicast.", "distribution": "multicast"}),
    ("address", {"pattern": "a.*.b/#", "name": "starry", "priority": 7, "waypoint": True}),
    ("address", {"prefix": "gone", "distribution": "unavailable"}),
)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine that never waits comes to."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    raise AssertionError("it waits for something")


def entities(*sections: tuple[str, Mapping[str, Any]]) -> list[ConfiguredEntity]:
    """Return the entities of a file with these sections."""
    given = []
    for name, values in sections:
        entity_type = find_entity_type(name)
        assert entity_type is not None
        given.append((entity_type, values))
    return list(file_entities(given))


def counters(**counted: int) -> dict[str, int]:
    """Return the sums of a worker."""
    return dict.fromkeys(COUNTERS, 0) | counted


def connection(number: int, **values: Any) -> ConnectionRow:
    """Return a connection of a client."""
    row = ConnectionRow(
        worker=0,
        connection=number,
        role="normal",
        is_incoming=True,
        host=f"127.0.0.1:{40_000 + number}",
        container=f"client-{number}",
        hostname="",
        mechanism=None,
        user=None,
        tenant=None,
        listener="listener/127.0.0.1:5672:L1",
        is_open=True,
        is_blocked=False,
        is_traced=False,
        producers=0,
        consumers=0,
        uptime_s=90.7,
        last_delivery_s=None,
        properties={},
    )
    return row._replace(**values)


def link(number: int, **values: Any) -> LinkRow:
    """Return a link of a client."""
    row = LinkRow(
        worker=0,
        connection=1,
        link=number,
        name=f"link-{number}",
        role="normal",
        is_outgoing=False,
        address="M0orders",
        priority=4,
        capacity=250,
        credit=250,
        unsettled=0,
        undelivered=0,
        aborted=0,
        stuck=0,
        oldest_unsettled_s=0.0,
        settle_rate=0,
        stalls=0,
        zero_credit_s=0.0,
        **counters(),
    )
    return row._replace(**values)


def address(key: str, **values: Any) -> AddressRow:
    """Return an address of one worker."""
    row = AddressRow(
        worker=0,
        key=key,
        distribution="balanced",
        priority=-1,
        producers=0,
        consumers=0,
        inner_consumers=0,
        sibling_consumers=0,
        ingress=0,
        egress=0,
        parked=0,
        oldest_parked_s=0.0,
    )
    return row._replace(**values)


def worker(number: int, **values: Any) -> WorkerRow:
    """Return a connection actor."""
    row = WorkerRow(
        worker=number,
        role=f"connection.{number}",
        pid=100 + number,
        host="here",
        node="10.0.0.1",
        uptime_s=80.2,
        restarts=0,
        connections=0,
        links=0,
        addresses=0,
        siblings=0,
        event_loop_lag_s=0.0,
        event_loop_lag_max_s=0.0,
        buffered_octets=0,
        memory_octets=0,
        stuck=0,
        links_blocked=0,
        ingress=counters(),
        egress=counters(),
        fabric_in=counters(),
        fabric_out=counters(),
        inner_in=counters(),
        inner_out=counters(),
    )
    return replace(row, **values)


def topic(name: str, **values: Any) -> TopicRow:
    """Return a topic at which nothing passes."""
    row = TopicRow(0, name, 0, 0, 0, 0, 0, 0, 0.0, (), 0, 0, 0, 0, 0)
    return row._replace(**values)


def publisher(topic: str, container: str, **values: Any) -> PublisherRow:
    """Return a publisher that is attached, and waits for nothing."""
    row = PublisherRow(0, topic, container, "out", True, 0, 0, 0.0, (), 250, 0, 0, 0)
    return row._replace(**values)


def subscription(topic: str, container: str, **values: Any) -> SubscriptionRow:
    """Return a durable subscription that is attached here, and that nobody waits for."""
    row = SubscriptionRow(0, topic, container, "in", "R1", True, True, 3600.0, 0.0, 0, 0, 0, 0, 0.0)
    return row._replace(**values)


def node(index: int, name: str, **values: Any) -> NodeRow:
    """Return a router of the network; that with index 0 is the one that is asked."""
    return replace(NodeRow(id=name, is_own=index == 0, instance=1_795_176_000 + index, index=index), **values)


class Pause:
    """Something that takes a while."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class FakeRouter:
    """What the agent asks of a router, from lists that a test fills."""

    def __init__(self, *sections: tuple[str, Mapping[str, Any]], settings: RouterSettings | None = None) -> None:
        self.settings = settings or RouterSettings(
            id="R1", version="0.1.0", metadata="rack 4", management_access=ManagementAccess.CHANGE
        )
        self.entities: list[ConfiguredEntity] = entities(*sections)
        self.uptime = 100.5
        self.worker_rows: list[WorkerRow] = [worker(0)]
        self.connection_rows: list[ConnectionRow] = []
        self.link_rows: list[LinkRow] = []
        self.address_rows: list[AddressRow] = []
        self.connector_rows: list[ConnectorRow] = []
        self.link_route_rows: list[LinkRouteRow] = []
        self.auto_link_rows: list[AutoLinkRow] = []
        self.exchange_rows: list[ExchangeRow] = []
        self.binding_rows: list[BindingRow] = []
        self.topic_rows: list[TopicRow] = []
        self.publisher_rows: list[PublisherRow] = []
        self.subscription_rows: list[SubscriptionRow] = []
        self.node_rows: list[NodeRow] = []
        self.log_rows: list[LogRow] = []
        self.counts: dict[str, dict[str, int]] = {}
        self.pool_rows: list[PoolRow] = []
        self.policy_rows: list[PolicyRow] = [PolicyRow()]
        self.worker_figures: list[WorkerFigures] = []
        self.certificate_rows: list[Mapping[str, Certificate]] = []
        self.restarts = dict.fromkeys(CENTRAL_ACTORS, 0)
        self.absent: list[int] = []
        self.tally: Tally | None = None
        """What the workers keep."""
        self.asked: list[str] = []
        """What was gathered, and what was changed."""
        self.failure: Exception | None = None
        """Of everything that is gathered or changed."""
        self.is_slow = False
        """Whether a change takes a while."""
        self._number = last_number(self.entities)

    def uptime_s(self) -> float:
        return self.uptime

    def new_number(self) -> int:
        self._number += 1
        return self._number

    async def workers(self) -> list[WorkerRow]:
        return self._gathered("workers", self.worker_rows)

    async def connections(self) -> list[ConnectionRow]:
        return self._gathered("connections", self.connection_rows)

    async def links(self) -> list[LinkRow]:
        return self._gathered("links", self.link_rows)

    async def addresses(self) -> list[AddressRow]:
        return self._gathered("addresses", self.address_rows)

    async def connectors(self) -> list[ConnectorRow]:
        return self._gathered("connectors", self.connector_rows)

    async def certificates(self) -> list[Mapping[str, Certificate]]:
        return self._gathered("certificates", self.certificate_rows)

    async def link_routes(self) -> list[LinkRouteRow]:
        return self._gathered("link_routes", self.link_route_rows)

    async def auto_links(self) -> list[AutoLinkRow]:
        return self._gathered("auto_links", self.auto_link_rows)

    async def exchanges(self) -> list[ExchangeRow]:
        return self._gathered("exchanges", self.exchange_rows)

    async def bindings(self) -> list[BindingRow]:
        return self._gathered("bindings", self.binding_rows)

    async def topics(self) -> list[TopicRow]:
        return self._gathered("topics", self.topic_rows)

    async def publishers(self) -> list[PublisherRow]:
        return self._gathered("publishers", self.publisher_rows)

    async def subscriptions(self) -> list[SubscriptionRow]:
        return self._gathered("subscriptions", self.subscription_rows)

    async def nodes(self) -> list[NodeRow]:
        return self._gathered("nodes", self.node_rows)

    async def log(self) -> list[LogRow]:
        return self._gathered("log", self.log_rows)

    async def log_counts(self) -> Mapping[str, Mapping[str, int]]:
        self._gathered("log_counts", [])
        return self.counts

    async def pools(self) -> list[PoolRow]:
        return self._gathered("pools", self.pool_rows)

    async def policy(self) -> list[PolicyRow]:
        return self._gathered("policy", self.policy_rows)

    async def figures(self) -> RouterFigures:
        workers = self._gathered("figures", self.worker_figures)
        return RouterFigures(
            workers=workers, absent=self.absent, addresses=len(self.address_rows), restarts=self.restarts
        )

    async def keep_tally(self, tally: Tally) -> None:
        self.tally = tally

    async def kept_tally(self) -> Tally | None:
        self._gathered("kept tally", [])
        return self.tally

    async def create(self, entity: ConfiguredEntity) -> None:
        await self._begun(f"create {entity.identity}")
        self.entities.append(entity)

    async def update(self, old: ConfiguredEntity, new: ConfiguredEntity) -> None:
        await self._begun(f"update {old.identity}")
        self.entities[self.entities.index(old)] = new

    async def delete(self, entity: ConfiguredEntity) -> None:
        await self._begun(f"delete {entity.identity}")
        self.entities.remove(entity)

    async def close_connection(self, connection: int) -> bool:
        self._gathered(f"close {connection}", [])
        return self._has(connection)

    async def end_subscription(self, topic: str, container: str, link: str) -> bool:
        self._gathered(f"end {topic} {container} {link}", [])
        before = self.subscription_rows
        self.subscription_rows = [one for one in before if one[1:4] != (topic, container, link)]
        return len(self.subscription_rows) < len(before)

    async def set_trace(self, connection: int, is_on: bool) -> bool:
        self._gathered(f"trace {connection} {is_on}", [])
        return self._has(connection)

    async def _begun(self, what: str) -> None:
        self._gathered(what, [])
        if self.is_slow:
            await Pause()

    def _has(self, number: int) -> bool:
        return any(row.connection == number for row in self.connection_rows)

    def _gathered(self, what: str, rows: Sequence[T]) -> list[T]:
        self.asked.append(what)
        if self.failure is not None:
            raise self.failure
        return list(rows)


class Client:
    """Asks an agent as a client would: properties as keywords, `P.` for the prefix of types."""

    def __init__(self, router: FakeRouter) -> None:
        self.router = router
        self.agent = Agent(router)

    def ask(self, operation: str | None = None, body: Any = None, **properties: Any) -> Answer:
        return run(self.begun(operation, body, **properties))

    def begun(self, operation: str | None, body: Any, **properties: Any) -> Coroutine[Any, Any, Answer]:
        """Return a request that is yet to be answered."""
        given = {
            key: PREFIX + value[2:] if isinstance(value, str) and value.startswith("P.") else value
            for key, value in properties.items()
        }
        if operation is not None:
            given["operation"] = operation
        return self.agent.answer(Request(given, body))

    def query(self, entity_type: str | None = None, names: Sequence[Any] = (), **properties: Any) -> Answer:
        if entity_type is not None:
            properties["entityType"] = entity_type
        node = {"type": "org.amqp.management", "name": "self"}
        return self.ask("QUERY", {"attributeNames": list(names)}, **{**node, **properties})

    def rows(self, entity_type: str | None, *names: str, **properties: Any) -> list[list[Any]]:
        answer = self.query(entity_type, names, **properties)
        assert (answer.status, answer.description) == (200, "OK")
        assert answer.body["attributeNames"] == list(names)
        rows: list[list[Any]] = answer.body["results"]
        return rows


def client_of(*sections: tuple[str, Mapping[str, Any]], settings: RouterSettings | None = None) -> Client:
    """Return a client of a router whose file has these sections."""
    return Client(FakeRouter(*sections, settings=settings))


def refusal(answer: Answer) -> tuple[int, str]:
    """Return what a client reads of an answer that says no."""
    return answer.status, answer.description
