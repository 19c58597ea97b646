"""EXTERNAL: a client is who its certificate says, by uidFormat, or it is not let in."""

import ssl
from collections.abc import Iterator

import proton
import pytest

from tests.interop.authenticating_router import Authenticating, attempt, listener, router, running
from tests.interop.certificates import CLIENT_SUBJECT, Authority, Identity, absence
from tests.interop.conftest import StartPeer
from tests.interop.tls_routers import profile, proton_domain
from tests.system.proton_client import ProtonClient

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory, ca: Authority) -> Iterator[Authenticating]:
    own = ca.issue()
    text = "\n".join([
        router(),
        profile("named", ca=ca.certificate, own=own, uidFormat="on"),
        profile("unnamed", ca=ca.certificate, own=own),
        listener("known", "sslProfile: named", "authenticatePeer: yes", "saslMechanisms: EXTERNAL"),
        listener("whole", "sslProfile: unnamed", "authenticatePeer: yes", "saslMechanisms: EXTERNAL"),
        listener("encrypted", "sslProfile: named", "requireEncryption: yes"),
        listener("clear", "requireEncryption: yes"),
    ])
    with running(tmp_path_factory.mktemp("router"), text) as launched:
        yield launched


def opened(port: int, ca: Authority, own: Identity | None, mechanism: str) -> bool:
    """Return whether a proton client is let in."""
    try:
        with ProtonClient(port, tls=proton_domain(ca, own), mechanism=mechanism) as client:
            return bool(client.connection.state & proton.Endpoint.REMOTE_ACTIVE) and not client.is_over
    except (ssl.SSLError, ConnectionError, AssertionError):
        return False


@pytest.mark.parametrize(
    ("name", "user"), [("known", "Org;client"), ("whole", "CN=client,OU=Dev,O=Org,L=Raleigh,ST=NC,C=US")]
)
def test_a_client_is_who_its_certificate_says(serving: Authenticating, ca: Authority, name: str, user: str) -> None:
    assert opened(serving.port_of(name), ca, ca.issue(CLIENT_SUBJECT, hosts=""), "EXTERNAL")
    serving.has_logged(f"auth=EXTERNAL user={user}")


def test_another_mechanism_does_not_help(serving: Authenticating, ca: Authority) -> None:
    assert not opened(serving.port_of("known"), ca, ca.issue(CLIENT_SUBJECT, hosts=""), "ANONYMOUS")


def test_nothing_is_taken_in_the_clear_where_encryption_is_required(
    start_peer: StartPeer, serving: Authenticating, ca: Authority
) -> None:
    assert opened(serving.port_of("encrypted"), ca, None, "ANONYMOUS")
    assert "condition" in attempt(start_peer, "proton", serving.port_of("clear"), "ANONYMOUS")
    serving.has_logged("amqp:connection:policy-error Client connection unencrypted - forbidden")
