"""What is configured for TLS."""

from dataclasses import dataclass, field

UID_LETTERS = "cslonu125"
"""What a uidFormat may have (9.5)."""
UID_LETTERS_MAX = 7
PROTOCOLS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
DEFAULT_PROTOCOLS = ("TLSv1.2", "TLSv1.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class SslProfileConfig:
    """Certificates and settings that listeners and connectors name; the files are looked at when the profile is used.

    Their names are absolute: the actors of a router have working directories of their own.
    """

    name: str
    ca_file: str | None = None
    """The certificates of authorities that are trusted; None for those of the system."""
    cert_file: str | None = None
    key_file: str | None = None
    """None where the file of the certificate has the key, too."""
    password: str | None = field(default=None, repr=False)
    """Of the private key."""
    ciphers: str | None = None
    """As OpenSSL lists them; for TLS 1.3 it has its own."""
    protocols: tuple[str, ...] = DEFAULT_PROTOCOLS
    uid_format: str | None = None
    """Which parts of a peer's certificate make its user; None for the whole subject."""
    names_file: str | None = None
    """Gives such users other names."""

    @property
    def identity(self) -> str:
        """What management calls the profile (4.1)."""
        return f"sslProfile/{self.name}"
