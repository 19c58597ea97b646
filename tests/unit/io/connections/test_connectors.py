"""Connectors on virtual time: when they try again, where else they connect to, and what management is told of them."""

import asyncio
import re
import selectors
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from routerd.config import ConnectorConfig
from routerd.core import Peer
from routerd.io.connections import connectors
from routerd.io.connections.connectors import (
    FAILOVERS_MAX,
    OPEN_S,
    REMIND_S,
    RETRY_AT_MOST_S,
    RETRY_S,
    Connector,
    Connectors,
    ConnectorState,
    client_sasl,
)
from routerd.io.tls import TlsProfileBroken
from routerd.wire import Connection, ConnectionConfig, Error, Handler, Symbol
from routerd.wire.sasl import GssapiClient, SaslFailed
from routerd.wire.sasl_frames import SaslMechanisms

CONFIG = ConnectorConfig(host="b", port=5673, name="to-b")
IDENTITY = "connector/b:5673:to-b"
USER = {"sasl_username": "u", "sasl_password": "p"}
OPENED = (
    "[C{}] Connection Opened: dir=out host={} vhost= encrypted=no auth=no user=anonymous container_id=B props={}"
)


class VirtualTime(selectors.BaseSelector):
    """Waits for nothing: time goes on to when the loop has something to do."""

    def __init__(self) -> None:
        self.now = 100.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, 0, None)

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += max(timeout or 0.0, 0.0)
        return []

    def get_map(self) -> Any:
        return {}


class Loop(asyncio.SelectorEventLoop):
    """An event loop on virtual time, in which connecting succeeds or fails as it is told."""

    def __init__(self) -> None:
        self.clock = VirtualTime()
        super().__init__(self.clock)
        self.attempts: list[tuple[float, str, int]] = []
        self.errors: dict[tuple[str, int], Exception] = {}
        self.families: list[int] = []

    def time(self) -> float:
        return self.clock.now

    async def create_connection(self, factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:  # type: ignore[override]
        self.attempts.append((round(self.clock.now - 100.0, 6), host, port))
        self.families.append(options["family"])
        error = self.errors.get((host, port))
        if error is not None:
            raise error
        transport = factory()
        transport.is_over = False
        return None, transport

    def places(self) -> list[tuple[str, int]]:
        return [(host, port) for _, host, port in self.attempts]


class Transport:
    """The connection that a connector makes, with the far end in memory."""

    def __init__(self, config: ConnectorConfig, number: int) -> None:
        self.peer = Peer(number)
        self.is_over = True
        self.failure = self.loss = ""
        self.ended: list[str] = []
        self.connection = Connection(ConnectionConfig(container_id="R"), Handler(), is_client=True)
        self.connection.open()
        self.peer.connection, self.peer.is_initiator = self.connection, True

    def answer(self, properties: dict[Any, Any] | None = None) -> None:
        """Have the peer answer the open."""
        far = Connection(ConnectionConfig(container_id="B", properties=properties), Handler(), is_client=False)
        far.start(0.0)
        self.connection.start(0.0)
        far.receive_data(bytes(self.connection.data_to_send(0.0)), 0.0)
        far.open()
        self.connection.receive_data(bytes(far.data_to_send(0.0)), 0.0)
        self.peer.is_open = True

    def lose(self, error: Error | None = None) -> None:
        """Lose the socket, or be closed by the peer."""
        self.peer.error = error
        self.peer.is_open = False
        self.is_over = True

    def abort(self) -> None:
        self.ended.append("aborted")
        self.is_over = True

    def end_soon(self) -> None:
        self.ended.append("ends soon")


class Made:
    """Connectors, and the transports that they have made."""

    def __init__(self) -> None:
        self.transports: list[Transport] = []
        self.hosts: list[str] = []
        self.all = Connectors(self.make)

    def make(self, config: ConnectorConfig, host: str) -> Any:
        self.hosts.append(host)
        transport = Transport(config, len(self.transports) + 1)
        self.transports.append(transport)
        return transport

    @property
    def latest(self) -> Any:
        return self.transports[-1]

    @property
    def state(self) -> ConnectorState:
        [state] = self.all.states()
        return state

    async def answered(self, properties: dict[Any, Any] | None = None) -> None:
        """Have the peer answer, and the connector see it."""
        self.latest.answer(properties)
        self.all.notice(self.latest)
        await asyncio.sleep(0.001)

    async def lost(self, error: Error | None = None) -> None:
        """Have the connection lost, and the connector see it."""
        self.latest.lose(error)
        self.all.notice(self.latest)
        await asyncio.sleep(0.001)


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loop]:
    monkeypatch.setattr(connectors.random, "uniform", lambda low, high: (low + high) / 2)
    made = Loop()
    yield made
    made.run_until_complete(made.shutdown_asyncgens())
    made.close()


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(connectors._log, "warning", lambda text, *arguments: lines.append(text % arguments))
    return lines


def run(loop: Loop, scenario: Coroutine[Any, Any, None]) -> None:
    """Run a scenario, and end what is left of it."""

    async def whole() -> None:
        await scenario
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        assert [one for one in await asyncio.gather(*left, return_exceptions=True) if isinstance(one, Exception)] == []

    loop.run_until_complete(whole())


def failovers(*places: Any) -> dict[Any, Any]:
    """The properties by which a peer says where one can connect to instead."""
    entries = [
        {Symbol("network-host"): place[0], Symbol("port"): place[1]} if isinstance(place, tuple) else place
        for place in places
    ]
    return {Symbol("failover-server-list"): entries}


class TestConnecting:
    def test_a_connector_connects_at_once_and_says_so(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0)
            assert made.state == ConnectorState(IDENTITY, "CONNECTING", "", "")
            await asyncio.sleep(0.5)
            assert made.state == ConnectorState(IDENTITY, "CONNECTING", "", "")
            await made.answered()
            assert made.state == ConnectorState(IDENTITY, "SUCCESS", OPENED.format(1, "b:5673", ""), "")

        run(loop, scenario())
        assert loop.attempts == [(0.0, "b", 5673)]

    @pytest.mark.parametrize(("family", "number"), [(None, 0), ("IPv4", 2), ("IPv6", 10)])
    def test_the_family_is_as_configured(self, loop: Loop, family: str | None, number: int) -> None:
        async def scenario() -> None:
            Made().all.start(ConnectorConfig(host="b", port=1, family=family))
            await asyncio.sleep(0.01)

        run(loop, scenario())
        assert loop.families == [number]

    def test_it_tries_again_after_ever_longer_pauses(self, loop: Loop) -> None:
        loop.errors["b", 5673] = ConnectionRefusedError(111, "Connection refused")
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(30.0)
            assert made.state == ConnectorState(
                IDENTITY, "CONNECTING", "Connection to b:5673 failed: Connection refused", ""
            )

        run(loop, scenario())
        at = [at for at, *_ in loop.attempts]
        pauses = [round(later - earlier, 3) for earlier, later in pairwise(at)]
        assert pauses == [min(RETRY_S * 2**number, RETRY_AT_MOST_S) for number in range(len(pauses))]
        assert pauses[-1] == RETRY_AT_MOST_S
        assert all(transport.connection.is_finished for transport in made.transports)

    def test_routers_that_lost_the_same_peer_do_not_all_come_back_at_once(
        self, loop: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[tuple[float, float]] = []

        def uniform(low: float, high: float) -> float:
            asked.append((low, high))
            return high

        monkeypatch.setattr(connectors.random, "uniform", uniform)
        loop.errors["b", 5673] = OSError("no way")

        async def scenario() -> None:
            Made().all.start(CONFIG)
            await asyncio.sleep(0.2)

        run(loop, scenario())
        assert asked[0] == (0.75, 1.25)
        assert [at for at, *_ in loop.attempts] == [0.0, 0.125]

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
            (OSError("Multiple exceptions: one, two"), "Multiple exceptions: one, two"),
            (UnicodeError("label empty or too long"), "label empty or too long"),
            (ValueError("embedded null byte"), "embedded null byte"),
        ],
    )
    def test_why_it_failed_is_said_and_logged_once(
        self, loop: Loop, warnings: list[str], error: Exception, reason: str
    ) -> None:
        loop.errors["b", 5673] = error
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(3.0)
            assert made.state.message == f"Connection to b:5673 failed: {reason}"

        run(loop, scenario())
        assert len(loop.attempts) > 3
        assert warnings == [f"[C1] Connection to b:5673 failed: {reason} ({IDENTITY})"]

    def test_what_goes_on_failing_is_logged_once_a_minute(self, loop: Loop, warnings: list[str]) -> None:
        loop.errors["b", 5673] = OSError("away")
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(REMIND_S - RETRY_AT_MOST_S)
            assert warnings == [f"[C1] Connection to b:5673 failed: away ({IDENTITY})"]
            await asyncio.sleep(2 * RETRY_AT_MOST_S)

        run(loop, scenario())
        again = re.fullmatch(
            r"\[C(\d+)\] Connection to b:5673 failed: away \((.*), (\d+) failures in a row\)", warnings[1]
        )
        assert again is not None
        assert again[2] == IDENTITY
        assert again[1] == again[3]
        assert len(warnings) == 2

    @pytest.mark.parametrize(
        ("attribute", "part"),
        [("caCertFile", "CA"), ("certFile", "local certificate"), ("ciphers", "cipher"), ("name", "profile")],
    )
    def test_without_a_usable_profile_nothing_is_connected_and_an_error_says_why(
        self, loop: Loop, warnings: list[str], monkeypatch: pytest.MonkeyPatch, attribute: str, part: str
    ) -> None:
        errors: list[str] = []
        monkeypatch.setattr(connectors._log, "error", lambda text, *arguments: errors.append(text % arguments))
        fault = TlsProfileBroken("routers", attribute, None, "missing")

        def make(config: ConnectorConfig, host: str) -> Any:
            raise fault

        async def scenario() -> None:
            connector = Connector(CONFIG, make)
            await asyncio.sleep(5 * RETRY_AT_MOST_S)
            assert connector.state.message == f"Connection to b:5673 failed: {fault}"

        run(loop, scenario())
        assert loop.attempts == []
        assert errors == [f"SSL {part} configuration failed for connection to b:5673: {fault}"]
        assert warnings == [f"Connection to b:5673 failed: {fault} ({IDENTITY})"]

    def test_another_reason_is_logged_at_once_and_the_same_after_a_success(
        self, loop: Loop, warnings: list[str]
    ) -> None:
        made = Made()

        async def scenario() -> None:
            for reason in ("away", "busy", "away"):
                loop.errors["b", 5673] = OSError(reason)
                if reason == "away" and not made.transports:
                    made.all.start(CONFIG)
                await asyncio.sleep(5.0)
            del loop.errors["b", 5673]
            await asyncio.sleep(3.0)
            await made.answered()
            loop.errors["b", 5673] = OSError("away")
            await made.lost()
            await asyncio.sleep(1.0)

        run(loop, scenario())
        reasons = [re.findall(r"failed: (.*) \(", text)[0] for text in warnings]
        assert reasons == ["away", "busy", "the connection was lost", "away"]

    def test_a_peer_that_does_not_answer_the_open_is_given_up(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(OPEN_S - 0.01)
            assert made.transports[0].ended == []
            await asyncio.sleep(0.02)
            assert made.transports[0].ended == ["aborted"]
            assert made.state.status == "CONNECTING"
            assert made.state.message == "Connection to b:5673 failed: the peer did not answer the open"

        run(loop, scenario())

    def test_one_that_ends_before_its_open_is_tried_again_at_once(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(1.0)
            await made.lost(Error(condition="amqp:unauthorized-access", description="who are you?"))
            assert made.state.message == "Connection to b:5673 failed: amqp:unauthorized-access: who are you?"
            await asyncio.sleep(RETRY_S)
            assert len(made.transports) == 2

        run(loop, scenario())

    def test_a_connection_that_is_lost_is_made_again_after_a_short_pause(self, loop: Loop) -> None:
        loop.errors["b", 5673] = OSError("away")
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(20.0)
            del loop.errors["b", 5673]
            await asyncio.sleep(6.0)
            await made.answered()
            assert made.state.status == "SUCCESS"
            before = len(made.transports)
            await made.lost()
            assert made.state == ConnectorState(
                IDENTITY, "CONNECTING", "Connection to b:5673 failed: the connection was lost", ""
            )
            await asyncio.sleep(RETRY_S)
            assert len(made.transports) == before + 1

        run(loop, scenario())

    def test_a_peer_that_closes_says_why(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered()
            await made.lost(Error(condition="amqp:connection:forced"))
            assert made.state.message == "Connection to b:5673 failed: amqp:connection:forced: "

        run(loop, scenario())

    def test_what_becomes_of_other_connections_is_of_no_account(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            stranger: Any = Transport(CONFIG, 9)
            stranger.answer()
            made.all.notice(stranger)
            await asyncio.sleep(0.1)
            assert made.state.status == "CONNECTING"

        run(loop, scenario())


class TestFailovers:
    def test_the_places_that_a_peer_names_are_tried_in_turn(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered(failovers(("c", "5674"), ("d", 5675)))
            urls = ["amqp://b:5673", "amqp://c:5674", "amqp://d:5675"]
            assert made.state.failover_urls == ", ".join(urls)
            for place in ("b", "c", "d"):
                loop.errors[place, 5673 + "bcd".index(place)] = OSError("away")
            await made.lost()
            assert made.state.failover_urls == ", ".join([*urls[1:], urls[0]])
            await asyncio.sleep(5.0)

        run(loop, scenario())
        assert loop.places()[:6] == [("b", 5673), ("c", 5674), ("d", 5675), ("b", 5673), ("c", 5674), ("d", 5675)]

    def test_another_peer_names_others(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered(failovers(("c", 1)))
            await made.lost()
            await asyncio.sleep(0.2)
            assert loop.places()[-1] == ("c", 1)
            await made.answered(failovers(("e", 2)))
            assert made.state.message.startswith("[C2] Connection Opened: dir=out host=c:1 ")
            assert made.state.failover_urls == "amqp://c:1, amqp://e:2, amqp://b:5673"
            await made.lost()
            await asyncio.sleep(0.2)
            assert loop.places()[-1] == ("e", 2)

        run(loop, scenario())

    def test_a_peer_without_a_list_leaves_the_places_as_they_are(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered(failovers(("c", 1), ("d", 2)))
            await made.lost()
            await asyncio.sleep(0.2)
            await made.answered()
            assert made.state.failover_urls == "amqp://c:1, amqp://d:2, amqp://b:5673"
            await made.lost()
            await asyncio.sleep(0.2)
            assert loop.places()[-1] == ("d", 2)

        run(loop, scenario())

    def test_of_an_empty_list_the_place_in_use_and_the_configured_one_are_left(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered(failovers(("c", 1), ("d", 2)))
            await made.lost()
            await asyncio.sleep(0.2)
            await made.answered(failovers())
            assert made.state.failover_urls == "amqp://c:1, amqp://b:5673"
            await made.lost()
            await asyncio.sleep(0.2)
            await made.answered(failovers())
            assert made.state.failover_urls == ""

        run(loop, scenario())

    @pytest.mark.parametrize(
        ("entries", "urls"),
        [
            ([("b", 5673)], ""),
            ([("c", 1), ("c", 1), ("c", "1")], "amqp://b:5673, amqp://c:1"),
            ([{Symbol("network-host"): "c"}], "amqp://b:5673, amqp://c:5672"),
            ([{Symbol("network-host"): "c", Symbol("scheme"): 5}], "amqp://b:5673, amqp://c:5672"),
            ([{Symbol("network-host"): "c", Symbol("scheme"): ""}], "amqp://b:5673, amqp://c:5672"),
            ([{"network-host": "c", "port": "7"}], "amqp://b:5673, amqp://c:7"),
        ],
    )
    def test_places_are_read_as_peers_write_them(self, loop: Loop, entries: list[Any], urls: str) -> None:
        self.check(loop, failovers(*entries), urls)

    @pytest.mark.parametrize(
        "entry",
        [
            *("c:1", 5, None, {}, ("", 1), (5, 1), ("c", 0), ("c", 65536), ("c", -1), ("c", "amqp"), ("c", None)),
            *(("c", []), ("c", float("inf")), ("c", float("nan")), {Symbol("port"): 1}),
        ],
    )
    def test_what_is_no_place_is_none(self, loop: Loop, entry: Any) -> None:
        self.check(loop, failovers(entry, ("d", 2)), "amqp://b:5673, amqp://d:2")

    @pytest.mark.parametrize("value", [None, 5, True, "c:1", {Symbol("a"): 1}, [], b"c"])
    def test_what_is_no_list_is_none(self, loop: Loop, value: Any) -> None:
        self.check(loop, {Symbol("failover-server-list"): value}, "")

    def test_there_is_an_end_to_them(self, loop: Loop) -> None:
        urls = ["amqp://b:5673", *(f"amqp://c:{port}" for port in range(1, FAILOVERS_MAX + 1))]
        self.check(loop, failovers(*(("c", port) for port in range(1, 1000))), ", ".join(urls))

    def test_a_place_that_needs_tls_is_not_connected_to_without(self, loop: Loop, warnings: list[str]) -> None:
        made = Made()
        entry = {Symbol("network-host"): "c", Symbol("scheme"): "AMQPS"}

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered(failovers(entry))
            assert made.state.failover_urls == "amqp://b:5673, amqps://c:5672"
            await made.lost()
            await asyncio.sleep(5.0)

        run(loop, scenario())
        assert set(loop.places()) == {("b", 5673)}
        reason = "it is to be had with TLS only, and the connector has no sslProfile"
        assert f"Connection to c:5672 failed: {reason} ({IDENTITY}, 2 failures in a row)" in warnings

    def test_with_a_profile_every_place_is_connected_to_with_tls(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(replace(CONFIG, ssl_profile="p"))
            await asyncio.sleep(0.1)
            clear = {Symbol("network-host"): "d", Symbol("scheme"): "amqp"}
            await made.answered(failovers(("b", 5673), ("c", 1), clear))
            assert made.state.failover_urls == "amqps://b:5673, amqps://c:1, amqps://d:5672"
            await made.lost()
            await asyncio.sleep(0.2)
            assert made.hosts == ["b", "c"]

        run(loop, scenario())

    def check(self, loop: Loop, properties: dict[Any, Any], urls: str) -> None:
        """Whatever a peer says, the connector remembers these places and goes on."""
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered(properties)
            assert (made.state.status, made.state.failover_urls) == ("SUCCESS", urls)
            await made.lost()
            await asyncio.sleep(0.2)
            assert len(made.transports) == 2

        run(loop, scenario())


class TestStopping:
    def test_one_that_is_open_is_closed_and_not_made_again(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered()
            made.all.stop(IDENTITY)
            assert (made.latest.ended, made.latest.connection.is_finished) == (["ends soon"], False)
            assert made.all.states() == []
            made.latest.lose()
            await asyncio.sleep(20.0)
            assert len(made.transports) == 1

        run(loop, scenario())

    def test_one_that_is_not_open_yet_is_cut(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            made.all.stop(IDENTITY)
            assert made.latest.ended == ["aborted"]

        run(loop, scenario())

    def test_one_that_is_over_is_left_alone(self, loop: Loop) -> None:
        loop.errors["b", 5673] = OSError("away")
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            made.all.stop(IDENTITY)
            made.all.start(CONFIG)
            await asyncio.sleep(0.05)
            made.all.stop(IDENTITY)
            made.all.stop(IDENTITY)
            made.all.stop("connector/unknown:1")
            assert made.latest.ended == []

        run(loop, scenario())

    def test_one_that_is_started_again_is_another(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            await asyncio.sleep(0.1)
            await made.answered()
            made.all.start(ConnectorConfig(host="b", port=5673, name="to-b", cost=7))
            await asyncio.sleep(0.1)
            assert (made.transports[0].ended, len(made.transports)) == (["ends soon"], 2)
            assert made.state.status == "CONNECTING"

        run(loop, scenario())

    def test_a_router_that_ends_makes_no_others_and_keeps_those_that_there_are(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            made.all.start(CONFIG)
            made.all.start(ConnectorConfig(host="c", port=1))
            await asyncio.sleep(0.1)
            made.all.retire()
            await asyncio.sleep(20.0)
            assert [transport.ended for transport in made.transports] == [[], []]
            assert [state.identity for state in made.all.states()] == [IDENTITY, "connector/c:1"]

        run(loop, scenario())

    def test_a_connector_owns_the_connection_that_it_has_made(self, loop: Loop) -> None:
        made = Made()

        async def scenario() -> None:
            connector = Connector(CONFIG, made.make)
            await asyncio.sleep(0.1)
            stranger: Any = Transport(CONFIG, 2)
            assert (connector.owns(made.latest), connector.owns(stranger)) == (True, False)
            connector.stop()
            assert not connector.owns(made.latest)

        run(loop, scenario())


class TestAuthentication:
    @pytest.mark.parametrize(
        ("options", "names"),
        [
            ({}, ["ANONYMOUS"]),
            (USER, ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN", "ANONYMOUS"]),
            ({"sasl_username": "u", "sasl_password": "\x07"}, ["PLAIN", "ANONYMOUS"]),
            ({**USER, "sasl_mechanisms": ("SCRAM-SHA-256",)}, ["SCRAM-SHA-256"]),
            ({"sasl_username": "u"}, ["ANONYMOUS"]),
            ({"sasl_mechanisms": ("EXTERNAL",)}, ["EXTERNAL"]),
            ({**USER, "sasl_mechanisms": ("ANONYMOUS", "PLAIN")}, ["ANONYMOUS", "PLAIN"]),
            ({"sasl_mechanisms": ("PLAIN", "ANONYMOUS")}, ["ANONYMOUS"]),
            ({"sasl_username": "u", "sasl_mechanisms": ("CRAM-MD5", "PLAIN")}, ["PLAIN"]),
            ({"sasl_username": "u", "sasl_password": "\0", "sasl_mechanisms": ("PLAIN",)}, ["PLAIN"]),
            ({"sasl_mechanisms": ("CRAM-MD5", "EXTERNAL", "ANONYMOUS")}, ["EXTERNAL", "ANONYMOUS"]),
            ({**USER, "sasl_mechanisms": ("GSSAPI", "PLAIN")}, ["GSSAPI", "PLAIN"]),
        ],
    )
    def test_mechanisms_are_offered_as_configured(
        self, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], names: list[str]
    ) -> None:
        given: list[Any] = []
        monkeypatch.setattr(connectors, "SaslClient", lambda chosen, hostname, limits: given.append((chosen, hostname)))
        config = ConnectorConfig(host="b", port=1, **options)
        login: Any = None
        client_sasl(config, login, GssapiClient(list) if "GSSAPI" in (config.sasl_mechanisms or ()) else None)
        [(chosen, hostname)] = given
        assert ([one.name for one in chosen], hostname) == (names, "b")

    def test_a_connector_without_its_password_sends_nothing_instead(self) -> None:
        config = ConnectorConfig(host="b", port=1, sasl_username="u", sasl_mechanisms=("PLAIN",))
        login: Any = None
        sasl = client_sasl(config, login)
        with pytest.raises(SaslFailed, match="the connector has no password that can be sent"):
            sasl.receive(SaslMechanisms(sasl_server_mechanisms=(Symbol("PLAIN"),)))
        assert (sasl.mechanism, sasl.done) == ("PLAIN", True)
