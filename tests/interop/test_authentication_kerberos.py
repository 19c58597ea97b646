"""GSSAPI: a client with a ticket is let in, by Cyrus SASL."""

import glob
from collections.abc import Iterator
from pathlib import Path

import proton
import pytest

from tests.interop import kerberos
from tests.interop.authenticating_router import Authenticating, listener, router, running
from tests.interop.kerberos import HOST, REALM, Realm
from tests.system.proton_client import ProtonClient

PLUGIN = "libgssapiv2.so"


def _absence() -> str | None:
    if not proton.SASL.extended():
        return "python-qpid-proton was built without Cyrus SASL"
    if not glob.glob(f"/usr/lib/*/sasl2/{PLUGIN}") and not glob.glob(f"/usr/lib*/sasl2/{PLUGIN}"):
        return f"Cyrus SASL has no {PLUGIN} (libsasl2-modules-gssapi-mit)"
    return kerberos.absence()


pytestmark = pytest.mark.skipif(_absence() is not None, reason=str(_absence()))


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with pytest.MonkeyPatch.context() as patch:
        one = Realm(tmp_path_factory.mktemp("realm"))
        for name, value in one.environment.items():
            # Also for proton's library, which is in this process.
            patch.setenv(name, value)
        yield one
        one.close()


@pytest.fixture
def serving(tmp_path: Path, realm: Realm) -> Iterator[Authenticating]:
    (tmp_path / "tests.conf").write_text("mech_list: GSSAPI\n")
    text = router(f"saslConfigDir: {tmp_path}", "saslConfigName: tests") + listener("proven", "authenticatePeer: yes")
    with running(tmp_path, text) as launched:
        yield launched


def test_a_client_with_a_ticket_is_let_in_and_one_without_is_not(serving: Authenticating, realm: Realm) -> None:
    port = serving.port_of("proven")
    with ProtonClient(port, hostname=HOST, mechanism="GSSAPI") as client:
        assert client.is_over
    realm.log_in("alice")
    with ProtonClient(port, hostname=HOST, mechanism="GSSAPI") as client:
        assert not client.is_over
        serving.has_logged(f"auth=GSSAPI user=alice(@{REALM})?")
