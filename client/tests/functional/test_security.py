"""Logins and TLS at a real router."""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from client.tests.running import in_a_loop
from routerd.config import editing
from tests.interop.certificates import Authority, Identity, absence
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener, section

from mobula_client import AuthenticationFailed, Client, NoRouterReached, Tls, connect

EXTERNAL = {"authenticatePeer": "yes", "saslMechanisms": "EXTERNAL"}
pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@dataclass
class Secured:
    """A router with logins and TLS."""

    router: RunningRouter
    authority: Authority
    own: Identity

    def url(self, name: str, login: str = "") -> str:
        """Return the URL of a listener."""
        scheme = "amqps" if name in ("tls", "certificates") else "amqp"
        return f"{scheme}://{login}127.0.0.1:{self.router.port_of(name)}"

    @property
    def tls(self) -> Tls:
        """The files of a client without a certificate."""
        return Tls(ca_file=self.authority.certificate)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    users = folder / "users"
    with editing(str(users)) as found:
        found.put("alice", "secret")
    authority = Authority(folder)
    server, own = authority.issue(), authority.issue()
    files = {"certFile": server.certificate, "privateKeyFile": server.key}
    text = configuration(
        section("sslProfile", name="tls", **files),
        section("sslProfile", name="known", caCertFile=authority.certificate, **files),
        listener("users", authenticatePeer="yes"),
        listener("plain", authenticatePeer="yes", saslMechanisms="PLAIN"),
        listener("tls", sslProfile="tls", requireSsl="yes"),
        listener("certificates", sslProfile="known", requireSsl="yes", **EXTERNAL),
    )
    router = RunningRouter(folder, IN_PROCESS, text, "--user-file", str(users))
    yield Secured(router, authority, own)
    router.close()


async def check_messages_pass(client: Client) -> None:
    receiver = await client.open_receiver("secured", accepts_at_once=True)
    sent = asyncio.create_task((await client.open_sender("secured")).send("one"))
    assert (await receiver.receive()).body == "one"
    await sent


@in_a_loop
async def test_a_user_logs_in_by_scram(secured: Secured) -> None:
    async with connect(secured.url("users", "alice:secret@")) as client:
        await check_messages_pass(client)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
@in_a_loop
async def test_a_mechanism_can_be_chosen(secured: Secured, mechanism: str) -> None:
    async with connect(secured.url("users", "alice:secret@"), mechanisms=[mechanism]) as client:
        await check_messages_pass(client)


@in_a_loop
async def test_a_wrong_password_says_so_at_once(secured: Secured) -> None:
    with pytest.raises(AuthenticationFailed, match="Check user, password"):
        await connect(secured.url("users", "alice:wrong@"))


@in_a_loop
async def test_a_password_does_not_go_out_in_plain_text_by_itself(secured: Secured) -> None:
    with pytest.raises(AuthenticationFailed, match="the server offers PLAIN"):
        await connect(secured.url("plain", "alice:secret@"))


@in_a_loop
async def test_messages_pass_over_tls(secured: Secured) -> None:
    async with connect(secured.url("tls"), tls=secured.tls) as client:
        await check_messages_pass(client)
    context = ssl.create_default_context(cafile=secured.authority.certificate)
    async with connect(secured.url("tls"), tls=context) as client:
        await check_messages_pass(client)


@in_a_loop
async def test_a_router_that_nobody_vouches_for_is_not_trusted(secured: Secured, tmp_path: Path) -> None:
    with pytest.raises(NoRouterReached, match="certificate verify failed"):
        await connect(secured.url("tls"), connect_within_s=5.0)


@in_a_loop
async def test_a_certificate_is_a_login(secured: Secured) -> None:
    tls = Tls(
        ca_file=secured.authority.certificate, certificate_file=secured.own.certificate, key_file=secured.own.key
    )
    async with connect(secured.url("certificates"), tls=tls) as client:
        await check_messages_pass(client)
