"""Files of keys for Kerberos, as its own tools write them."""

import struct
from pathlib import Path

AES256_OCTETS = 32
_AES256 = 18
_PRINCIPAL = 1


def write_keytab(path: Path, realm: str, *components: str) -> None:
    """Write the file of a principal whose key is zeros."""
    names = b"".join(struct.pack(">H", len(name)) + name.encode() for name in (realm, *components))
    entry = struct.pack(">H", len(components)) + names + struct.pack(">IIB", _PRINCIPAL, 0, 1)
    entry += struct.pack(">HH", _AES256, AES256_OCTETS) + bytes(AES256_OCTETS)
    path.write_bytes(b"\x05\x02" + struct.pack(">i", len(entry)) + entry)
