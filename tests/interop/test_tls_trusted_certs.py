"""`trustedCertsFile` of a listener: of those whom the profile trusts, some sign the certificates of its clients."""

import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.free_ports import free_port
from tests.interop.certificates import CLIENT_SUBJECT, Authority, Identity, absence
from tests.interop.tls_routers import SASL_HEADER, client_context, profile, running, secured
from tests.system.management_client import ManagementClient
from tests.system.routers import RunningRouter, listener
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))
ASKS = {"sslProfile": "tls", "requireSsl": "yes", "saslMechanisms": "EXTERNAL ANONYMOUS"}


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def partner(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Another authority that the profile trusts."""
    return Authority(tmp_path_factory.mktemp("partner"), "partner")


@pytest.fixture(scope="module")
def both(ca: Authority, partner: Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the profile."""
    file = tmp_path_factory.mktemp("both") / "both.crt"
    file.write_bytes(ca.certificate.read_bytes() + partner.certificate.read_bytes())
    return file


@pytest.fixture
def trusted(ca: Authority, tmp_path: Path) -> Path:
    """The file of the listener."""
    file = tmp_path / "trusted.crt"
    shutil.copy(ca.certificate, file)
    return file


@pytest.fixture
def router(ca: Authority, both: Path, trusted: Path) -> Iterator[RunningRouter]:
    sections = [
        profile(ca=both, own=ca.issue()),
        listener("all", **ASKS),
        listener("some", trustedCertsFile=trusted, **ASKS),
        listener("plain"),
    ]
    with running(*sections) as one:
        yield one


def lets_in(router_port: int, ca: Authority, own: Identity | None) -> bool:
    """Return whether a client with a certificate comes as far as SASL."""
    try:
        with secured(router_port, client_context(ca, own)) as encrypted:
            encrypted.sendall(SASL_HEADER)
            return encrypted.recv(8) == SASL_HEADER
    except (ssl.SSLError, ConnectionError):
        return False


def test_a_listener_trusts_fewer_than_its_profile(router: RunningRouter, ca: Authority, partner: Authority) -> None:
    clients = [one.issue(CLIENT_SUBJECT, hosts="") for one in (ca, partner)] + [None]
    found = {
        name: [lets_in(router.port_of(name), ca, client) for client in clients] for name in ("all", "some")
    }
    assert found == {"all": [True, True, False], "some": [True, False, False]}


def test_a_clients_own_certificate_may_stand_there(
    router: RunningRouter, ca: Authority, partner: Authority, trusted: Path
) -> None:
    pinned, other = (partner.issue(CLIENT_SUBJECT, hosts="") for _ in range(2))
    port = router.port_of("some")
    shutil.copy(pinned.certificate, trusted)
    eventually(lambda: lets_in(port, ca, pinned), "the certificate is trusted")
    assert [lets_in(port, ca, one) for one in (other, ca.issue(CLIENT_SUBJECT, hosts=""))] == [False, False]


def test_a_client_is_revoked_by_another_file_and_keeps_the_connection_that_it_has(
    router: RunningRouter, ca: Authority, partner: Authority, trusted: Path
) -> None:
    port, own = router.port_of("some"), ca.issue(CLIENT_SUBJECT, hosts="")
    with secured(port, client_context(ca, own)) as kept:
        kept.sendall(SASL_HEADER)
        assert kept.recv(8) == SASL_HEADER
        shutil.copy(partner.certificate, trusted)
        eventually(lambda: not lets_in(port, ca, own), "the client is not trusted any more")
        assert lets_in(port, ca, partner.issue(CLIENT_SUBJECT, hosts=""))
        assert lets_in(router.port_of("all"), ca, own)
        trusted.unlink()
        eventually(lambda: "trustedCertsFile" in router.log(), "the missing file is told")
        assert lets_in(port, ca, partner.issue(CLIENT_SUBJECT, hosts=""))


def test_a_listener_with_such_a_file_comes_at_run_time(
    router: RunningRouter, ca: Authority, partner: Authority, trusted: Path
) -> None:
    port = free_port()
    place = {"host": "127.0.0.1", "port": str(port), **ASKS, "requireSsl": True}
    with ManagementClient(router.port_of("plain")) as management:
        told = management.create("listener", "late", trustedCertsFile="/nowhere", **place)
        assert (told.status, told.description) == (
            400,
            "sslProfile tls: trustedCertsFile /nowhere: No such file or directory",
        )
        assert management.create("listener", "late", trustedCertsFile=str(trusted), **place).status == 201
        clients = [one.issue(CLIENT_SUBJECT, hosts="") for one in (ca, partner)]
        assert [lets_in(port, ca, client) for client in clients] == [True, False]
