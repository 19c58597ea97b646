"""GSSAPI without Cyrus: what a listener offers while there is a key for it, and how a connector logs in by a ticket.

Where keys and tickets are is for Kerberos' own variables of the environment to say (KRB5_KTNAME, KRB5CCNAME,
KRB5_CLIENT_KTNAME, KRB5_CONFIG). Every step is taken in a thread.
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
"""What a ticket may have."""
LARGE_FRAME_SIZE = LARGE_TOKEN_OCTETS + MIN_MAX_FRAME_SIZE
LOOK_S = 1.0
"""How long it may go unnoticed that a key has come, or gone."""
KEYTAB_VARIABLE = "KRB5_KTNAME"
SYSTEM_KEYTAB = "/etc/krb5.keytab"


class KerberosKeys:
    """Whether the router has a key by which clients can be let in."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._looked_at = float("-inf")
        self._absence: str | None = None

    def absence(self) -> str | None:
        """Return why GSSAPI cannot be offered now, None if it can."""
        if self._now() - self._looked_at >= LOOK_S:
            self._looked_at = self._now()
            self._absence = _absence()
        return self._absence

    def is_offered_at(self, listener: ListenerConfig) -> bool:
        """Return whether a listener offers GSSAPI: if it may, and there is a key; it is asked for if it was meant."""
        names = listener.sasl_mechanisms
        if names is not None and GSSAPI not in names:
            return False
        return (names is not None or _is_configured()) and self.absence() is None

    def mechanism(self, threads: AuthenticationThreads, answer: Answer) -> ServerMechanismFactory:
        """Return what is offered to one peer."""
        return InThreads(GssapiServer(_acceptor), threads, answer)


def _is_configured() -> bool:
    """Whether there is a keytab at all: without, the library is not even loaded."""
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
    """GSSAPI for one connection of a connector: each step in a thread."""

    host: str
    user: str | None
    login: LoginThreads = field(repr=False)
    name: str = GSSAPI

    def start(self, hostname: str | None) -> "_TicketSteps":
        """Begin an exchange."""
        return _TicketSteps(self)

    def new_context(self) -> SecurityContext:
        """Return the context of an exchange. Raises SaslFailed."""
        try:
            return Initiator(gss_library(), self.host, self.user)
        except KerberosUnavailable as error:
            raise SaslFailed(str(error)) from None


class _TicketSteps:
    def __init__(self, login: TicketLogin) -> None:
        self._login = login.login
        self._exchange = GssapiClient(login.new_context).start(None)

    def initial_response(self) -> Pending:
        """Have a ticket got."""
        return self._login.take(self._exchange.initial_response)

    def respond(self, challenge: bytes) -> Pending:
        """Have a challenge answered."""
        return self._login.take(lambda: self._exchange.respond(challenge))

    def finish(self, additional_data: bytes | None) -> None:
        """Hold the end against what was proved."""
        self._exchange.finish(additional_data)
