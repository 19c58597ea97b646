"""Servers, clients and listeners of oslo.messaging for the tests, each on a transport of its own that ends with it."""

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_messaging import NotificationResult, Notifier, RPCClient, Target

from tests.waiting import WITHIN_S


def configuration() -> cfg.ConfigOpts:
    """Return the configuration of all services; what is to differ is in their URLs."""
    cfg.CONF([], project="functional", default_config_files=[], default_config_dirs=[])
    return cfg.CONF


def with_options(url: str, **options: object) -> str:
    """Return a URL with options of the driver."""
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def new_topic() -> str:
    """Return a topic that nobody else uses."""
    return f"topic-{uuid.uuid4().hex[:8]}"


class Endings:
    """What ends behind the tests' backs, since oslo.messaging takes a second to end a server that has served."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(16, "ending")
        self._pending: list[Future[None]] = []

    def add(self, *actions: Callable[[], object]) -> None:
        """Do these one after the other, soon."""
        self._pending.append(self._pool.submit(_do_all, actions))

    def wait(self) -> None:
        """Wait until all have ended; raise what one has raised."""
        pending, self._pending = self._pending, []
        for one in pending:
            one.result(timeout=2 * WITHIN_S)


def _do_all(actions: Sequence[Callable[[], object]]) -> None:
    for action in actions:
        action()


ENDINGS = Endings()


@contextmanager
def rpc_transport(url: str, **options: object) -> Iterator[oslo_messaging.Transport]:
    """A transport for RPC."""
    transport = oslo_messaging.get_rpc_transport(configuration(), url=with_options(url, **options))
    try:
        yield transport
    finally:
        transport.cleanup()


@contextmanager
def notification_transport(url: str, **options: object) -> Iterator[oslo_messaging.Transport]:
    """A transport for notifications."""
    transport = oslo_messaging.get_notification_transport(configuration(), url=with_options(url, **options))
    try:
        yield transport
    finally:
        transport.cleanup()


@contextmanager
def rpc_client(
    url: str, topic: str, *, exchange: str | None = None, timeout: float = WITHIN_S, **options: object
) -> Iterator[RPCClient]:
    """A client for a topic."""
    with rpc_transport(url, **options) as transport:
        target = Target(topic=topic, exchange=exchange)
        yield oslo_messaging.get_rpc_client(transport, target, timeout=timeout)


@contextmanager
def rpc_server(
    url: str, topic: str, server: str, *endpoints: Any, exchange: str | None = None, **options: object
) -> Iterator[None]:
    """A server that has started; with no endpoints it has an Echo."""
    transport = oslo_messaging.get_rpc_transport(configuration(), url=with_options(url, **options))
    target = Target(topic=topic, server=server, exchange=exchange)
    served = oslo_messaging.get_rpc_server(transport, target, list(endpoints) or [Echo(server)])
    served.start()
    try:
        yield
    finally:
        served.stop()
        ENDINGS.add(served.wait, transport.cleanup)


@contextmanager
def rpc_servers(url: str, endpoints: Mapping[tuple[str, str], Any], **options: object) -> Iterator[None]:
    """Servers that have started, by their topic and name."""
    with ExitStack() as stack:
        for (topic, server), endpoint in endpoints.items():
            stack.enter_context(rpc_server(url, topic, server, endpoint, exchange=None, **options))
        yield


class Echo:
    """An endpoint that gives back what it is given, and keeps what was cast."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.items: list[Any] = []
        """What was cast, in the order in which it came."""

    def echo(self, ctxt: dict[str, Any], value: Any) -> Any:
        """Return the value."""
        return value

    def who(self, ctxt: dict[str, Any]) -> str:
        """Return the name of this server."""
        return self.name

    def context(self, ctxt: dict[str, Any]) -> dict[str, Any]:
        """Return the context of the call."""
        return ctxt

    def keep(self, ctxt: dict[str, Any], item: Any) -> None:
        """Keep an item."""
        self.items.append(item)


class Gate:
    """An endpoint whose calls wait until the test lets them go on."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.inside: list[Any] = []
        """What came in."""
        self.opened = threading.Event()

    def pass_through(self, ctxt: dict[str, Any], value: Any) -> Any:
        """Return the value when the gate is open."""
        self.inside.append(value)
        self.entered.set()
        assert self.opened.wait(2 * WITHIN_S)
        return value


@contextmanager
def notifier(url: str, topics: Sequence[str], *, driver: str = "messagingv2", **options: object) -> Iterator[Notifier]:
    """A notifier for topics."""
    with notification_transport(url, **options) as transport:
        yield Notifier(transport, "publisher", driver=driver, topics=list(topics), retry=-1)


@contextmanager
def notification_listener(
    url: str, topics: Sequence[str], *endpoints: Any, allow_requeue: bool = False, **options: object
) -> Iterator[None]:
    """A listener that has started."""
    transport = oslo_messaging.get_notification_transport(configuration(), url=with_options(url, **options))
    listener = oslo_messaging.get_notification_listener(
        transport, [Target(topic=topic) for topic in topics], list(endpoints), allow_requeue=allow_requeue
    )
    # Two threads might say in another order what they took in turn.
    listener.start(override_pool_size=1)
    try:
        yield
    finally:
        listener.stop()
        ENDINGS.add(listener.wait, transport.cleanup)


class Heard:
    """An endpoint for notifications of all priorities, which keeps what it hears."""

    def __init__(self, *, requeues: int = 0) -> None:
        self.heard: list[tuple[str, str, Any]] = []
        """Priority, event type and payload of each."""
        self.metadata: list[dict[str, Any]] = []
        self._requeues = requeues

    def _hear(self, priority: str, event: str, payload: Any, metadata: dict[str, Any]) -> Any:
        self.heard.append((priority, event, payload))
        self.metadata.append(metadata)
        if self._requeues:
            self._requeues -= 1
            return NotificationResult.REQUEUE
        return NotificationResult.HANDLED


def _priority(name: str) -> Any:
    def heard(self: Heard, ctxt: Any, publisher: str, event: str, payload: Any, metadata: Any) -> Any:
        return self._hear(name, event, payload, metadata)

    return heard


for _name in ("audit", "critical", "debug", "error", "info", "sample", "warn"):
    setattr(Heard, _name, _priority(_name))
