"""A router that asks for proof: passwords that never cross the network, certificates, and who has neither."""

import logging
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from oslo_messaging import MessagingTimeout
from proton import SASL

from examples.routers import TREE, Router, router_python
from tests.functional.meshes import addresses
from tests.functional.services import ENDINGS, Echo, rpc_client, rpc_server
from tests.waiting import eventually

USER, PASSWORD, NO_PASSWORD = "alice", "s3cret-of-alice", "s3cret-of-nobody"
CONFIGURATION = """\
router {{
    mode: standalone
    id: Secured
}}
sslProfile {{
    name: router
    caCertFile: {folder}/ca.crt
    certFile: {folder}/router.crt
    privateKeyFile: {folder}/router.key
    uidFormat: n
}}
listener {{
    name: people
    host: 127.0.0.1
    port: 0
    sslProfile: router
    requireSsl: yes
    authenticatePeer: yes
    saslMechanisms: {mechanisms}
}}
listener {{
    name: machines
    host: 127.0.0.1
    port: 0
    sslProfile: router
    requireSsl: yes
    authenticatePeer: yes
    saslMechanisms: EXTERNAL
}}
"""


@dataclass(frozen=True)
class Secured:
    """The router, and what its clients are given."""

    router: Router
    folder: Path
    mechanism: str

    def url(self, listener: str, *, password: str = PASSWORD) -> str:
        """Return where clients with a user connect, or those with a certificate."""
        found = re.search(rf"Listening on \S*:(\d+) \({listener}\)", self.router.log.read_text())
        assert found is not None
        user = f"{USER}:{password}@" if listener == "people" else ""
        # Proton compares names with those of a certificate, and no numbers.
        return f"amqp://{user}localhost:{found[1]}/?ssl_ca_file={self.folder}/ca.crt"

    @property
    def by_password(self) -> str:
        """The URL of who has a password."""
        return f"{self.url('people')}&sasl_mechanisms={self.mechanism}"

    @property
    def by_certificate(self) -> str:
        """The URL of who has a certificate."""
        files = f"ssl_cert_file={self.folder}/client.crt&ssl_key_file={self.folder}/client.key"
        return f"{self.url('machines')}&{files}&sasl_mechanisms=EXTERNAL"


@pytest.fixture(scope="module")
def secured(routers_can_start: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A router with certificates and a user; SCRAM where proton can do it."""
    if not shutil.which("openssl"):
        pytest.skip("openssl, which makes the certificates, is not installed")
    folder = tmp_path_factory.mktemp("secured")
    subprocess.run([TREE / "configs/make-certificates.sh", folder], check=True, stdout=subprocess.DEVNULL)
    password = folder / "password"
    password.write_text(f"{PASSWORD}\n")
    files = ("--user-file", str(folder / "users"), "--password-file", str(password))
    add = [router_python(), "-m", "routerd.cli.routermanage", "user", "add", USER, *files]
    subprocess.run(add, cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    mechanism = "SCRAM-SHA-256" if SASL.extended() else "PLAIN"
    text = CONFIGURATION.format(folder=folder, mechanisms=mechanism) + addresses()
    router = Router("Secured", text, folder, "--user-file", str(folder / "users"))
    try:
        yield Secured(router.start().wait(), folder, mechanism)
        ENDINGS.wait()
    finally:
        router.close()


def test_who_has_a_password_talks_to_who_has_a_certificate(secured: Secured, topic: str) -> None:
    with (
        rpc_server(secured.by_certificate, topic, "machine", Echo("machine")),
        rpc_client(secured.by_password, topic) as client,
    ):
        assert client.call({}, "who") == "machine"
        log = secured.router.log.read_text()
        users = set(re.findall(r"auth=(\S+) user=(\S+)", log))
        assert users == {("EXTERNAL", "collector"), (secured.mechanism, USER)}


@pytest.mark.parametrize(
    ("option", "why"),
    [("password", "unauthorized-access"), ("ca", "certificate"), ("plain", "")],
    ids=["a wrong password", "another authority", "no TLS"],
)
def test_who_proves_nothing_is_kept_out_and_told_in_the_log(
    secured: Secured, topic: str, option: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "oslo_messaging_amqp1")
    url = {
        "password": f"{secured.url('people', password=NO_PASSWORD)}&sasl_mechanisms={secured.mechanism}",
        "ca": secured.by_password.replace("/ca.crt", "/client.crt"),
        "plain": re.sub(r"\?.*", "", secured.url("people")),
    }[option]
    with rpc_client(url, topic, timeout=2) as client:
        begun = time.monotonic()
        with pytest.raises(MessagingTimeout):
            client.call({}, "who")
        assert time.monotonic() - begun < 15
    eventually(lambda: why in caplog.text and "localhost" in caplog.text, "it is told why")
    assert "s3cret" not in caplog.text
