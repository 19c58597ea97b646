"""Users by certificates: the letters of uidFormat, the whole subject as OpenSSL writes it, and other names."""

import hashlib
import ssl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.tls.peer_identity import (
    CertificateMalformed,
    expiry_of_certificate,
    is_uid_format,
    subject_text,
    user_of_certificate,
)
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


def test_the_end_of_a_certificate_is_what_openssl_says(ca: Authority) -> None:
    found = ca.issue()
    told = openssl("x509", "-in", str(found.certificate), "-noout", "-enddate").decode()
    assert expiry_of_certificate(found.der) == ssl.cert_time_to_seconds(told.strip().removeprefix("notAfter="))


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (b"\x17\x0d491231235959Z", "Dec 31 23:59:59 2049 GMT"),
        (b"\x17\x0d500101000000Z", "Jan  1 00:00:00 1950 GMT"),
        (b"\x18\x0f20500101000000Z", "Jan  1 00:00:00 2050 GMT"),
    ],
)
def test_the_end_of_a_certificate_has_two_forms(time: bytes, expected: str) -> None:
    assert expiry_of_certificate(certificate_until(time)) == ssl.cert_time_to_seconds(expected)


@pytest.mark.parametrize("time", [b"\x17\x0dtomorrow, 9 ", b"\x17\x00", b""])
def test_a_certificate_without_an_end_is_malformed(time: bytes) -> None:
    with pytest.raises(CertificateMalformed):
        expiry_of_certificate(certificate_until(time))


def certificate_until(time: bytes) -> bytes:
    """Return the beginning of a certificate that ends then."""
    validity = sequence(b"\x17\x0d200101000000Z" + time)
    return sequence(sequence(b"\x02\x01\x01" + sequence(b"") + sequence(b"") + validity + sequence(b"")))


def sequence(octets: bytes) -> bytes:
    return bytes((0x30, len(octets))) + octets


@pytest.mark.parametrize("uid_format", ["x", "nX", "cslonu12", " n"])
def test_with_a_format_of_another_letter_or_of_too_many_the_user_is_the_whole_subject(
    ca: Authority, uid_format: str
) -> None:
    der = ca.issue().der
    assert (is_uid_format(uid_format), user_of_certificate(der, uid_format, {})) == (False, subject_text(der))


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
