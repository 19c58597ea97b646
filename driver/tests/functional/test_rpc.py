"""RPC through one router: who gets what, and what comes back."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import oslo_messaging
import pytest
from oslo_messaging import RemoteError, RPCClient, Target

from tests.functional.services import Echo, new_topic, rpc_client, rpc_server, rpc_servers, rpc_transport
from tests.waiting import eventually

MEGABYTE = 1_000_000


class DiskIsFull(Exception):
    """What only the server's program knows."""


class Failing:
    """An endpoint whose methods raise."""

    def missing_key(self, ctxt: dict[str, Any]) -> None:
        """Raise what every program knows."""
        raise KeyError("no such key")

    def timed_out(self, ctxt: dict[str, Any]) -> None:
        """Raise an exception of oslo.messaging."""
        raise oslo_messaging.MessagingException("too late")

    def disk_is_full(self, ctxt: dict[str, Any]) -> None:
        """Raise what the caller does not know."""
        raise DiskIsFull("no space left")


class Versioned:
    """An endpoint in a namespace, of a version."""

    target = Target(namespace="servers", version="2.3")

    def where(self, ctxt: dict[str, Any]) -> str:
        """Return where the caller has arrived."""
        return "servers 2.3"


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[RPCClient]:
    """A client of a server that has all these endpoints."""
    topic = new_topic()
    with rpc_server(url, topic, "one", Echo("one"), Failing(), Versioned()), rpc_client(url, topic) as made:
        yield made


@pytest.mark.parametrize(
    "value",
    [None, True, -(2**40), 1.5, "", "žluťoučký kůň 🐎", [1, [2, {"three": None}]], {"a": {"b": ["c"]}}],
    ids=["none", "true", "integer", "float", "empty", "text", "list", "nested"],
)
def test_a_call_returns_what_the_endpoint_returns(client: RPCClient, value: object) -> None:
    assert client.call({}, "echo", value=value) == value


def test_the_context_of_a_call_arrives_unchanged(client: RPCClient) -> None:
    context = {"user": "ü", "roles": ["admin", "reader"], "nested": {"is_admin": True, "none": None}}
    assert client.call(context, "context") == context


@pytest.mark.parametrize("size", [MEGABYTE, 40_000], ids=["1 MB", "two frames"])
def test_large_arguments_and_answers_arrive_whole(client: RPCClient, size: int) -> None:
    value = "".join(chr(ord("a") + number % 26) for number in range(size))
    assert client.call({}, "echo", value=value) == value
    assert client.call({}, "echo", value="small") == "small"


def test_a_cast_is_done_once_by_one_of_the_servers(url: str, topic: str) -> None:
    one, other = Echo(), Echo()
    with rpc_servers(url, {(topic, "one"): one, (topic, "other"): other}), rpc_client(url, topic) as client:
        for number in range(40):
            client.cast({}, "keep", item=number)
        eventually(lambda: len(one.items) + len(other.items) >= 40, "all casts are done")
        assert sorted(one.items + other.items) == list(range(40))
        assert one.items
        assert other.items


def test_a_fanout_is_done_once_by_every_server(url: str, topic: str) -> None:
    servers = {name: Echo(name) for name in ("one", "two", "three")}
    with (
        rpc_servers(url, {(topic, name): endpoint for name, endpoint in servers.items()}),
        rpc_client(url, topic) as client,
    ):
        for number in range(20):
            client.prepare(fanout=True).cast({}, "keep", item=number)
        for endpoint in servers.values():
            eventually(lambda: len(endpoint.items) >= 20, "all fanouts are done")  # noqa: B023
        assert {name: sorted(endpoint.items) for name, endpoint in servers.items()} == {
            name: list(range(20)) for name in servers
        }


def test_a_call_to_a_server_reaches_that_one(url: str, topic: str) -> None:
    servers = {(topic, name): Echo(name) for name in ("one", "two", "three")}
    with rpc_servers(url, servers), rpc_client(url, topic) as client:
        asked = ["two", "one", "three", "three", "one", "two"]
        assert [client.prepare(server=name).call({}, "who") for name in asked] == asked


def test_a_cast_to_a_server_reaches_that_one(url: str, topic: str) -> None:
    one, two = Echo(), Echo()
    with rpc_servers(url, {(topic, "one"): one, (topic, "two"): two}), rpc_client(url, topic) as client:
        for number in range(10):
            client.prepare(server="two" if number % 2 else "one").cast({}, "keep", item=number)
        eventually(lambda: len(one.items) + len(two.items) >= 10, "all casts are done")
        assert (one.items, two.items) == ([0, 2, 4, 6, 8], [1, 3, 5, 7, 9])


def test_calls_of_any_server_are_shared_by_all(url: str, topic: str) -> None:
    names = ["one", "two"]
    with rpc_servers(url, {(topic, name): Echo(name) for name in names}), rpc_client(url, topic) as client:
        assert {client.call({}, "who") for _ in range(20)} == set(names)


def test_many_topics_stay_apart(url: str) -> None:
    topics = [new_topic() for _ in range(15)]
    servers = {(name, "same"): Echo(name) for name in topics}
    with rpc_servers(url, servers), rpc_client(url, topics[0]) as client:
        assert [client.prepare(topic=name).call({}, "who") for name in topics] == topics
        assert [client.prepare(topic=name, server="same").call({}, "who") for name in topics] == topics


def test_exchanges_stay_apart(url: str, topic: str) -> None:
    with ExitStack() as stack:
        for exchange in ("nova", "neutron"):
            stack.enter_context(rpc_server(url, topic, "same", Echo(exchange), exchange=exchange))
        clients = [stack.enter_context(rpc_client(url, topic, exchange=name)) for name in ("neutron", "nova")]
        assert [client.call({}, "who") for client in clients] == ["neutron", "nova"]
        assert clients[0].prepare(exchange="nova").call({}, "who") == "nova"


def test_pseudo_virtual_hosts_stay_apart(url: str, topic: str) -> None:
    with ExitStack() as stack:
        for vhost in ("red", "blue"):
            stack.enter_context(rpc_server(url + vhost, topic, "same", Echo(vhost)))
        for vhost in ("red", "blue"):
            client = stack.enter_context(rpc_client(url + vhost, topic))
            assert client.call({}, "who") == vhost
            assert client.prepare(server="same").call({}, "who") == vhost


def test_namespaces_and_versions_find_their_endpoint(client: RPCClient) -> None:
    assert client.call({}, "who") == "one"
    named = client.prepare(namespace="servers", version="2.1")
    assert named.call({}, "where") == "servers 2.3"


@pytest.mark.parametrize(
    ("target", "method", "expected"),
    [
        ({}, "nothing", "NoSuchMethod"),
        ({"namespace": "servers"}, "who", "UnsupportedVersion"),
        ({"namespace": "servers", "version": "2.9"}, "where", "UnsupportedVersion"),
        ({"namespace": "servers", "version": "2.0"}, "nothing", "NoSuchMethod"),
        ({"namespace": "elsewhere"}, "where", "UnsupportedVersion"),
    ],
    ids=["method", "endpoint", "version", "method of a namespace", "namespace"],
)
def test_a_call_of_what_is_not_there_says_so(
    client: RPCClient, target: dict[str, str], method: str, expected: str
) -> None:
    with pytest.raises(RemoteError) as raised:
        client.prepare(**target).call({}, method)
    assert raised.value.exc_type == expected
    assert client.call({}, "echo", value="goes on") == "goes on"


def test_wrong_arguments_are_the_callers_to_hear_of(client: RPCClient) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        client.call({}, "echo", wrong=1)


@pytest.mark.parametrize(
    ("method", "expected", "text"),
    [("missing_key", KeyError, "no such key"), ("timed_out", oslo_messaging.MessagingException, "too late")],
    ids=["builtin", "oslo.messaging"],
)
def test_an_exception_of_an_allowed_module_is_raised_as_it_was(
    client: RPCClient, method: str, expected: type[Exception], text: str
) -> None:
    with pytest.raises(expected, match=text) as raised:
        client.call({}, method)
    assert f"in {method}" in str(raised.value)


def test_any_other_exception_is_told_with_its_type_text_and_traceback(client: RPCClient) -> None:
    with pytest.raises(RemoteError) as raised:
        client.call({}, "disk_is_full")
    assert (raised.value.exc_type, raised.value.value) == ("DiskIsFull", "no space left")
    assert "in disk_is_full" in str(raised.value)


def test_a_cast_whose_endpoint_raises_does_not_stop_the_server(client: RPCClient) -> None:
    client.cast({}, "missing_key")
    assert client.call({}, "who") == "one"


@pytest.mark.parametrize("threads", [8, 32])
def test_callers_at_the_same_time_each_get_their_own_answer(client: RPCClient, threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        numbers = range(threads * 10)
        assert list(pool.map(lambda number: client.call({}, "echo", value=number), numbers)) == list(numbers)


def test_several_clients_and_servers_share_a_transport(url: str) -> None:
    topics = [new_topic(), new_topic()]
    with rpc_transport(url) as transport, ExitStack() as stack:
        for name in topics:
            target = Target(topic=name, server="same")
            server = oslo_messaging.get_rpc_server(transport, target, [Echo(name)])
            server.start()
            stack.callback(server.wait)
            stack.callback(server.stop)
        clients = [oslo_messaging.get_rpc_client(transport, Target(topic=name), timeout=10) for name in topics]
        assert [client.call({}, "who") for client in clients] == topics


def test_a_server_that_has_stopped_is_not_called_any_more(url: str, topic: str) -> None:
    with rpc_server(url, topic, "stays"), rpc_client(url, topic) as client:
        with rpc_server(url, topic, "leaves"):
            eventually(lambda: {client.call({}, "who") for _ in range(4)} == {"stays", "leaves"}, "both are called")
        assert {client.call({}, "who") for _ in range(10)} == {"stays"}
