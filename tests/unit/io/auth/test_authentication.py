"""What a worker offers to its peers, how many it takes, and what becomes of failures."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from routerd.config import SCRAM_ITERATIONS_MOST, ConnectorConfig, ListenerConfig, editing
from routerd.core import Peer, RouterSettings
from routerd.io.auth import authentication
from routerd.io.auth.authentication import Authentication, AuthenticationUnusable, Nobody, user_source, warn_if_open
from routerd.io.auth.failures import HELD_MAX
from routerd.io.auth.threads import AuthenticationThreads, InThreads
from routerd.io.auth.users import FileUsers
from routerd.io.connections.connectors import client_sasl
from routerd.io.tls.profiles import TlsProfiles
from routerd.wire.sasl import (
    AuthenticationUnavailable,
    Failure,
    PlainServer,
    SaslCode,
    SaslFrame,
    SaslServer,
    ServerMechanismFactory,
    Success,
)
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.types import Symbol
from tests.waiting import WITHIN_S, eventually_beside


class Place:
    """A worker's part in it: it keeps what is sent."""

    def __init__(self, **settings: Any) -> None:
        self.sent: list[SaslFrame] = []
        self.loop = asyncio.get_running_loop()
        self.authentication = Authentication(
            RouterSettings(id="R", **settings), TlsProfiles(), self.loop.call_soon_threadsafe, self._send
        )
        self.authentication.start()
        self._number = 0

    def _send(self, transport: Any, frames: list[SaslFrame]) -> None:
        self.sent += frames

    def peer(self, host: str = "10.0.0.1", **attributes: Any) -> Any:
        """Return the transport of a new peer."""
        self._number += 1
        peer = Peer(self._number)
        shell = SimpleNamespace(
            host=f"{host}:1", peer=peer, is_encrypted=False, tls_user=None, is_over=False, **attributes
        )
        peer.shell = shell
        return shell

    def server(self, transport: Any, **listener: Any) -> SaslServer:
        """Return the exchange of a peer."""
        config = ListenerConfig(host="", port=1, **listener)
        return self.authentication.login(config, transport.peer).sasl

    async def next_frames(self) -> list[SaslFrame]:
        """Wait for what is sent."""
        await eventually_beside(lambda: self.sent, "something is sent")
        frames, self.sent = self.sent, []
        return frames


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def offered(server: SaslServer) -> list[str]:
    [frame] = server.start()
    assert isinstance(frame, SaslMechanisms)
    return [str(name) for name in frame.sasl_server_mechanisms]


def init(mechanism: str, response: bytes) -> SaslInit:
    return SaslInit(mechanism=Symbol(mechanism), initial_response=response)


@pytest.fixture
def users(tmp_path: Path) -> str:
    path = str(tmp_path / "users")
    with editing(path) as found:
        found.put("alice", "secret")
    return path


SCRAM = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1"]


@pytest.mark.parametrize(
    ("has_users", "user", "listener", "names"),
    [
        (False, None, {}, ["ANONYMOUS"]),
        (False, None, {"authenticate_peer": True}, ["EXTERNAL"]),
        (False, "cn", {}, ["EXTERNAL", "ANONYMOUS"]),
        (True, None, {}, [*SCRAM, "PLAIN", "ANONYMOUS"]),
        (True, "cn", {"authenticate_peer": True}, ["EXTERNAL", *SCRAM, "PLAIN"]),
        (True, None, {"sasl_mechanisms": ("PLAIN", "SCRAM-SHA-1")}, ["SCRAM-SHA-1", "PLAIN"]),
        (True, None, {"sasl_mechanisms": ("ANONYMOUS",), "authenticate_peer": True}, ["EXTERNAL"]),
        (True, None, {"sasl_mechanisms": ("GSSAPI", "ANONYMOUS")}, ["ANONYMOUS"]),
    ],
)
def test_what_is_offered_depends_on_users_certificate_and_listener(
    users: str, has_users: bool, user: str | None, listener: dict[str, Any], names: list[str]
) -> None:
    async def scenario() -> None:
        place = Place(user_file=users if has_users else None)
        transport = place.peer()
        transport.tls_user = user
        assert offered(place.server(transport, **listener)) == names
        place.authentication.close()

    run(scenario)


def test_where_nothing_can_be_offered_nobody_is_let_in() -> None:
    async def scenario() -> None:
        place = Place()
        server = place.server(place.peer(), authenticate_peer=True)
        server.start()
        assert (server.receive(init("EXTERNAL", b"")), server.is_waiting) == ([], True)
        assert await place.next_frames() == [SaslOutcome(code=SaslCode.AUTH)]
        assert (server.identity, place.authentication.failures) == (None, 1)
        place.authentication.close()

    run(scenario)


def test_a_password_is_checked_in_a_thread(users: str) -> None:
    async def scenario() -> None:
        place = Place(user_file=users)
        server = place.server(place.peer())
        server.start()
        assert (server.receive(init("PLAIN", b"\0alice\0secret")), server.is_waiting) == ([], True)
        assert await place.next_frames() == [SaslOutcome(code=SaslCode.OK)]
        assert (server.identity, place.authentication.failures) == ("alice", 0)
        place.authentication.close()

    run(scenario)


@pytest.mark.parametrize(
    ("mechanism", "first"), [("PLAIN", "\0{}\0secret"), ("SCRAM-SHA-256", "n,,n={},r=0123456789abcdef")]
)
@pytest.mark.parametrize("user", ["alice", "nobody"])
def test_a_user_of_a_host_that_failed_too_often_is_told_to_come_later(
    users: str, mechanism: str, first: str, user: str
) -> None:
    """Whether there is such a user or not."""

    async def scenario() -> None:
        place = Place(user_file=users)
        for _ in range(HELD_MAX):
            place.authentication.ledger.failed("10.0.0.1", user, time.monotonic())
        server = place.server(place.peer())
        server.start()
        assert server.receive(init(mechanism, first.format(user).encode())) == [SaslOutcome(code=SaslCode.SYS_TEMP)]
        place.authentication.close()

    run(scenario)


def test_who_fails_keeps_out_no_other_user_and_no_other_host(users: str) -> None:
    async def scenario() -> None:
        place = Place(user_file=users)
        wrong = [place.server(place.peer()) for _ in range(80)]
        for server in wrong:
            server.start()
            server.receive(init("PLAIN", b"\0bob\0wrong"))
        await eventually_beside(lambda: place.authentication.failures == len(wrong), "all have failed")
        for host in ("10.0.0.1", "10.0.0.2"):
            place.sent.clear()
            server = place.server(place.peer(host))
            server.start()
            assert server.receive(init("PLAIN", b"\0alice\0secret")) == []
            # Answers to the others come in between.
            while SaslOutcome(code=SaslCode.OK) not in await place.next_frames():
                pass
            assert server.identity == "alice"
        place.authentication.close()

    run(scenario)


def test_an_exchange_that_begins_without_a_message_is_held_to_the_next_one(users: str) -> None:
    async def scenario() -> None:
        place = Place(user_file=users)
        for _ in range(HELD_MAX):
            place.authentication.ledger.failed("10.0.0.1", "alice", time.monotonic())
        server = place.server(place.peer())
        server.start()
        server.receive(SaslInit(mechanism=Symbol("PLAIN"), initial_response=None))
        assert await place.next_frames() == [SaslChallenge(challenge=b"")]
        told = server.receive(SaslResponse(response=b"\0alice\0secret"))
        assert told == [SaslOutcome(code=SaslCode.SYS_TEMP)]
        place.authentication.close()

    run(scenario)


def test_a_host_with_many_connections_that_are_not_open_loses_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "UNOPENED_MAX", 2)

    async def scenario() -> None:
        place = Place()
        ended: list[Any] = []

        def peer(host: str = "10.0.0.1") -> Any:
            made = place.peer(host)
            made.give_up = lambda reason: (ended.append(made), place.authentication.settled(made))
            return made

        listener = ListenerConfig(host="", port=1)
        admits = place.authentication.admits
        first, second, third, fourth = (peer() for _ in range(4))
        assert [admits(one, listener) for one in (first, second)] == [True, True]
        assert admits(peer("10.0.0.2"), listener)
        assert (admits(third, listener), ended) == (True, [first])
        place.authentication.settled(second)
        assert (admits(fourth, listener), ended) == (True, [first])
        assert (admits(peer(), listener), ended) == (True, [first, third])
        place.authentication.close()

    run(scenario)


def test_a_connection_is_refused_where_it_has_to_be_encrypted_and_is_not() -> None:
    async def scenario() -> None:
        place = Place()
        listener = ListenerConfig(host="", port=1, require_encryption=True)
        transport = place.peer()
        assert not place.authentication.admits(transport, listener)
        transport.is_encrypted = True
        assert place.authentication.admits(transport, listener)
        place.authentication.close()

    run(scenario)


@pytest.mark.parametrize("is_proof_needed", [False, True])
def test_nothing_is_kept_of_a_connection_that_is_settled(is_proof_needed: bool) -> None:
    async def scenario() -> None:
        place = Place()
        transport = place.peer()
        transport.memory = {"of the connection"}
        kept = weakref.ref(transport.memory)
        listener = ListenerConfig(host="", port=1, authenticate_peer=is_proof_needed)
        assert place.authentication.admits(transport, listener)
        place.authentication.settled(transport)
        del transport
        gc.collect()
        assert kept() is None
        place.authentication.close()

    run(scenario)


# Where users are


def test_users_are_in_the_file_unless_cyrus_is_configured(tmp_path: Path, users: str) -> None:
    assert isinstance(user_source(RouterSettings(id="R")), Nobody)
    assert isinstance(user_source(RouterSettings(id="R", user_file=users)), FileUsers)
    named = RouterSettings(id="R", user_file=users, sasl_config_dir=str(tmp_path))
    assert isinstance(user_source(named), FileUsers)
    with pytest.raises(AuthenticationUnusable, match=f"^user file {users}.no: No such file or directory$"):
        user_source(RouterSettings(id="R", user_file=f"{users}.no"))


def test_cyrus_that_is_configured_and_not_installed_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("routerd.io.auth.cyrus.LIBRARY", "libnone.so.2")
    (tmp_path / "qdrouterd.conf").write_text("")
    with pytest.raises(AuthenticationUnusable, match=r"needs Cyrus SASL, and libnone.so.2 cannot be loaded"):
        user_source(RouterSettings(id="R", sasl_config_dir=f"/nowhere:{tmp_path}"))


def test_cyrus_of_the_system_that_is_not_installed_leaves_the_file(
    tmp_path: Path, users: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("routerd.io.auth.cyrus.LIBRARY", "libnone.so.2")
    monkeypatch.setattr("routerd.io.auth.cyrus.SYSTEM_FOLDERS", (str(tmp_path),))
    (tmp_path / "qdrouterd.conf").write_text("")
    assert isinstance(user_source(RouterSettings(id="R", user_file=users)), FileUsers)


# Threads


def _away(name: str, password: str) -> bool:
    raise AuthenticationUnavailable("the directory is away")


def _broken(name: str, password: str) -> bool:
    raise RuntimeError("a fault")


@pytest.mark.parametrize(
    ("check", "step"),
    [
        (lambda name, password: True, Success("a")),
        (_away, Failure("the directory is away", SaslCode.SYS_TEMP)),
        (_broken, Failure("the step failed", SaslCode.SYS)),
    ],
)
def test_what_a_thread_finds_out_is_told_in_the_loop(check: Any, step: Any) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        threads = AuthenticationThreads(loop.call_soon_threadsafe)
        found: asyncio.Future[Any] = loop.create_future()
        factory: ServerMechanismFactory = InThreads(PlainServer(check), threads, found.set_result)
        assert factory.name == "PLAIN"
        factory.start(None).step(b"\0a\0b")
        assert await asyncio.wait_for(found, WITHIN_S) == step
        threads.close()

    run(scenario)


# Connectors


def server_first(iterations: int, first: bytes) -> bytes:
    """What a server of SCRAM asks for."""
    nonce = first.decode().partition(",r=")[2]
    return f"r={nonce}{'s' * 18},s=MDEyMzQ1Njc4OWFiY2RlZg==,i={iterations}".encode()


@pytest.mark.parametrize("iterations", [4096, SCRAM_ITERATIONS_MOST, SCRAM_ITERATIONS_MOST + 1])
def test_what_a_server_asks_of_a_connector_is_bounded_and_done_in_a_thread(iterations: int) -> None:
    """A server chooses how long the answer takes; the loop goes on meanwhile."""

    async def scenario() -> None:
        place = Place()
        transport = place.peer()
        reasons: list[str] = []
        transport.give_up = reasons.append
        config = ConnectorConfig(host="b", port=1, sasl_username="u", sasl_password="p")
        sasl = client_sasl(config, place.authentication.login_threads(transport.peer))
        transport.connection = SimpleNamespace(sasl=sasl)
        taken: list[Callable[[], Any]] = []
        take = AuthenticationThreads.take

        def noted(threads: AuthenticationThreads, step: Callable[[], Any], answer: Callable[[Any], None]) -> None:
            taken.append(step)
            take(threads, step, answer)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(AuthenticationThreads, "take", noted)
            [init_frame] = sasl.receive(SaslMechanisms(sasl_server_mechanisms=(Symbol("SCRAM-SHA-256"),)))
            assert isinstance(init_frame, SaslInit)
            assert init_frame.initial_response is not None
            first = server_first(iterations, init_frame.initial_response)
            assert sasl.receive(SaslChallenge(challenge=first)) == []
            assert len(taken) == 1
        await eventually_beside(lambda: place.sent or reasons, "the challenge is answered")
        if iterations > SCRAM_ITERATIONS_MOST:
            asked = f"the server asks for {iterations} iterations; {SCRAM_ITERATIONS_MOST} is the most"
            assert (place.sent, reasons) == ([], [f"SCRAM-SHA-256: {asked}"])
        else:
            [answer] = place.sent
            assert isinstance(answer, SaslResponse)
        place.authentication.close()

    run(scenario)


def test_a_connector_that_has_left_is_told_nothing() -> None:
    async def scenario() -> None:
        place = Place()
        transport = place.peer()
        threads = place.authentication.login_threads(transport.peer)
        over, waiting = asyncio.Event(), threading.Event()

        def step() -> bytes:
            waiting.wait(WITHIN_S)
            return b"answer"

        def said(what: Any) -> None:
            threads.on_said(what)
            over.set()

        replace(threads, on_said=said).take(step)
        transport.is_over = True
        waiting.set()
        await asyncio.wait_for(over.wait(), WITHIN_S)
        assert place.sent == []
        place.authentication.close()

    run(scenario)


@pytest.mark.parametrize(
    ("listener", "is_open"),
    [
        *(({"host": ""}, True), ({"host": "0.0.0.0"}, True), ({"host": "::"}, True), ({"host": "a.example"}, True)),
        *(({"host": "127.0.0.2"}, False), ({"host": "::1"}, False), ({"host": "localhost"}, False)),
        ({"host": "", "authenticate_peer": True}, False),
    ],
)
def test_a_port_that_is_open_to_all_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, listener: dict[str, Any], is_open: bool
) -> None:
    told: list[str] = []
    monkeypatch.setattr(authentication._log, "warning", lambda text, *more: told.append(text % more))
    warn_if_open(ListenerConfig(port=5, **listener))
    expected = (
        f"Listener {listener['host']}:5 is open to other hosts, and nobody has to say who it is: set authenticatePeer: "
        "yes and give users passwords or certificates, or listen on host: 127.0.0.1"
    )
    assert told == ([expected] if is_open else [])
