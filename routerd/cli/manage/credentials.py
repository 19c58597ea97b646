"""The credentials of a tool: the SASL mechanisms that the options allow."""

import secrets
from dataclasses import dataclass, field

from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.suggestions import among, did_you_mean
from routerd.wire import ValueRangeError
from routerd.wire.sasl import (
    SCRAM_MECHANISMS,
    AnonymousClient,
    ClientMechanismFactory,
    ExternalClient,
    PlainClient,
    SaslClient,
    ScramClient,
)

MECHANISMS = ("EXTERNAL", *SCRAM_MECHANISMS, "PLAIN", "ANONYMOUS")
_NONCE_OCTETS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What the options say of who we are."""

    mechanisms: tuple[str, ...] = ()
    """The ones that are allowed, the first that the router offers being used; none means all that make sense."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    has_certificate: bool = False
    is_tls: bool = False

    @property
    def is_sasl_used(self) -> bool:
        """Whether there is a SASL layer: without any wish for one there is none, as routers take that (2.2)."""
        return bool(self.mechanisms or self.username or self.is_tls)


def sasl_client(credentials: Credentials, hostname: str) -> SaslClient | None:
    """Return what logs in, None if that is to be left out; WrongUse for options that do not go together."""
    if not credentials.is_sasl_used:
        return None
    for name in credentials.mechanisms:
        if name not in MECHANISMS:
            hint = did_you_mean(name, MECHANISMS) or among(MECHANISMS)
            raise WrongUse(f"the SASL mechanism {name} is not known{hint}")
    try:
        return SaslClient([_factory(name, credentials) for name in _wanted(credentials)], hostname=hostname)
    except ValueRangeError as error:
        raise WrongUse(str(error)) from None


def _wanted(credentials: Credentials) -> tuple[str, ...]:
    if credentials.mechanisms:
        return credentials.mechanisms
    external = ("EXTERNAL",) if credentials.has_certificate else ()
    if credentials.username:
        return (*external, *SCRAM_MECHANISMS, "PLAIN")
    return (*external, "ANONYMOUS")


def _factory(name: str, credentials: Credentials) -> ClientMechanismFactory:
    if name == "ANONYMOUS":
        return AnonymousClient()
    if name == "EXTERNAL":
        return ExternalClient()
    if not credentials.username or not credentials.password:
        raise WrongUse(f"{name} needs --sasl-username, and --sasl-password or --sasl-password-file")
    if name == "PLAIN":
        return PlainClient(credentials.username, credentials.password)
    return ScramClient(name, credentials.username, credentials.password, lambda: secrets.token_urlsafe(_NONCE_OCTETS))
