"""TLS from files, for those who bring no `ssl.SSLContext` of their own."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from mobula_client.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """The files of a TLS client."""

    ca_file: str | Path | None = None
    """Certificates that the routers' certificates must descend from; None takes those of the system."""
    certificate_file: str | Path | None = None
    """Our certificate, for routers that ask for one and for SASL EXTERNAL."""
    key_file: str | Path | None = None
    """The key of our certificate; None if it is in the same file."""
    key_password: str | None = None
    """What the key is encrypted with."""
    is_hostname_checked: bool = True
    """Whether the router's certificate must have the host of the URL."""

    def context(self) -> ssl.SSLContext:
        """Return the context. Raises UsageError for a file that cannot be used."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            context.check_hostname = self.is_hostname_checked
            if self.certificate_file is not None:
                context.load_cert_chain(self.certificate_file, self.key_file, self.key_password)
        except (OSError, ssl.SSLError) as error:
            files = [str(one) for one in (self.ca_file, self.certificate_file, self.key_file) if one is not None]
            raise UsageError(f"TLS cannot use {', '.join(files)}: {error}") from error
        return context


def context_of(tls: "Tls | ssl.SSLContext | None") -> ssl.SSLContext:
    """Return the context to use for a router whose URL begins with amqps."""
    return tls if isinstance(tls, ssl.SSLContext) else (tls or Tls()).context()
