"""Which SASL mechanisms a connection uses."""

from collections.abc import Callable

from mobula_client.engine import (
    SCRAM_MECHANISMS,
    AnonymousClient,
    ClientMechanismFactory,
    ExternalClient,
    PlainClient,
    SaslClient,
    ScramClient,
    ValueRangeError,
)
from mobula_client.errors import UsageError
from mobula_client.routers import Router

MECHANISMS = (*SCRAM_MECHANISMS, "PLAIN", "EXTERNAL", "ANONYMOUS")


def sasl_for(
    router: Router, mechanisms: tuple[str, ...] | None, nonce: Callable[[], str], has_certificate: bool = False
) -> SaslClient:
    """Return the exchange with a router, by the best of the mechanisms that it offers. Raises UsageError.

    Without a list, a user uses SCRAM, and PLAIN over TLS; a certificate EXTERNAL; nobody in particular ANONYMOUS.
    """
    wanted = _usual(router, has_certificate) if mechanisms is None else mechanisms
    try:
        return SaslClient([_factory(name, router, nonce) for name in wanted], hostname=router.host)
    except ValueRangeError as error:
        raise UsageError(f"no login at {router}: {error}") from error


def check_mechanisms(mechanisms: tuple[str, ...] | None) -> None:
    """Refuse names that are not those of mechanisms."""
    unknown = [name for name in mechanisms or () if name not in MECHANISMS]
    if unknown or mechanisms == ():
        raise UsageError(f"mechanisms {unknown}: choose from {', '.join(MECHANISMS)}")


def _usual(router: Router, has_certificate: bool) -> tuple[str, ...]:
    if router.user is None:
        return ("EXTERNAL", "ANONYMOUS") if router.is_tls and has_certificate else ("ANONYMOUS",)
    # Without TLS, anybody on the way could read the password of PLAIN.
    return (*SCRAM_MECHANISMS, "PLAIN") if router.is_tls else SCRAM_MECHANISMS


def _factory(name: str, router: Router, nonce: Callable[[], str]) -> ClientMechanismFactory:
    if name == "ANONYMOUS":
        return AnonymousClient()
    if name == "EXTERNAL":
        return ExternalClient(router.user or "")
    if router.user is None or router.password is None:
        raise UsageError(f"{name} needs user and password in the URL, as in amqps://user:password@{router.host}")
    if name == "PLAIN":
        return PlainClient(router.user, router.password)
    return ScramClient(name, router.user, router.password, nonce)
