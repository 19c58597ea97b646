"""The identity in a certificate (reference 9.5) and the end of its validity, read from the certificate itself.

Of a peer's certificate only the subject is read, and only after TLS has verified the certificate.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from routerd.config import UID_LETTERS, UID_LETTERS_MAX

SEPARATOR = ";"

_FINGERPRINTS = {"1": "sha1", "2": "sha256", "5": "sha512"}
_FIELDS = {"c": "2.5.4.6", "s": "2.5.4.8", "l": "2.5.4.7", "o": "2.5.4.10", "u": "2.5.4.11", "n": "2.5.4.3"}
_SHORT_NAMES = {
    **{"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST"},
    **{"2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.42": "GN"},
    **{"1.2.840.113549.1.9.1": "emailAddress", "0.9.2342.19200300.100.1.25": "DC"},
    "0.9.2342.19200300.100.1.1": "UID",
}
_ENCODINGS = {12: "utf-8", 18: "ascii", 19: "ascii", 20: "latin-1", 22: "ascii", 26: "ascii", 28: "utf-32-be"}
_ENCODINGS[30] = "utf-16-be"
"""Of the types of strings that ASN.1 has."""
_OBJECT_IDENTIFIER, _VERSION, _UTC_TIME = 0x06, 0xA0, 0x17
_ESCAPED = frozenset(',+"\\<>;')

Part = tuple[str, int, bytes]
"""Object identifier of a field of a name, ASN.1 type and octets of its value."""


class CertificateMalformed(Exception):
    """A certificate that is not DER."""


def is_uid_format(text: str) -> bool:
    """Whether a text can say which parts of a certificate make a user."""
    return len(text) <= UID_LETTERS_MAX and all(letter in UID_LETTERS for letter in text)


def user_of_certificate(der: bytes, uid_format: str | None, names: Mapping[str, str]) -> str:
    """Return the user that a certificate stands for; without a format, or with a wrong one, it is the whole subject.

    `names` gives users other names. Raises CertificateMalformed.
    """
    parts = [part for one in _subject(der) for part in one]
    if uid_format and is_uid_format(uid_format):
        found = (_part(letter, der, parts) for letter in uid_format)
        user = SEPARATOR.join(part for part in found if part)
    else:
        user = subject_text(der)
    return names.get(user, user)


def subject_text(der: bytes) -> str:
    """Return the subject as RFC 2253 writes it, the last field first. Raises CertificateMalformed."""
    return ",".join("+".join(map(_in_words, reversed(one))) for one in reversed(_subject(der)))


def _part(letter: str, der: bytes, parts: list[Part]) -> str:
    if letter in _FINGERPRINTS:
        return hashlib.new(_FINGERPRINTS[letter], der).hexdigest()
    return next((_text(kind, value) for name, kind, value in parts if name == _FIELDS[letter]), "")


def expiry_of_certificate(der: bytes) -> float:
    """Return until when a certificate is valid, seconds since 1970. Raises CertificateMalformed."""
    fields = _fields(der)
    # The validity comes before the subject. It has two times, and the second is the end (RFC 5280 section 4.1.2.5).
    times = _elements(fields[_subject_at(fields) - 1][1])
    if len(times) != 2:
        raise CertificateMalformed("the certificate has no validity")
    kind, octets = times[1]
    text = octets.decode("ascii", errors="replace")
    if kind == _UTC_TIME:
        text = f"{'19' if text >= '50' else '20'}{text}"
    try:
        return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise CertificateMalformed(f"the certificate ends at {text!r}") from error


def _subject(der: bytes) -> list[list[Part]]:
    """Return the fields of the subject. Each may have several parts."""
    fields = _fields(der)
    return [
        [_field(one) for _, one in _elements(several)] for _, several in _elements(fields[_subject_at(fields)][1])
    ]


def _fields(der: bytes) -> list[tuple[int, bytes]]:
    """Return the fields of a certificate, the subject among them."""
    [(_, certificate)] = _elements(der)[:1] or [(0, b"")]
    [(_, signed)] = _elements(certificate)[:1] or [(0, b"")]
    fields = _elements(signed)
    if len(fields) <= _subject_at(fields):
        raise CertificateMalformed("the certificate has no subject")
    return fields


def _subject_at(fields: list[tuple[int, bytes]]) -> int:
    # Version, serial number, algorithm, issuer, validity, subject; the version is optional.
    return 5 if fields and fields[0][0] == _VERSION else 4


def _field(octets: bytes) -> Part:
    inside = _elements(octets)
    if len(inside) != 2 or inside[0][0] != _OBJECT_IDENTIFIER:
        raise CertificateMalformed("a field of the subject has no name and value")
    return _object_identifier(inside[0][1]), *inside[1]


def _elements(octets: bytes) -> list[tuple[int, bytes]]:
    return list(_walk(octets))


def _walk(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of the elements one after the other (X.690 section 8.1)."""
    at = 0
    while at < len(octets):
        if len(octets) - at < 2:
            raise CertificateMalformed("an element is cut short")
        tag, length = octets[at], octets[at + 1]
        at += 2
        if length >= 0x80:
            more = length & 0x7F
            length = int.from_bytes(octets[at : at + more])
            at += more
        if at + length > len(octets):
            raise CertificateMalformed("an element is longer than what it is in")
        yield tag, octets[at : at + length]
        at += length


def _object_identifier(octets: bytes) -> str:
    numbers: list[int] = []
    number = 0
    for octet in octets:
        number = number << 7 | octet & 0x7F
        if octet < 0x80:
            numbers.append(number)
            number = 0
    if not numbers:
        raise CertificateMalformed("an object identifier is empty")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _text(kind: int, value: bytes) -> str:
    return value.decode(_ENCODINGS.get(kind, "utf-8"), errors="replace")


def _in_words(part: Part) -> str:
    name, kind, value = part
    if name not in _SHORT_NAMES or kind not in _ENCODINGS:
        return f"{_SHORT_NAMES.get(name, name)}=#{_der(kind, value).hex().upper()}"
    text = _text(kind, value)
    last = len(text) - 1
    return f"{_SHORT_NAMES[name]}={''.join(_escaped(one, at, last) for at, one in enumerate(text))}"


def _escaped(one: str, at: int, last: int) -> str:
    if one in _ESCAPED or (one == "#" and at == 0) or (one == " " and at in (0, last)):
        return f"\\{one}"
    if one.isascii() and one.isprintable():
        return one
    return "".join(f"\\{octet:02X}" for octet in one.encode(errors="replace"))


def _der(kind: int, value: bytes) -> bytes:
    length = len(value)
    if length < 0x80:
        return bytes((kind, length)) + value
    octets = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes((kind, 0x80 | len(octets))) + octets + value
