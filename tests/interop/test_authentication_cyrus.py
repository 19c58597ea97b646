"""A router with the Cyrus SASL configuration of an operator: a sasldb made by saslpasswd2, as qdrouterd has it."""

import ctypes
import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.io.auth.cyrus import LIBRARY
from routerd.wire import Symbol
from routerd.wire.sasl import SaslCode
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from tests.conformance.raw_peer import SASL_HEADER, framed
from tests.interop.authenticating_router import Authenticating, attempt, listener, router, running
from tests.interop.conftest import StartPeer
from tests.system.raw_client import RawClient

MECHANISMS = ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "CRAM-MD5"]
USER, PASSWORD = "alice@QDR.P", "secret"
FILE = """pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: {}
mech_list: PLAIN SCRAM-SHA-1 SCRAM-SHA-256 DIGEST-MD5 CRAM-MD5 ANONYMOUS
"""


def _absence() -> str | None:
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return f"{LIBRARY} is not installed (libsasl2-2)"
    return None if shutil.which("saslpasswd2") else "saslpasswd2 is not installed (sasl2-bin)"


pytestmark = pytest.mark.skipif(_absence() is not None, reason=str(_absence()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration and its users."""
    found = tmp_path / "sasl2"
    found.mkdir()
    (found / "tests.conf").write_text(FILE.format(found / "users"))
    subprocess.run(
        ["saslpasswd2", "-c", "-p", "-f", str(found / "users"), "-u", "QDR.P", "alice"],
        input=PASSWORD.encode(),
        check=True,
    )
    return found


@pytest.fixture
def serving(tmp_path: Path, folder: Path) -> Iterator[Authenticating]:
    text = "".join([
        router(f"saslConfigDir: {folder}", "saslConfigName: tests"),
        listener("any"),
        listener("proven", "authenticatePeer: yes"),
        listener("scram", "authenticatePeer: yes", "saslMechanisms: SCRAM-SHA-1"),
    ])
    with running(tmp_path, text) as launched:
        yield launched


def test_its_users_are_let_in_by_every_mechanism_that_the_library_has(
    start_peer: StartPeer, serving: Authenticating
) -> None:
    port = serving.port_of("proven")
    for mechanism in MECHANISMS:
        assert attempt(start_peer, "proton", port, mechanism, USER, PASSWORD) == {"mechanism": mechanism}
        serving.has_logged(f"auth={mechanism} user={USER}")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256"])
def test_they_are_let_in_with_rhea(start_peer: StartPeer, serving: Authenticating, mechanism: str) -> None:
    told = attempt(start_peer, "rhea", serving.port_of("proven"), mechanism, USER, PASSWORD)
    assert told == {"mechanism": mechanism}


@pytest.mark.parametrize(("password", "code"), [(PASSWORD, SaslCode.OK), ("wrong", SaslCode.AUTH)])
def test_digest_md5_is_the_librarys_as_well(serving: Authenticating, password: str, code: SaslCode) -> None:
    # The peers have no host name for it, without which their library does not use it.
    with RawClient(serving.port_of("proven")) as client:
        client.send_octets(SASL_HEADER)
        assert client.read_octets(len(SASL_HEADER)) == SASL_HEADER
        assert "DIGEST-MD5" in client.wait_for(SaslMechanisms).sasl_server_mechanisms
        client.send_octets(framed(SaslInit(mechanism=Symbol("DIGEST-MD5")), kind=1))
        challenge = client.wait_for(SaslChallenge).challenge
        client.send_octets(framed(SaslResponse(response=digest_response(challenge.decode(), password)), kind=1))
        if code is SaslCode.OK:
            assert client.wait_for(SaslChallenge).challenge.startswith(b"rspauth=")
            client.send_octets(framed(SaslResponse(response=b""), kind=1))
        assert client.wait_for(SaslOutcome).code == code


def digest_response(challenge: str, password: str) -> bytes:
    """Return what alice answers (RFC 2831, section 2.1.2), for authentication alone."""
    nonce = re.findall('nonce="([^"]+)"', challenge)[0]
    name, _, realm = USER.partition("@")
    uri, client_nonce, count = "amqp/host", "0123456789", "00000001"
    secret = hashlib.md5(f"{name}:{realm}:{password}".encode()).digest()
    first = hashlib.md5(secret + f":{nonce}:{client_nonce}".encode()).hexdigest()
    second = hashlib.md5(f"AUTHENTICATE:{uri}".encode()).hexdigest()
    response = hashlib.md5(f"{first}:{nonce}:{count}:{client_nonce}:auth:{second}".encode()).hexdigest()
    return (
        f'username="{name}",realm="{realm}",nonce="{nonce}",cnonce="{client_nonce}",nc={count},qop=auth,'
        f'digest-uri="{uri}",response={response},charset=utf-8'
    ).encode()


def test_a_wrong_password_is_refused(start_peer: StartPeer, serving: Authenticating) -> None:
    port = serving.port_of("any")
    for mechanism in MECHANISMS:
        told = attempt(start_peer, "proton", port, mechanism, USER, "wrong")
        assert told["description"] == f"Authentication failed [mech={mechanism}]"
    assert serving.log().count("(warning) [C") == len(MECHANISMS)


def test_the_listener_says_what_is_offered(start_peer: StartPeer, serving: Authenticating) -> None:
    port = serving.port_of("scram")
    assert "condition" in attempt(start_peer, "proton", port, "PLAIN", USER, PASSWORD)
    assert attempt(start_peer, "proton", port, "SCRAM-SHA-1", USER, PASSWORD) == {"mechanism": "SCRAM-SHA-1"}


def test_anonymous_is_the_routers_own(start_peer: StartPeer, serving: Authenticating) -> None:
    assert attempt(start_peer, "proton", serving.port_of("any"), "ANONYMOUS") == {"mechanism": "ANONYMOUS"}
    assert "condition" in attempt(start_peer, "proton", serving.port_of("proven"), "ANONYMOUS")


def test_a_folder_without_the_configuration_is_warned_of(tmp_path: Path) -> None:
    with running(tmp_path, router(f"saslConfigDir: {tmp_path}") + listener("any")) as launched:
        launched.port_of("any")
        launched.has_logged(r"\(warning\) saslConfigDir: there is no qdrouterd.conf in ")
