"""GSSAPI without Cyrus: a listener offers it while there is a key, and a connector logs in by a ticket.

Kerberos' own environment variables name the places of keys and tickets (KRB5_KTNAME, KRB5CCNAME, KRB5_CLIENT_KTNAME,
KRB5_CONFIG). Every step is taken in a thread.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.io.auth.gss_library import Initiator, KerberosUnavailable, gss_library
from routerd.io.auth.login_threads import LoginThreads
from routerd.io.auth.threads import Answer, AuthenticationThreads, InThreads
from routerd.wire import MIN_MAX_FRAME_SIZE
from routerd.wire.sasl import (
    AuthenticationUnavailable,
    GssapiClient,
    GssapiServer,
    Pending,
    SaslFailed,
    SecurityContext,
    ServerMechanismFactory,
)

GSSAPI = "GSSAPI"
LARGE_TOKEN_OCTETS = 1 << 14
"""Octets that a ticket may have."""
LARGE_FRAME_SIZE = LARGE_TOKEN_OCTETS + MIN_MAX_FRAME_SIZE
LOOK_S = 1.0
"""The longest time until a new, or removed, key is noticed."""
KEYTAB_VARIABLE = "KRB5_KTNAME"
SYSTEM_KEYTAB = "/etc/krb5.keytab"


class KerberosKeys:
    """The router's keys for clients, as far as there are any."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._looked_at = float("-inf")
        self._absence: str | None = None

    def absence(self) -> str | None:
        """Return the reason why GSSAPI cannot be offered now; None if it can."""
        if self._now() - self._looked_at >= LOOK_S:
            self._looked_at = self._now()
            self._absence = _absence()
        return self._absence

    def is_offered_at(self, listener: ListenerConfig) -> bool:
        """Return whether a listener offers GSSAPI: it may, and there is a key. Without a keytab it must name GSSAPI."""
        names = listener.sasl_mechanisms
        if names is not None and GSSAPI not in names:
            return False
        return (names is not None or _is_configured()) and self.absence() is None

    def mechanism(self, threads: AuthenticationThreads, answer: Answer) -> ServerMechanismFactory:
        """Return the mechanism for one peer."""
        return InThreads(GssapiServer(_acceptor), threads, answer)


def _is_configured() -> bool:
    """Whether there is a keytab at all: without one, the library is not even loaded."""
    return KEYTAB_VARIABLE in os.environ or os.access(SYSTEM_KEYTAB, os.R_OK)


def _absence() -> str | None:
    try:
        gss_library().acceptor()
    except KerberosUnavailable as error:
        return str(error)
    return None


def _acceptor() -> SecurityContext:
    try:
        return gss_library().acceptor()
    except KerberosUnavailable as error:
        raise AuthenticationUnavailable(str(error)) from None


def uses_kerberos(connector: ConnectorConfig) -> bool:
    """Return whether a connector may log in by a ticket."""
    return GSSAPI in (connector.sasl_mechanisms or ())


@dataclass(frozen=True, slots=True)
class TicketLogin:
    """GSSAPI for one connection of a connector; each step is taken in a thread."""

    host: str
    user: str | None
    login: LoginThreads = field(repr=False)
    name: str = GSSAPI

    def start(self, hostname: str | None) -> "_TicketSteps":
        """Begin an exchange."""
        return _TicketSteps(self)

    def new_context(self) -> SecurityContext:
        """Return the context of an exchange; raises SaslFailed."""
        try:
            return Initiator(gss_library(), self.host, self.user)
        except KerberosUnavailable as error:
            raise SaslFailed(str(error)) from None


class _TicketSteps:
    def __init__(self, login: TicketLogin) -> None:
        self._login = login.login
        self._exchange = GssapiClient(login.new_context).start(None)

    def initial_response(self) -> Pending:
        """Get a ticket."""
        return self._login.take(self._exchange.initial_response)

    def respond(self, challenge: bytes) -> Pending:
        """Answer a challenge."""
        return self._login.take(lambda: self._exchange.respond(challenge))

    def finish(self, additional_data: bytes | None) -> None:
        """Check the server's outcome against its proof."""
        self._exchange.finish(additional_data)
