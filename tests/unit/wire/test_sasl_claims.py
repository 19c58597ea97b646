"""Who a client says that it is, before that is judged."""

import pytest

from routerd.wire.sasl import claimed_name


@pytest.mark.parametrize(
    ("mechanism", "response", "name"),
    [
        ("PLAIN", b"\0ann\0secret", "ann"),
        ("PLAIN", b"bob\0ann\0secret", "ann"),
        ("PLAIN", "\0a\u00adnn\0secret".encode(), "ann"),
        ("PLAIN", "\0\u0007\0secret".encode(), "\u0007"),
        ("PLAIN", b"ann", None),
        ("PLAIN", b"\0\xff\0secret", None),
        ("SCRAM-SHA-256", b"n,,n=ann,r=nonce", "ann"),
        ("SCRAM-SHA-1", b"y,a=bob,n=ann,r=nonce", "ann"),
        ("SCRAM-SHA-512", b"n,,n=a=2Cb=3Dc,r=nonce", "a,b=c"),
        ("SCRAM-SHA-512", "n,,n=a\u00adnn,r=nonce".encode(), "ann"),
        ("SCRAM-SHA-256", b"n,,m=more,n=ann,r=nonce", None),
        ("SCRAM-SHA-256", b"n,,n=ann", None),
        ("ANONYMOUS", b"\0ann\0secret", None),
        ("DIGEST-MD5", b"username=ann", None),
    ],
)
def test_a_name_is_found_where_there_is_one(mechanism: str, response: bytes, name: str | None) -> None:
    assert claimed_name(mechanism, response) == name
