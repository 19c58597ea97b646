"""Users by certificates: the letters of uidFormat, the whole subject as OpenSSL writes it, and other names."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.tls.peer_identity import CertificateMalformed, is_uid_format, subject_text, user_of_certificate
from tests.interop.certificates import CLIENT_SUBJECT, Authority, absence, openssl

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))

SUBJECTS = [
    CLIENT_SUBJECT,
    '/CN=a, b\\+c\\\\d<e>;"f"',
    "/CN=#first/O= spaces /OU=two",
    "/CN=Jürgen Müller/O=日本",
    "/DC=org/DC=example/UID=me/CN=me/emailAddress=me@example.org",
    "/CN=one+OU=two/O=three",
    "/serialNumber=12/title=x/GN=y/SN=z/street=s/CN=all",
    "/1.2.3.4.5=unknown/CN=known",
]


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_whole_subject_is_as_openssl_writes_it(ca: Authority, subject: str) -> None:
    found = ca.issue(subject, hosts="")
    told = openssl("x509", "-in", str(found.certificate), "-noout", "-subject", "-nameopt", "RFC2253").decode()
    assert subject_text(found.der) == told.rstrip("\n").removeprefix("subject=")
    assert user_of_certificate(found.der, None, {}) == subject_text(found.der)


def test_each_letter_is_a_part_of_the_certificate_in_its_order(ca: Authority) -> None:
    der = ca.issue(CLIENT_SUBJECT, hosts="").der
    prints = {n: hashlib.new(name, der).hexdigest() for n, name in (("1", "sha1"), ("2", "sha256"), ("5", "sha512"))}
    for uid_format, user in (
        ("cslonu", "US;NC;Raleigh;Org;client;Dev"),
        ("n", "client"),
        ("n2", f"client;{prints['2']}"),
        ("15", f"{prints['1']};{prints['5']}"),
        ("unolsc1", f"Dev;client;Org;Raleigh;NC;US;{prints['1']}"),
    ):
        assert user_of_certificate(der, uid_format, {}) == user
    few = ca.issue("/O=Org/CN=few", hosts="").der
    assert [user_of_certificate(few, one, {}) for one in ("cslonu", "c", "su")] == ["Org;few", "", ""]


@pytest.mark.parametrize("uid_format", ["x", "nX", "cslonu12", " n"])
def test_a_format_with_another_letter_or_too_many_gives_no_user(ca: Authority, uid_format: str) -> None:
    assert (is_uid_format(uid_format), user_of_certificate(ca.issue().der, uid_format, {})) == (False, "")


def test_names_replace_users_that_they_have(ca: Authority) -> None:
    der = ca.issue(CLIENT_SUBJECT, hosts="").der
    names = {"client": "shown", "CN=client,OU=Dev,O=Org,L=Raleigh,ST=NC,C=US": "whole"}
    assert [user_of_certificate(der, one, names) for one in ("n", "u", None)] == ["shown", "Dev", "whole"]


def test_any_octets_are_a_certificate_or_are_not(ca: Authority, tmp_path: Path) -> None:
    der = ca.issue(CLIENT_SUBJECT).der

    @given(at=st.integers(0, len(der) - 1), octet=st.integers(0, 255), end=st.integers(0, len(der)))
    def look_at_damaged(at: int, octet: int, end: int) -> None:
        for damaged in (der[:at] + bytes([octet]) + der[at + 1 :], der[:end]):
            try:
                assert isinstance(user_of_certificate(damaged, None, {}), str)
            except CertificateMalformed:
                continue

    look_at_damaged()
