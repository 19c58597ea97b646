"""GSSAPI without a KDC: when it is offered, and what becomes of octets that are no tokens."""

import asyncio
import ctypes
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Peer, RouterSettings
from routerd.io.auth import gss_library as library
from routerd.io.auth.authentication import DEFAULT_LIMITS, LARGE_LIMITS, Authentication
from routerd.io.auth.gss_library import Acceptor, GssLibrary, KerberosUnavailable, gss_library
from routerd.io.auth.kerberos import KerberosKeys, TicketLogin
from routerd.io.auth.login_threads import LoginThreads
from routerd.io.auth.threads import THREADS, AuthenticationThreads
from routerd.io.tls.profiles import TlsProfiles
from routerd.wire.sasl import Challenge, Failure, GssapiServer, Pending, SaslFailed, Step
from tests.unit.io.auth.keytab import write_keytab

WITHIN_S = 20.0
KERBEROS_FILE = """[libdefaults]
 default_realm = HERE
 dns_lookup_kdc = false
 dns_canonicalize_hostname = false
 udp_preference_limit = 1
"""


def _absence() -> str | None:
    try:
        ctypes.CDLL(library.LIBRARY)
    except OSError:
        return f"{library.LIBRARY} is not installed (libgssapi-krb5-2)"
    return None


pytestmark = pytest.mark.skipif(_absence() is not None, reason=str(_absence()))


@pytest.fixture(autouse=True)
def keytab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the router looks for its key; there is none yet."""
    (tmp_path / "krb5.conf").write_text(KERBEROS_FILE)
    monkeypatch.setenv("KRB5_CONFIG", str(tmp_path / "krb5.conf"))
    monkeypatch.setenv("KRB5_KTNAME", str(tmp_path / "keytab"))
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "tickets"))
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(tmp_path / "none"))
    return tmp_path / "keytab"


def listener(*mechanisms: str) -> ListenerConfig:
    return ListenerConfig(host="", port=5672, sasl_mechanisms=mechanisms or None)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class TestKeys:
    def test_gssapi_is_offered_while_there_is_a_key(self, keytab: Path) -> None:
        clock = Clock()
        keys = KerberosKeys(clock)
        found = [keys.is_offered_at(listener())]
        write_keytab(keytab, "HERE", "amqp", "a.example")
        found.append(keys.is_offered_at(listener()))
        clock.now += 1.0
        found.append(keys.is_offered_at(listener()))
        keytab.unlink()
        clock.now += 1.0
        found.append(keys.is_offered_at(listener("GSSAPI")))
        assert found == [False, False, True, False]

    @pytest.mark.parametrize(("names", "is_offered"), [((), True), (("GSSAPI",), True), (("PLAIN",), False)])
    def test_a_listener_may_leave_it_out(self, keytab: Path, names: tuple[str, ...], is_offered: bool) -> None:
        write_keytab(keytab, "HERE", "amqp", "a.example")
        assert KerberosKeys(Clock()).is_offered_at(listener(*names)) is is_offered

    def test_a_key_of_another_service_is_none(self, keytab: Path) -> None:
        write_keytab(keytab, "HERE", "imap", "a.example")
        absence = KerberosKeys(Clock()).absence()
        assert absence is not None
        assert absence.startswith("there is no key for amqp/HOST: ")

    def test_a_router_that_knows_nothing_of_kerberos_does_not_ask(
        self, keytab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("KRB5_KTNAME")
        monkeypatch.setattr("routerd.io.auth.kerberos.SYSTEM_KEYTAB", str(tmp_path / "none"))
        keys = KerberosKeys(Clock())
        monkeypatch.setattr(keys, "absence", lambda: pytest.fail("it is asked"))
        assert not keys.is_offered_at(listener())

    def test_a_library_that_is_not_there_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(library, "LIBRARY", "libnothing.so.1")
        with pytest.raises(KerberosUnavailable, match=r"^libnothing.so.1 cannot be loaded \(.*\): install it \(Debian"):
            GssLibrary()


class TestListener:
    def test_a_ticket_has_room_where_it_may_be_shown(self, keytab: Path) -> None:
        write_keytab(keytab, "HERE", "amqp", "a.example")
        place = Authentication(RouterSettings(id="R"), TlsProfiles(), lambda *_: None, lambda *_: None)
        assert place.limits(listener()) is LARGE_LIMITS
        assert place.limits(listener("PLAIN")) is DEFAULT_LIMITS

    @pytest.mark.parametrize("token", [b"x", b"\x60\x00", b"\x60\x84\xff\xff\xff\xff", b"\x60" + b"\x0b" * 4000])
    def test_octets_that_are_no_token_are_refused(self, keytab: Path, token: bytes) -> None:
        write_keytab(keytab, "HERE", "amqp", "a.example")
        exchange = GssapiServer(gss_library().acceptor).start(None)
        assert exchange.step(None) == Challenge(b"")
        step = exchange.step(token)
        assert isinstance(step, Failure)
        assert step.reason != ""

    def test_what_is_sealed_before_there_is_a_context_is_refused(self, keytab: Path) -> None:
        write_keytab(keytab, "HERE", "amqp", "a.example")
        context = gss_library().acceptor()
        assert isinstance(context, Acceptor)
        for use in (context.wrap, context.unwrap):
            with pytest.raises(SaslFailed):
                use(b"\x01\x00\x00\x00")
        assert not context.is_peer("alice")


class Answers:
    """A loop's part in the steps that threads take."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[Any] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()
        self.threads = AuthenticationThreads(self.loop.call_soon_threadsafe)

    def login(self, user: str | None = None, is_over: bool = False) -> TicketLogin:
        login = LoginThreads(threads=self.threads, on_said=self.said.put_nowait, is_over=lambda: is_over)
        return TicketLogin("a.example", user, login)

    async def next(self) -> bytes | Step:
        answer: bytes | Step = await asyncio.wait_for(self.said.get(), WITHIN_S)
        return answer


def run(scenario: Callable[[Answers], Any]) -> None:
    async def all_of_it() -> None:
        answers = Answers()
        try:
            await scenario(answers)
        finally:
            answers.threads.close()

    asyncio.run(all_of_it())


class TestConnector:
    def test_who_has_no_ticket_is_told_so(self) -> None:
        async def scenario(answers: Answers) -> None:
            steps = answers.login().start("a.example")
            assert steps.initial_response() == Pending()
            answer = await answers.next()
            assert isinstance(answer, Failure)
            assert answer.reason.startswith("No Kerberos credentials available")

        run(scenario)

    def test_a_name_that_nobody_can_have_has_no_ticket(self) -> None:
        async def scenario(answers: Answers) -> None:
            answers.login("a@b@c@d").start(None).initial_response()
            assert isinstance(await answers.next(), Failure)

        run(scenario)

    def test_nothing_is_asked_for_a_connection_that_is_over(self) -> None:
        async def scenario(answers: Answers) -> None:
            answers.login(is_over=True).start(None).initial_response()
            assert await answers.next() == Failure("nobody waits for it any more")

        run(scenario)

    def test_a_server_that_says_ok_first_is_not_believed(self) -> None:
        async def scenario(answers: Answers) -> None:
            steps = answers.login().start(None)
            steps.initial_response()
            await answers.next()
            with pytest.raises(SaslFailed, match=r"^the server did not prove who it is$"):
                steps.finish(None)

        run(scenario)

    def test_a_kdc_that_does_not_answer_holds_up_no_client(
        self, keytab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_keytab(keytab, "HERE", "amqp", "a.example")
        write_keytab(tmp_path / "own", "HERE", "inventory")
        monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(tmp_path / "own"))

        async def scenario(answers: Answers) -> None:
            place = Authentication(
                RouterSettings(id="R"), TlsProfiles(), answers.loop.call_soon_threadsafe, lambda *_: None
            )
            named = ConnectorConfig(host="a", port=1, sasl_mechanisms=("GSSAPI",))
            with socket.create_server(("127.0.0.1", 0)) as silent:
                kdc = f"[realms]\n HERE = {{\n  kdc = 127.0.0.1:{silent.getsockname()[1]}\n }}\n"
                (tmp_path / "krb5.conf").write_text(KERBEROS_FILE + kdc)
                for number in range(2 * THREADS):
                    peer = Peer(number)
                    peer.shell = SimpleNamespace(is_over=False, give_up=answers.said.put_nowait)
                    login = place.ticket_login(named, "a.example", place.login_threads(peer))
                    assert login is not None
                    login.start(None).initial_response()
                silent.settimeout(WITHIN_S)
                asked = await asyncio.to_thread(silent.accept)
                mechanism = KerberosKeys(Clock()).mechanism(place.threads, answers.said.put_nowait)
                mechanism.start(None).step(None)
                assert await answers.next() == Challenge(b"")
                place.close()
                asked[0].close()

        run(scenario)

    def test_only_who_names_gssapi_uses_it(self) -> None:
        place = Authentication(RouterSettings(id="R"), TlsProfiles(), lambda *_: None, lambda *_: None)
        plain, named = (ConnectorConfig(host="a", port=1, sasl_mechanisms=one) for one in (None, ("GSSAPI",)))
        threads = place.login_threads(Peer(1))
        login = place.ticket_login(named, "b", threads)
        assert place.ticket_login(plain, "a", threads) is None
        assert login is not None
        assert (login.host, login.user, login.name) == ("b", None, "GSSAPI")
