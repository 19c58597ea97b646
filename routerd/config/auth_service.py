"""What is configured for a service that says who a peer is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthServiceConfig:
    """Where a service is that SASL exchanges are passed on to."""

    name: str
    """What listeners call it."""
    host: str
    port: int
    realm: str | None = None
    """The host name that the service is given in the exchange."""
    ssl_profile: str | None = None
    """The name of the profile for TLS to the service; None is without TLS."""
