"""RPC and notifications over three joined routers, and what becomes of them when a router is killed."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from oslo_messaging import MessageDeliveryFailure, MessagingTimeout, RPCClient

from tests.functional.meshes import Mesh
from tests.functional.services import Echo, Gate, Heard, notification_listener, notifier, rpc_client, rpc_server
from tests.waiting import WITHIN_S, eventually

QUICK: dict[str, Any] = {"connection_retry_interval_max": 1, "link_retry_delay": 1}
NAMES = ("A", "B", "C")


@contextmanager
def served_everywhere(mesh: Mesh, topic: str) -> Iterator[dict[str, Echo]]:
    """A server at each router, of the router's name."""
    servers = {name: Echo(name) for name in NAMES}
    with ExitStack() as stack:
        for name, endpoint in servers.items():
            stack.enter_context(rpc_server(mesh.url(name), topic, name, endpoint))
        yield servers


def answer_of(client: RPCClient) -> str | None:
    """Return who answers, or nothing where nobody could."""
    try:
        return str(client.prepare(timeout=2).call({}, "who"))
    except (MessageDeliveryFailure, MessagingTimeout):
        return None


def keep_all(client: RPCClient, count: int) -> None:
    for number in range(count):
        client.cast({}, "keep", item=number)


def test_each_pattern_reaches_its_servers_at_other_routers(mesh: Mesh, topic: str) -> None:
    with served_everywhere(mesh, topic) as servers, rpc_client(mesh.url("A"), topic) as client:
        assert [client.prepare(server=name).call({}, "who") for name in NAMES] == list(NAMES)
        # Where nobody is busy the one at the caller's own router is the nearest.
        assert {client.call({}, "who") for _ in range(6)} == {"A"}
        fanout = client.prepare(fanout=True)
        keep_all(fanout, 20)
        for endpoint in servers.values():
            eventually(lambda: len(endpoint.items) >= 20, "all fanouts are done")  # noqa: B023
            assert sorted(endpoint.items) == list(range(20))


def test_servers_that_are_equally_far_share_the_calls(mesh: Mesh, topic: str) -> None:
    with (
        rpc_server(mesh.url("B"), topic, "B"),
        rpc_server(mesh.url("C"), topic, "C"),
        rpc_client(mesh.url("A"), topic) as client,
    ):
        eventually(lambda: {answer_of(client) for _ in range(6)} == {"B", "C"}, "both share the calls")


def test_notifications_cross_the_mesh(mesh: Mesh, topic: str) -> None:
    heard = Heard()
    with notification_listener(mesh.url("C"), [topic], heard), notifier(mesh.url("A"), [topic]) as sender:
        for number in range(10):
            sender.info({}, "numbered", number)
        eventually(lambda: len(heard.heard) >= 10, "all are heard")
        assert [payload for _, _, payload in heard.heard] == list(range(10))


def test_a_megabyte_crosses_the_mesh_and_comes_back(mesh: Mesh, topic: str) -> None:
    with rpc_server(mesh.url("C"), topic, "one"), rpc_client(mesh.url("A"), topic) as client:
        assert client.call({}, "echo", value="0123456789" * 100_000) == "0123456789" * 100_000


@contextmanager
def a_call_in_flight(client: RPCClient, gate: Gate, timeout: float) -> Iterator[Future[Any]]:
    """A call that is at its server, and is answered after that."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.prepare(timeout=timeout).call, {}, "pass_through", value="answered")
        assert gate.entered.wait(WITHIN_S)
        # With a later one answered, the routers know that this one is accepted.
        assert client.call({}, "who")
        try:
            yield answer
        finally:
            gate.opened.set()


def test_the_callers_router_is_killed_in_mid_call(mesh: Mesh, topic: str) -> None:
    gate = Gate()
    with (
        rpc_server(mesh.url("C"), topic, "stays", gate, Echo("stays")),
        rpc_client(mesh.url("A"), topic, **QUICK) as alone,
        a_call_in_flight(alone, gate, 4) as answer,
    ):
        mesh.routers["A"].kill()
        # Its reply address is gone with the router: it is told so, and does not hang.
        raised = answer.exception(timeout=4 + WITHIN_S)
        assert isinstance(raised, MessageDeliveryFailure | MessagingTimeout)
        gate.opened.set()
        mesh.restart("A")
        eventually(lambda: answer_of(alone) == "stays", "the caller has its router back")


def test_a_caller_goes_on_at_the_next_router_of_its_url(mesh: Mesh, topic: str) -> None:
    with rpc_server(mesh.url("C"), topic, "stays"), rpc_client(mesh.url("A", "B"), topic, **QUICK) as client:
        assert answer_of(client) == "stays"
        for name in ("A", "B"):
            mesh.routers[name].kill()
            eventually(lambda: answer_of(client) == "stays", f"it goes on without {name}")
            mesh.restart(name)
            eventually(lambda: answer_of(client) == "stays", f"it goes on with {name} again")


def test_the_servers_router_is_killed_in_mid_call(mesh: Mesh, topic: str) -> None:
    gate = Gate()
    with (
        rpc_server(mesh.url("B", "C"), topic, "moves", gate, Echo("moves"), **QUICK),
        rpc_client(mesh.url("A"), topic) as client,
        a_call_in_flight(client, gate, 6) as answer,
    ):
        for name in ("B", "C"):
            mesh.routers[name].kill()
            eventually(lambda: answer_of(client) == "moves", f"it serves without {name}")
            # Its own address may be known later than that of the topic.
            eventually(lambda: answer_of(client.prepare(server="moves")) == "moves", "it has its own address")
            mesh.restart(name)
            eventually(lambda: answer_of(client) == "moves", f"it serves with {name} again")
        assert answer.exception(timeout=WITHIN_S) is None or isinstance(
            answer.exception(), MessageDeliveryFailure | MessagingTimeout
        )


def test_a_server_that_has_moved_to_another_router_still_answers_what_it_had_begun(mesh: Mesh, topic: str) -> None:
    gate = Gate()
    with (
        rpc_server(mesh.url("B", "C"), topic, "moves", gate, Echo("moves"), **QUICK),
        rpc_client(mesh.url("A"), topic) as client,
        rpc_client(mesh.url("A"), topic) as other,
        a_call_in_flight(client, gate, 60) as answer,
    ):
        mesh.routers["B"].kill()
        eventually(lambda: answer_of(other) == "moves", "it serves without B")
        gate.opened.set()
        assert answer.result(timeout=WITHIN_S) == "answered"


def test_no_call_hangs_while_one_router_after_the_other_is_killed(mesh: Mesh, topic: str) -> None:
    limit_s = 4.0
    slowest_s = 0.0
    answers: Counter[str] = Counter()
    is_over = threading.Event()

    def call_on(client: RPCClient) -> None:
        nonlocal slowest_s
        while not is_over.is_set():
            begun = time.monotonic()
            try:
                answers[str(client.prepare(timeout=limit_s).call({}, "who"))] += 1
            except (MessageDeliveryFailure, MessagingTimeout) as error:
                answers[type(error).__name__] += 1
            slowest_s = max(slowest_s, time.monotonic() - begun)

    with ExitStack() as stack:
        for name in ("one", "two"):
            stack.enter_context(rpc_server(mesh.url(*NAMES), topic, name, **QUICK))
        clients = [stack.enter_context(rpc_client(mesh.url(*NAMES), topic, **QUICK)) for _ in range(4)]
        callers = [threading.Thread(target=call_on, args=(client,)) for client in clients]
        for caller in callers:
            caller.start()
        try:
            for name in NAMES:
                mesh.routers[name].kill()
                before = answers.total()
                eventually(lambda: answers.total() > before + 20, f"calls end without {name}")  # noqa: B023
                mesh.restart(name)
        finally:
            is_over.set()
            for caller in callers:
                caller.join(limit_s + WITHIN_S)
        assert not any(caller.is_alive() for caller in callers)
        assert slowest_s < limit_s + WITHIN_S
        assert answers["one"] + answers["two"] > 100
        for client in clients:
            eventually(lambda: answer_of(client), "each has its router")  # noqa: B023


def test_acknowledged_casts_outlive_a_router(mesh: Mesh, topic: str) -> None:
    servers = {name: Echo(name) for name in ("one", "two")}
    options: dict[str, Any] = {**QUICK, "pre_settled": "rpc-reply", "default_send_timeout": 10}
    with ExitStack() as stack:
        for name, endpoint in servers.items():
            stack.enter_context(rpc_server(mesh.url("B", "C"), topic, name, endpoint, **QUICK))
        client = stack.enter_context(rpc_client(mesh.url("A"), topic, **options))
        accepted: list[int] = []
        for number in range(200):
            if number == 60:
                mesh.routers["B"].kill()
            try:
                client.cast({}, "keep", item=number)
            except (MessageDeliveryFailure, MessagingTimeout):
                # It may have been done or not; its sender knows that it has to ask.
                continue
            accepted.append(number)
        assert len(accepted) > 190
        eventually(
            lambda: set(accepted) <= {item for endpoint in servers.values() for item in endpoint.items},
            "all that was accepted is done",
        )
        # What came back as released had been seen by nobody, and was sent again; nothing was done twice for it.
        assert Counter(item for endpoint in servers.values() for item in endpoint.items).most_common(1)[0][1] == 1
