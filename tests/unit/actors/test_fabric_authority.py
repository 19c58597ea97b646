"""What the launcher makes for the fabric between hosts."""

from pathlib import Path

import pytest

from actors.errors import AuthorityUnavailable
from actors.fabric_authority import keys_for, token_for
from routerd.io import TlsSession, fabric_name
from routerd.io.settings.fabric_keys import FabricKeys, FabricTls
from tests.interop.certificates import absence, openssl

needs_openssl = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture(scope="module")
def keys() -> dict[int, FabricKeys]:
    """What two workers have."""
    return keys_for(range(2))


@needs_openssl
def test_all_have_one_token_and_authority_and_each_a_key_of_its_own(keys: dict[int, FabricKeys]) -> None:
    assert len({one.token for one in keys.values()}) == len({one.authority for one in keys.values()}) == 1
    assert len({one.chain for one in keys.values()}) == 2
    assert keys_for([0])[0].token != keys[0].token


@needs_openssl
def test_a_certificate_names_its_worker_and_can_sign_no_other(keys: dict[int, FabricKeys]) -> None:
    shown = openssl("x509", "-noout", "-ext", "subjectAltName,basicConstraints", given=keys[1].chain.encode()).decode()
    assert f"DNS:{fabric_name(1)}\n" in shown
    assert "CA:FALSE" in shown


@needs_openssl
def test_two_workers_shake_hands_by_tls_1_3(keys: dict[int, FabricKeys]) -> None:
    _, server = FabricTls(keys[0]).accept()
    _, client = FabricTls(keys[1]).connect(0)
    shake_hands(client, server)
    assert (client.is_established, server.is_established, server.protocol) == (True, True, "TLSv1.3")


def shake_hands(client: TlsSession, server: TlsSession) -> None:
    client.shake_hands()
    for _ in range(2):
        server.shake_hands(client.output())
        client.shake_hands(server.output())


@needs_openssl
def test_nothing_secret_is_shown(keys: dict[int, FabricKeys]) -> None:
    assert "PRIVATE" not in repr(keys)
    assert keys[0].token not in repr(keys)
    assert "PRIVATE" not in keys[0].authority


def test_without_the_command_there_are_no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AuthorityUnavailable, match=r"^the openssl command \(version 3\) cannot make certificates: "):
        keys_for(range(2))
    keys = token_for(range(2))
    assert [(one.authority, one.chain) for one in keys.values()] == [("", ""), ("", "")]
    assert keys[0].token == keys[1].token != ""


def test_a_command_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "openssl"
    command.write_text("#!/bin/sh\necho no such option >&2\nexit 1\n")
    command.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(AuthorityUnavailable, match=r"no such option$"):
        keys_for([0])
