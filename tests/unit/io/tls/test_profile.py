"""Profiles of TLS: what is wrong with their files is said by name, and files that change are used."""

import json
import re
import shutil
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from routerd.config import ConnectorConfig, ListenerConfig, SslProfileConfig
from routerd.io import Level, log_counts
from routerd.io.tls.peer_identity import expiry_of_certificate, subject_text
from routerd.io.tls.profile import TlsProfile, TlsProfileBroken
from routerd.io.tls.profiles import TlsProfiles, check_profiles, check_use, server_context
from tests.interop.certificates import CLIENT_SUBJECT, Authority, Identity, absence

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def own(ca: Authority) -> Identity:
    return ca.issue()


def config(ca: Authority, own: Identity, **changes: object) -> SslProfileConfig:
    """A profile; a file may be given as a path."""
    files = {"ca_file": ca.certificate, "cert_file": own.certificate, "key_file": own.key}
    fields = {"name": "tls", **files, **changes}
    return SslProfileConfig(**{key: str(one) if isinstance(one, Path) else one for key, one in fields.items()})


BROKEN = [
    ({"cert_file": "/nowhere"}, "certFile /nowhere: No such file or directory"),
    ({"cert_file": "FOLDER"}, "certFile FOLDER: Is a directory"),
    ({"cert_file": "TEXT"}, "certFile TEXT: this has no certificate in PEM form"),
    ({"key_file": "/nowhere"}, "privateKeyFile /nowhere: No such file or directory"),
    ({"key_file": "OTHER"}, "privateKeyFile OTHER: this is not the private key of certificate CERTIFICATE"),
    ({"key_file": "LOCKED"}, "privateKeyFile LOCKED: the private key needs a password"),
    ({"key_file": "LOCKED", "password": "wrong"}, "privateKeyFile LOCKED: the password is wrong"),
    ({"key_file": "CERTIFICATE"}, "privateKeyFile CERTIFICATE: this has no private key in PEM form"),
    ({"key_file": None}, "certFile CERTIFICATE: this has no private key in PEM form"),
    ({"ca_file": "TEXT"}, "caCertFile TEXT: this has no certificate in PEM form"),
    ({"ca_file": "/nowhere"}, "caCertFile /nowhere: No such file or directory"),
    ({"ciphers": "NONE-AT-ALL"}, "ciphers NONE-AT-ALL: this names no cipher that OpenSSL has"),
    ({"names_file": "/nowhere"}, "uidNameMappingFile /nowhere: No such file or directory"),
    ({"names_file": "TEXT"}, "uidNameMappingFile TEXT: this is not JSON: Expecting value: line 1 column 1 (char 0)"),
    ({"names_file": "LIST"}, "uidNameMappingFile LIST: this is not a map of names"),
    ({"names_file": "DEEP"}, "uidNameMappingFile DEEP: this is not a map of names"),
]


@pytest.mark.parametrize(("changes", "complaint"), BROKEN, ids=[complaint[:40] for _, complaint in BROKEN])
def test_what_is_wrong_with_a_file_is_said_with_its_name(
    ca: Authority, own: Identity, tmp_path: Path, changes: dict[str, str | None], complaint: str
) -> None:
    texts = {"TEXT": "no certificate", "LIST": '["a"]', "DEEP": "[" * 100_000}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    named = {name: str(tmp_path / name) for name in texts} | {
        "FOLDER": str(tmp_path),
        "OTHER": str(ca.issue().key),
        "CERTIFICATE": str(own.certificate),
        "LOCKED": str(ca.issue(password="secret").key),
    }
    wrong = {key: named.get(value or "", value) for key, value in changes.items()}
    with pytest.raises(TlsProfileBroken) as caught:
        TlsProfile(config(ca, own, **wrong))
    expected = re.sub("|".join(named), lambda found: named[found[0]], complaint)
    assert str(caught.value) == f"sslProfile tls: {expected}"


def test_a_listener_needs_a_certificate_and_somebody_to_trust(ca: Authority, own: Identity) -> None:
    listener = ListenerConfig(host="", port=5671, ssl_profile="tls", sasl_mechanisms=("EXTERNAL",))
    no_certificate = config(ca, own, cert_file=None, key_file=None)
    [fault] = check_profiles([no_certificate], [listener, listener])
    assert str(fault) == "sslProfile tls: certFile: a listener needs a certificate"
    nobody = "caCertFile: nobody is trusted to sign the certificates of clients"
    [fault] = check_profiles([config(ca, own, ca_file=None)], [listener])
    assert nobody in str(fault)
    assert not check_profiles([no_certificate], [ConnectorConfig(host="localhost", port=5671, ssl_profile="tls")])


@pytest.mark.parametrize(("http", "authenticates"), [(True, True), (True, False), (False, True)])
def test_a_listener_for_http_that_authenticates_peers_asks_for_their_certificates(
    ca: Authority, own: Identity, http: bool, authenticates: bool
) -> None:
    listener = ListenerConfig(
        host="", port=5671, ssl_profile="tls", takes_http=http, authenticate_peer=authenticates
    )
    is_asked = server_context(TlsProfile(config(ca, own)), listener).verify_mode is ssl.CERT_REQUIRED
    assert is_asked is (http and authenticates)


def test_of_several_profiles_each_that_cannot_be_used_is_told(ca: Authority, own: Identity) -> None:
    broken = [config(ca, own, name=name, cert_file=f"/nowhere/{name}") for name in ("a", "b")]
    listener = ListenerConfig(host="", port=5671, ssl_profile="a")
    assert [str(fault) for fault in check_profiles([*broken, config(ca, own)], [listener])] == [
        f"sslProfile {name}: certFile /nowhere/{name}: No such file or directory" for name in ("a", "b")
    ]


def test_contexts_are_as_the_profile_says(ca: Authority, own: Identity) -> None:
    profile = TlsProfile(config(ca, own))
    server = profile.server_context(demands_certificate=False)
    assert (server.verify_mode, server.num_tickets) == (ssl.CERT_NONE, 0)
    assert (server.minimum_version, server.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
    no = ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION | ssl.OP_NO_TICKET
    assert server.options & no == no
    assert profile.server_context(demands_certificate=False) is server
    assert profile.server_context(demands_certificate=True).verify_mode is ssl.CERT_REQUIRED
    client = profile.client_context(verifies_name=True)
    assert (client.verify_mode, client.check_hostname) == (ssl.CERT_REQUIRED, True)
    client = profile.client_context(verifies_name=False)
    assert (client.verify_mode, client.check_hostname) == (ssl.CERT_REQUIRED, False)


def test_the_first_of_its_certificates_to_expire_is_known(ca: Authority, own: Identity, tmp_path: Path) -> None:
    both = tmp_path / "chain.pem"
    both.write_text(own.certificate.read_text() + ca.certificate.read_text())
    texts = [one.read_text() for one in (own.certificate, ca.certificate)]
    octets = [ssl.PEM_cert_to_DER_cert(text) for text in texts]
    ends = [(expiry_of_certificate(one), subject_text(one)) for one in octets]
    unused = replace(config(ca, own), name="unused")
    profiles = TlsProfiles([config(ca, own, cert_file=both), SslProfileConfig(name="none"), unused])
    profiles.get("tls")
    profiles.get("none")
    assert profiles.certificates() == {"tls": min(ends)}


def test_protocols_may_leave_one_out(ca: Authority, own: Identity) -> None:
    profile = TlsProfile(config(ca, own, protocols=("TLSv1.1", "TLSv1.3"), ciphers="DEFAULT@SECLEVEL=0"))
    server = profile.server_context(demands_certificate=False)
    assert (server.minimum_version, server.maximum_version) == (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_3)
    assert server.options & ssl.OP_NO_TLSv1_2


def warnings() -> int:
    """How often the router has warned of something so far."""
    return log_counts()["SERVER"][Level.WARNING]


def test_files_that_change_are_used_and_those_that_cannot_be_are_not(
    ca: Authority, own: Identity, tmp_path: Path
) -> None:
    names = tmp_path / "names"
    names.write_text(json.dumps({"client": "somebody"}))
    client = ca.issue(CLIENT_SUBJECT).der
    profile = TlsProfile(config(ca, own, names_file=names, uid_format="n"))
    context = profile.server_context(demands_certificate=False)
    assert (profile.user_of(client), profile.refresh()) == ("somebody", False)
    names.write_text("nonsense")
    warned = warnings()
    assert (profile.refresh(), profile.refresh(), profile.user_of(client)) == (False, False, "somebody")
    assert warnings() == warned + 1
    assert profile.server_context(demands_certificate=False) is context
    names.write_text(json.dumps({"client": "somebody else"}))
    assert (profile.refresh(), profile.refresh(), profile.user_of(client)) == (True, False, "somebody else")
    assert profile.server_context(demands_certificate=False) is not context
    names.unlink()
    assert (profile.refresh(), profile.user_of(client)) == (False, "somebody else")


def test_a_format_without_a_field_gives_nobody_a_user(ca: Authority, own: Identity) -> None:
    without = TlsProfile(config(ca, own, uid_format=None))
    assert TlsProfile(config(ca, own, uid_format="nx")).user_of(own.der) == without.user_of(own.der)
    assert TlsProfile(config(ca, own, uid_format="c")).user_of(own.der) is None
    assert TlsProfile(config(ca, own)).user_of(b"no certificate") is None


def test_profiles_are_found_by_name_as_long_as_they_are_there(ca: Authority, own: Identity) -> None:
    profiles = TlsProfiles([config(ca, own), config(ca, own, name="broken", cert_file="/nowhere")])
    first = profiles.get("tls")
    assert profiles.get("tls") is first
    with pytest.raises(TlsProfileBroken, match="certFile /nowhere"):
        profiles.get("broken")
    other = TlsProfile(config(ca, own))
    profiles.add(other)
    assert profiles.get("tls") is other
    check_use(other, ListenerConfig(host="", port=5671, ssl_profile="tls"))
    profiles.remove("tls")
    with pytest.raises(TlsProfileBroken, match="sslProfile tls: name: there is no such profile"):
        profiles.get("tls")


class TestTrustedFile:
    """`trustedCertsFile` of a listener."""

    def test_what_is_wrong_with_it_is_said_with_its_name(self, ca: Authority, own: Identity, tmp_path: Path) -> None:
        text = tmp_path / "text"
        text.write_text("no certificate")
        for file, complaint in (
            (text, "this has no certificate in PEM form"),
            (tmp_path, "Is a directory"),
            ("/nowhere", "No such file or directory"),
        ):
            [fault] = check_profiles([config(ca, own)], [asking(file)])
            assert str(fault) == f"sslProfile tls: trustedCertsFile {file}: {complaint}"

    def test_it_suffices_where_the_profile_trusts_nobody(self, ca: Authority, own: Identity) -> None:
        assert not check_profiles([config(ca, own, ca_file=None)], [asking(ca.certificate)])

    def test_it_is_of_no_use_where_nobody_is_asked(self, ca: Authority, own: Identity) -> None:
        profile = TlsProfile(config(ca, own))
        assert server_context(profile, replace(asking("/nowhere"), sasl_mechanisms=None)) is profile.server_context(
            demands_certificate=False
        )

    def test_only_those_in_it_are_trusted(self, ca: Authority, own: Identity, tmp_path: Path) -> None:
        other = Authority(tmp_path, "other")
        profile = TlsProfile(config(ca, own))
        context = server_context(profile, asking(other.certificate))
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert [dict(one[0] for one in found["subject"]) for found in context.get_ca_certs()] == [
            {"commonName": "other"}
        ]
        assert server_context(profile, asking(None)) is profile.server_context(demands_certificate=True)

    def test_a_change_of_it_is_used_unless_it_cannot_be(self, ca: Authority, own: Identity, tmp_path: Path) -> None:
        other, trusted = Authority(tmp_path, "other"), tmp_path / "trusted"
        shutil.copy(ca.certificate, trusted)
        profile, listener = TlsProfile(config(ca, own)), asking(trusted)
        before = server_context(profile, listener)
        assert not profile.refresh()
        shutil.copy(other.certificate, trusted)
        assert (profile.refresh(), profile.refresh()) == (True, False)
        after = server_context(profile, listener)
        assert [len(one.get_ca_certs(binary_form=True)) for one in (before, after)] == [1, 1]
        assert before.get_ca_certs() != after.get_ca_certs()
        trusted.unlink()
        warned = warnings()
        assert (profile.refresh(), profile.refresh(), server_context(profile, listener)) == (True, False, after)
        assert warnings() == warned + 1
        with pytest.raises(TlsProfileBroken, match="trustedCertsFile"):
            check_use(TlsProfile(config(ca, own)), listener)


def asking(trusted: Path | str | None) -> ListenerConfig:
    """A listener where certificates are demanded."""
    file = None if trusted is None else str(trusted)
    return ListenerConfig(host="", port=5671, ssl_profile="tls", sasl_mechanisms=("EXTERNAL",), trusted_file=file)
