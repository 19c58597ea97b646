"""Authentication of clients: the offers of listeners, the source of users, and the cost of failures.

The service that a listener names (`saslPlugin`) decides for it. All other listeners have the router's users. With a
Cyrus configuration they are those of Cyrus. Otherwise they are those of Kerberos, if there is a key, and those of the
user file. EXTERNAL is offered to clients that have shown a certificate, ANONYMOUS where no proof is required. Slow
steps are taken in threads or by the loop's own means, and the exchange waits for them.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from routerd.config import AuthServiceConfig, ConnectorConfig, ListenerConfig, UserFileError
from routerd.core import Peer, RouterSettings, ServiceRules, host_of
from routerd.io.auth.auth_service import Grants, ServiceExchange
from routerd.io.auth.cyrus import CyrusUnavailable, CyrusUsers, configuration_in, cyrus_at
from routerd.io.auth.failures import FailureLedger
from routerd.io.auth.guard import Guarded
from routerd.io.auth.kerberos import (
    GSSAPI,
    LARGE_FRAME_SIZE,
    LARGE_TOKEN_OCTETS,
    KerberosKeys,
    TicketLogin,
    uses_kerberos,
)
from routerd.io.auth.login_threads import LoginThreads, Said
from routerd.io.auth.threads import Answer, AuthenticationThreads
from routerd.io.auth.users import FileUsers
from routerd.io.logs import failure_of, module_log
from routerd.io.scheduling import PeerTimer
from routerd.io.sockets import Transport
from routerd.io.tls import TlsProfiles
from routerd.wire import MIN_MAX_FRAME_SIZE
from routerd.wire.sasl import (
    AnonymousServer,
    ExternalServer,
    Failure,
    SaslCode,
    SaslFrame,
    SaslLimits,
    SaslServer,
    ServerMechanismFactory,
    Step,
)

EXCHANGE_S = 10.0
"""The time for a peer's SASL exchange."""
PROVEN_S = 20.0
"""The time from the connection on for a peer that must authenticate: for TLS, and for SASL."""
UNOPENED_MAX = 4096
"""Connections of one host that may be there before their open."""
DEFAULT_LIMITS = SaslLimits()
LARGE_LIMITS = SaslLimits(token_size_bytes=LARGE_TOKEN_OCTETS)
UNENCRYPTED = "amqp:connection:policy-error Client connection unencrypted - forbidden"

_log = module_log("SERVER")


class AuthenticationUnusable(Exception):
    """The configured users cannot be used; the message says why."""


def warn_if_open(listener: ListenerConfig) -> None:
    """Warn if everybody who reaches a port may use the router, and say how to change that."""
    if listener.is_open_to_all:
        _log.warning(
            "Listener %s is open to other hosts, and nobody has to say who it is: set authenticatePeer: yes and give "
            "users passwords or certificates, or listen on host: 127.0.0.1",
            listener.address,
        )


class UserSource(Protocol):
    """The source of users."""

    def mechanisms(self, threads: AuthenticationThreads, answer: Answer) -> list[ServerMechanismFactory]:
        """Return the mechanisms that can be offered to one peer, the best first."""


class Nobody:
    """A source without users."""

    def mechanisms(self, threads: AuthenticationThreads, answer: Answer) -> list[ServerMechanismFactory]:
        """Return nothing."""
        return []


def user_source(settings: RouterSettings) -> UserSource:
    """Return the users of a router; raises AuthenticationUnusable."""
    place = configuration_in(settings.sasl_config_dir, settings.sasl_config_name)
    if place is None and settings.sasl_config_dir is not None:
        name = f"{settings.sasl_config_name}.conf"
        _log.warning("saslConfigDir: there is no %s in %s; Cyrus SASL is not used", name, settings.sasl_config_dir)
    if place is not None:
        try:
            return CyrusUsers(cyrus_at(place))
        except CyrusUnavailable as error:
            if settings.sasl_config_dir is not None:
                raise AuthenticationUnusable(str(error)) from None
            _log.warning("%s", error)
    if settings.user_file is None:
        return Nobody()
    try:
        return FileUsers(settings.user_file, time.monotonic)
    except UserFileError as error:
        raise AuthenticationUnusable(f"user file {error}") from None


class Authentication:
    """All exchanges of a worker; everything but the constructor is for its loop."""

    def __init__(
        self,
        settings: RouterSettings,
        profiles: TlsProfiles,
        post: Callable[..., None],
        send: Callable[[Transport, list[SaslFrame]], None],
    ) -> None:
        """`post` lets the loop call a function, from any thread; `send` sends output that has waited."""
        self.failures = 0
        """The number of failed authentications."""
        self.container_id = settings.id
        self.threads = AuthenticationThreads(post)
        self._login_threads = AuthenticationThreads(post)
        """For connectors: no client waits for a KDC that they wait for."""
        self._keys = KerberosKeys(time.monotonic)
        self.ledger = FailureLedger()
        self.profiles = profiles
        self.send = send
        self._settings = settings
        self._services: dict[str, AuthServiceConfig] = {}
        self._source: UserSource = Nobody()
        self._unopened: dict[str, dict[int, Transport]] = {}
        """Connections before their open, by host and number; the oldest first."""
        self._logins: dict[int, Login] = {}
        self._unproven: dict[int, PeerTimer] = {}
        """By number of the connection: exchanges that are not finished."""
        self._warned: set[str] = set()

    def start(self) -> None:
        """Load the users; raises AuthenticationUnusable."""
        self._source = user_source(self._settings)

    def close(self) -> None:
        """End all exchanges."""
        for login in list(self._logins.values()):
            login.end()
        self.threads.close()
        self._login_threads.close()

    def add_service(self, service: AuthServiceConfig) -> None:
        """Add a service for listeners; one of the same name is replaced."""
        self._services[service.name] = service

    def remove_service(self, name: str) -> None:
        """Remove a service that no listener names any more."""
        self._services.pop(name, None)

    def service(self, name: str) -> AuthServiceConfig | None:
        """Return the service with a name."""
        return self._services.get(name)

    # --- connections

    def limits(self, listener: ListenerConfig) -> SaslLimits:
        """Return the limits for a peer before its authentication."""
        if listener.sasl_plugin is not None or isinstance(self._source, CyrusUsers):
            return LARGE_LIMITS
        return LARGE_LIMITS if self._keys.is_offered_at(listener) else DEFAULT_LIMITS

    def login(self, listener: ListenerConfig, peer: Peer) -> "Login":
        """Return the SASL server of a peer at a listener."""
        login = self._logins[peer.number] = Login(self, listener, peer)
        return login

    def admits(self, transport: Transport, listener: ListenerConfig) -> bool:
        """Return whether a connection may begin."""
        peer = transport.peer
        if listener.require_encryption and not transport.is_encrypted:
            _log.warning("%s", failure_of(peer, UNENCRYPTED))
            transport.failure = UNENCRYPTED
            return False
        host = host_of(transport.host)
        unopened = self._unopened.setdefault(host, {})
        if len(unopened) >= UNOPENED_MAX:
            # A client that opens at once is let in, however many connections of its host are not open yet.
            text = "Host %s has %d connections that it has not opened; the oldest is closed for each that is new"
            self._warn_once(f"unopened {host}", text, host, UNOPENED_MAX)
            oldest = unopened.pop(next(iter(unopened)))
            oldest.give_up(f"its host has more than {UNOPENED_MAX} connections that are not open")
        unopened[peer.number] = transport
        if listener.authenticate_peer:
            loop = asyncio.get_running_loop()
            self._unproven[peer.number] = PeerTimer(loop, PROVEN_S, self._check_proven, transport)
        return True

    def settled(self, transport: Transport) -> None:
        """Note that a connection is open, or over."""
        number, host = transport.peer.number, host_of(transport.host)
        login = self._logins.pop(number, None)
        if login is not None:
            login.end()
        timer = self._unproven.pop(number, None)
        if timer is not None:
            # Its timer would keep the connection's memory until it fires.
            timer.cancel()
        unopened = self._unopened.get(host)
        if unopened is not None:
            unopened.pop(number, None)
            if not unopened:
                del self._unopened[host]
                self._warned.discard(f"unopened {host}")

    def offer_to(self, login: "Login", transport: Transport) -> list[ServerMechanismFactory]:
        """Return the mechanisms that can be offered to a peer, for the router's own users."""
        listener = login.listener
        factories: list[ServerMechanismFactory] = []
        if transport.tls_user:
            factories.append(ExternalServer(transport.tls_user))
        if not isinstance(self._source, CyrusUsers):
            factories += self._kerberos(listener, login)
        factories += self._source.mechanisms(self.threads, login.answer)
        if not listener.authenticate_peer:
            factories.append(AnonymousServer())
        return login.allowed(factories)

    def ticket_login(self, connector: ConnectorConfig, host: str, login: LoginThreads) -> TicketLogin | None:
        """Return the Kerberos login for a connector's connection to a host; None if it uses no Kerberos."""
        return TicketLogin(host, connector.sasl_username, login) if uses_kerberos(connector) else None

    def login_threads(self, peer: Peer) -> LoginThreads:
        """Return the threads that take the login steps of a connector's connection."""

        def is_over() -> bool:
            return peer.shell is None or peer.shell.is_over

        def on_said(said: Said) -> None:
            if is_over():
                return
            sasl = peer.shell.connection.sasl
            if isinstance(said, Failure):
                peer.shell.give_up(f"{sasl.mechanism}: {said.reason}")
            else:
                self.send(peer.shell, sasl.answer(said))

        return LoginThreads(threads=self._login_threads, on_said=on_said, is_over=is_over)

    def _kerberos(self, listener: ListenerConfig, login: "Login") -> list[ServerMechanismFactory]:
        if self._keys.is_offered_at(listener):
            return [self._keys.mechanism(self.threads, login.answer)]
        if GSSAPI in (listener.sasl_mechanisms or ()):
            text = "Listener %s does not offer GSSAPI, which its saslMechanisms name: %s"
            self._warn_once(f"gssapi {listener.identity}", text, listener.address, self._keys.absence())
        return []

    def note_plain(self, listener: ListenerConfig) -> None:
        """Warn once a listener that a password comes in the clear."""
        text = "Listener %s takes passwords that are not encrypted: use TLS, or leave PLAIN out of saslMechanisms"
        self._warn_once(f"plain {listener.identity}", text, listener.address)

    def _warn_once(self, cause: str, text: str, *arguments: object) -> None:
        if cause not in self._warned:
            self._warned.add(cause)
            _log.warning(text, *arguments)

    def _check_proven(self, transport: Transport) -> None:
        sasl = transport.connection.sasl
        if not transport.is_over and (sasl is None or sasl.outcome is not SaslCode.OK):
            reason = "the peer took too long to say who it is"
            _log.info("%s", failure_of(transport.peer, reason))
            transport.give_up(reason)


class Login:
    """The exchange of one peer at a listener, from its start to its end or that of the connection."""

    __slots__ = ("_authentication", "_peer", "_service", "_timer", "_user", "frame_size", "listener", "sasl")

    def __init__(self, authentication: Authentication, listener: ListenerConfig, peer: Peer) -> None:
        self._authentication = authentication
        self._peer = peer
        self._service: ServiceExchange | None = None
        self._timer: PeerTimer | None = None
        self._user: str | None = None
        """The name that the peer claims, once it does."""
        self.listener = listener
        limits = authentication.limits(listener)
        self.sasl = SaslServer(self._mechanisms, limits=limits, hold_back=self._hold_back)
        self.frame_size = MIN_MAX_FRAME_SIZE if limits is DEFAULT_LIMITS else LARGE_FRAME_SIZE
        """The largest SASL frame."""

    def end(self) -> None:
        """End the exchange: it is finished, or its connection is over."""
        if self._timer is not None:
            self._timer.cancel()
        if self._service is not None:
            self._service.end()

    def allowed(self, factories: Iterable[ServerMechanismFactory]) -> list[ServerMechanismFactory]:
        """Return the mechanisms that the listener allows; never none, since an offer must have one."""
        names, is_proof_needed = self.listener.sasl_mechanisms, self.listener.authenticate_peer
        found = [
            one
            for one in factories
            if (names is None or one.name in names) and not (is_proof_needed and one.name == AnonymousServer.name)
        ]
        return found or [ExternalServer(None)]

    # --- what has been waited for

    def offer(self, mechanisms: list[ServerMechanismFactory]) -> None:
        """Pass on a service's offer."""
        self._send(lambda: self.sasl.offer(self._guarded(self.allowed(mechanisms))))

    def answer(self, step: Step) -> None:
        """Continue with a step that was pending."""
        self._send(lambda: self.sasl.answer(step))

    def give_up(self, reason: str) -> None:
        """End the connection: there are no mechanisms to offer."""
        if not self.sasl.done:
            _log.warning("%s", failure_of(self._peer, reason))
            self._peer.shell.give_up(reason)

    def grant(self, grants: Grants) -> str | None:
        """Take the rights that the service grants. A connection of a router is refused: it needs all rights."""
        if self._peer.is_router:
            return "it grants addresses to a peer at a listener for routers, which may use all addresses"
        self._peer.service_rules = ServiceRules(grants)
        return None

    def _send(self, frames: Callable[[], list[SaslFrame]]) -> None:
        if not self.sasl.done:
            self._authentication.send(self._peer.shell, frames())

    # --- for the engine

    def _mechanisms(self) -> Sequence[ServerMechanismFactory] | None:
        transport: Transport = self._peer.shell
        authentication = self._authentication
        loop = asyncio.get_running_loop()
        self._timer = PeerTimer(loop, EXCHANGE_S, self._expire)
        if self.listener.sasl_plugin is None:
            return self._guarded(authentication.offer_to(self, transport))
        service = authentication.service(self.listener.sasl_plugin)
        if service is None:
            loop.call_soon(self.give_up, f"there is no authServicePlugin {self.listener.sasl_plugin}")
            return None
        self._service = ServiceExchange(service, authentication.container_id, self)
        profile = service.ssl_profile
        self._service.begin(
            lambda: None if profile is None else authentication.profiles.get(profile).client_context(verifies_name=True)
        )
        return None

    def _guarded(self, factories: list[ServerMechanismFactory]) -> list[ServerMechanismFactory]:
        return [Guarded(one, self) for one in factories]

    def note_choice(self, mechanism: str) -> None:
        """Note the peer's mechanism: without TLS, others can read PLAIN."""
        transport: Transport = self._peer.shell
        if mechanism == "PLAIN" and not transport.is_encrypted:
            self._authentication.note_plain(self.listener)

    def claims(self, user: str | None) -> bool:
        """Note the name that the peer claims; return whether its attempt is judged now."""
        self._user = user
        host = host_of(self._peer.shell.host)
        return not self._authentication.ledger.is_overrun(host, user, time.monotonic())

    def _hold_back(self, failure: Failure) -> bool:
        if failure.code is not SaslCode.AUTH:
            return False
        authentication = self._authentication
        authentication.failures += 1
        delay_s = authentication.ledger.failed(host_of(self._peer.shell.host), self._user, time.monotonic())
        asyncio.get_running_loop().call_later(delay_s, self.answer, failure)
        return True

    def _expire(self) -> None:
        if not self.sasl.done:
            reason = f"SASL takes more than {EXCHANGE_S:g} s"
            _log.info("%s", failure_of(self._peer, reason))
            self._peer.shell.give_up(reason)

