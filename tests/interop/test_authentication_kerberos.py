"""GSSAPI: who has a ticket is let in, by Cyrus SASL and without it; a connector logs in by one."""

import glob
from collections.abc import Iterator
from pathlib import Path

import proton
import pytest

from routerd.io.auth.gss_library import Initiator, gss_library
from routerd.wire.sasl import Challenge, GssapiClient, GssapiServer, Success
from tests.interop import kerberos
from tests.interop.authenticating_router import Authenticating, listener, router, running
from tests.interop.kerberos import HOST, Realm
from tests.interop.test_authentication_connectors import connector, fails_with, state
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.waiting import eventually

PLUGIN = "libgssapiv2.so"


def _absence_of_proton() -> str | None:
    if not proton.SASL.extended():
        return "python-qpid-proton was built without Cyrus SASL"
    if not glob.glob(f"/usr/lib/*/sasl2/{PLUGIN}") and not glob.glob(f"/usr/lib*/sasl2/{PLUGIN}"):
        return f"Cyrus SASL has no {PLUGIN} (libsasl2-modules-gssapi-mit)"
    return None


pytestmark = pytest.mark.skipif(kerberos.absence() is not None, reason=str(kerberos.absence()))
with_proton = pytest.mark.skipif(_absence_of_proton() is not None, reason=str(_absence_of_proton()))


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with pytest.MonkeyPatch.context() as patch:
        one = Realm(tmp_path_factory.mktemp("realm"))
        for name, value in one.environment.items():
            # Also for proton's library, which is in this process.
            patch.setenv(name, value)
        yield one
        one.close()


@pytest.fixture(params=["cyrus", "own"])
def serving(tmp_path: Path, realm: Realm, request: pytest.FixtureRequest) -> Iterator[Authenticating]:
    """A router with a listener where a ticket is needed, by Cyrus or without."""
    realm.log_out()
    (tmp_path / "tests.conf").write_text("mech_list: GSSAPI\n")
    lines = (f"saslConfigDir: {tmp_path}", "saslConfigName: tests") if request.param == "cyrus" else ()
    with running(tmp_path, router(*lines) + listener("proven", "authenticatePeer: yes")) as launched:
        yield launched


@with_proton
def test_a_client_with_a_ticket_is_let_in_and_one_without_is_not(serving: Authenticating, realm: Realm) -> None:
    port = serving.port_of("proven")
    with ProtonClient(port, hostname=HOST, mechanism="GSSAPI") as client:
        assert client.is_over
    realm.log_in("alice")
    with ProtonClient(port, hostname=HOST, mechanism="GSSAPI") as client:
        assert not client.is_over
        serving.has_logged("auth=GSSAPI user=alice ")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """For two routers."""
    both = tmp_path / "here", tmp_path / "there"
    for folder in both:
        folder.mkdir()
    return both


def logging_in(port: int, *lines: str) -> str:
    """Return the configuration of a router that logs in by a ticket."""
    return router() + listener("here") + connector(port, "saslMechanisms: GSSAPI", *lines, host=HOST)


@pytest.fixture
def there(folders: tuple[Path, Path], realm: Realm) -> Iterator[Authenticating]:
    """A router where a ticket is needed."""
    realm.log_out()
    with running(folders[1], router() + listener("there", "authenticatePeer: yes")) as launched:
        yield launched


def test_a_router_logs_in_at_a_router_by_its_ticket_once_it_has_one(
    folders: tuple[Path, Path], there: Authenticating, realm: Realm
) -> None:
    with running(folders[0], logging_in(there.port_of("there"))) as here:
        fails_with(here, "failed: GSSAPI: No Kerberos credentials available")
        realm.log_in("inventory")
        there.has_logged("auth=GSSAPI user=inventory ")
        with ManagementClient(here.port_of("here")) as client:
            eventually(lambda: state(client)[0] == "SUCCESS", "the connector is connected")


def test_the_user_of_a_connector_says_whose_ticket_it_is(
    folders: tuple[Path, Path], there: Authenticating, realm: Realm
) -> None:
    realm.log_in("orders")
    with running(folders[0], logging_in(there.port_of("there"), "saslUsername: billing")) as here:
        fails_with(here, "failed: GSSAPI: ")
        assert "auth=GSSAPI" not in there.log()


def test_a_key_that_has_changed_lets_nobody_in_until_the_keytab_has_it(
    folders: tuple[Path, Path], there: Authenticating, realm: Realm
) -> None:
    realm.change_key()
    realm.log_in("patient")
    with running(folders[0], logging_in(there.port_of("there"))) as here:
        here.has_logged(r"localhost:\d+ failed: amqp:unauthorized-access Authentication failed \[mech=GSSAPI\]")
        there.has_logged(r"\(warning\) \[C\d+\] Authentication failed \[mech=GSSAPI\]")
        realm.put_key()
        # The ticket is for the key of before.
        realm.log_in("patient")
        there.has_logged("auth=GSSAPI user=patient ")


def test_without_a_key_gssapi_is_not_offered_and_the_log_says_why(
    tmp_path: Path, realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5_KTNAME", str(tmp_path / "none"))
    text = router() + listener("named", "saslMechanisms: GSSAPI ANONYMOUS")
    with running(tmp_path, text) as launched, ManagementClient(launched.port_of("named")):
        launched.has_logged(
            r"\(warning\) Listener 127.0.0.1:\d+ does not offer GSSAPI, which its saslMechanisms name: "
            "there is no key for amqp/HOST: Key table file '.*/none' not found"
        )


def test_octets_that_the_library_is_given_stay_as_they_are(realm: Realm) -> None:
    realm.log_in("steady")
    client = GssapiClient(lambda: Initiator(gss_library(), HOST, "steady")).start(None)
    server = GssapiServer(gss_library().acceptor).start(None)
    said = [client.initial_response()]
    while isinstance(step := server.step(said[-1]), Challenge):
        said += [step.data, client.respond(step.data)]
    assert step == Success("steady")
    # Sealed messages begin with 05 04 (RFC 4121 section 4.2.6.2).
    assert [one[:2] for one in said[2:]] == [b"", b"\x05\x04", b"\x05\x04"]
