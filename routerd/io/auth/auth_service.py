"""The remote authentication service (9.6): a peer's SASL exchange is passed on to a service, over AMQP.

Each exchange has its own connection to the service, and the router is the client there. Offers, challenges and
decisions of the service go to the peer, and answers of the peer to the service. If it accepts, its open names the
peer. The connection ends then, or as soon as the peer has left.
"""

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from routerd.config import AuthServiceConfig
from routerd.io.logs import module_log
from routerd.io.scheduling import PeerTimer
from routerd.management import SHOWN_MAX, shown
from routerd.wire import MIN_MAX_FRAME_SIZE, Array, Connection, ConnectionConfig, Error, Handler, Open, RemoteError
from routerd.wire.sasl import (
    Challenge,
    Failure,
    Pending,
    SaslCode,
    SaslFrame,
    SaslLimits,
    SaslRelay,
    ServerMechanismFactory,
    Step,
    Success,
)

CONNECT_S = 5.0
"""The time for a service to accept a connection, and for the TLS handshake."""
EXCHANGE_S = 15.0
"""The longest time that a connection to the service is kept."""
TOKEN_OCTETS_MAX = 1 << 14
ADDRESS_AUTHZ = "ADDRESS-AUTHZ"
IDENTITY, GRANTS = "authenticated-identity", "address-authz"
SUBJECT = "sub"
GRANTED_MAX = 10_000
"""Limit of the addresses that a service may name for one peer."""
RIGHTS = ("send", "recv")
RIGHT_LENGTH = 4

Grants = Mapping[str, tuple[str, ...]]
"""The rights of a peer by address: `send` and `recv`."""

_log = module_log("AUTHSERVICE")


class ServedPeer(Protocol):
    """The peer of an exchange."""

    def offer(self, mechanisms: list[ServerMechanismFactory]) -> None:
        """Pass on the service's offer."""

    def answer(self, step: Step) -> None:
        """Continue with the service's answer."""

    def give_up(self, reason: str) -> None:
        """End the connection: there is no service, and so nothing to offer."""

    def grant(self, grants: Grants) -> str | None:
        """Take the rights that the service grants; return an error if that is impossible."""


@dataclass(slots=True)
class _Forwarded:
    """A mechanism of the service, as it is offered to the peer; it is for one exchange."""

    name: str
    exchange: "ServiceExchange" = field(repr=False)

    def start(self, hostname: str | None) -> "_ForwardedSteps":
        return _ForwardedSteps(self.name, self.exchange)


class _ForwardedSteps:
    def __init__(self, name: str, exchange: "ServiceExchange") -> None:
        self._name = name
        self._exchange = exchange
        self._is_chosen = False

    def step(self, response: bytes | None) -> Pending:
        """Pass on the peer's data; the service's reply comes later."""
        if self._is_chosen:
            self._exchange.respond(response or b"")
        else:
            self._is_chosen = True
            self._exchange.choose(self._name, response)
        return Pending()


class ServiceExchange(Handler, asyncio.Protocol):
    """One peer's exchange, and the connection to the service for it. All of it runs in the worker's loop."""

    def __init__(self, config: AuthServiceConfig, container_id: str, peer: ServedPeer) -> None:
        self._config = config
        self._peer = peer
        self._socket: asyncio.Transport | None = None
        self._relay = SaslRelay(self, hostname=config.realm, limits=SaslLimits(token_size_bytes=TOKEN_OCTETS_MAX))
        self._connection = Connection(
            ConnectionConfig(
                container_id=container_id,
                hostname=config.realm,
                sasl_frame_size=TOKEN_OCTETS_MAX + MIN_MAX_FRAME_SIZE,
                desired_capabilities=(ADDRESS_AUTHZ,),
            ),
            self,
            is_client=True,
            sasl=self._relay,
        )
        self._connection.open()
        self._was_offered = False
        self._is_over = False
        self._is_content = False
        """Whether the service has authenticated the peer."""
        self._proof: bytes | None = None
        self._timer: PeerTimer | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self, context: Callable[[], ssl.SSLContext | None]) -> None:
        """Connect to the service; `context` is that of TLS, None for no TLS."""
        loop = asyncio.get_running_loop()
        self._timer = PeerTimer(loop, EXCHANGE_S, self._lose, "the service takes too long")
        self._task = loop.create_task(self._connect(context))

    def end(self) -> None:
        """End the connection: the peer has left, or the exchange is finished."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        if self._socket is not None:
            self._socket.close()

    # --- for the mechanisms

    def choose(self, mechanism: str, initial_response: bytes | None) -> None:
        """Pass on the peer's choice."""
        self._send(lambda: self._relay.choose(mechanism, initial_response))

    def respond(self, response: bytes) -> None:
        """Pass on the peer's answer to a challenge."""
        self._send(lambda: self._relay.respond(response))

    def _send(self, frames: Callable[[], list[SaslFrame]]) -> None:
        if self._is_over:
            # The service has left. A step must not be answered before it returns.
            asyncio.get_running_loop().call_soon(self._peer.answer, _lost("the service has left"))
            return
        now = time.monotonic()
        self._connection.send_sasl(frames(), now)
        self._flush(now)

    # --- what the service says: RelayEnd

    def offered(self, mechanisms: tuple[str, ...]) -> None:
        """Pass on the offer."""
        self._was_offered = True
        self._peer.offer([_Forwarded(name, self) for name in dict.fromkeys(mechanisms)])

    def challenged(self, challenge: bytes) -> None:
        """Pass it on."""
        self._peer.answer(Challenge(challenge))

    def decided(self, code: SaslCode, additional_data: bytes | None) -> None:
        """Pass on a refusal. After a success, the service's open has the peer's name."""
        if code is SaslCode.OK:
            self._is_content = True
            self._proof = additional_data
            return
        self._finish(Failure(f"the service {self._config.name} refuses: {code.name.lower()}", code))

    # --- the connection: Handler

    def on_opened(self, connection: Connection, performative: Open) -> None:
        """Take the peer's name and rights from the service's open."""
        if not self._is_content:
            reason = f"the service {self._config.name} opens before it says who the peer is"
            self._finish(Failure(reason, SaslCode.SYS))
            return
        properties: Mapping[Any, Any] = performative.properties or {}
        user = self._user(properties.get(IDENTITY))
        refusal = self._grant(properties[GRANTS], user) if GRANTS in properties else None
        connection.close()
        self._finish(Success(user, self._proof) if refusal is None else Failure(refusal, SaslCode.SYS))

    def _user(self, identity: object) -> str:
        subject = identity.get(SUBJECT) if isinstance(identity, Mapping) else None
        if isinstance(subject, str) and subject:
            return str(subject)
        text = "The authentication service %s names no user: %s is %s instead of a map with %s. The peer has no name"
        _log.warning(text, self._config.name, IDENTITY, _words(identity), SUBJECT)
        return ""

    def _grant(self, found: object, user: str) -> str | None:
        """Take the granted rights; return an error if that is impossible."""
        grants, faults = read_grants(found)
        if faults:
            text = "The authentication service %s grants to %s what is not understood, in %d places: %s"
            _log.warning(text, self._config.name, _words(user), len(faults), faults[0])
        refusal = self._peer.grant(grants)
        if refusal is not None:
            _log.error("The authentication service %s: %s", self._config.name, refusal)
        return refusal

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        """The service broke the protocol."""
        self._lose(str(error.description))

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        """The service has left."""
        self._lose("it closed the connection" if error is None else f"{error.condition}: {error.description or ''}")

    # --- the socket: asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._socket = cast(asyncio.Transport, transport)
        if self._is_over:
            self._socket.abort()
            return
        now = time.monotonic()
        self._connection.start(now)
        self._flush(now)

    def data_received(self, data: bytes) -> None:
        """Take octets of the service."""
        now = time.monotonic()
        self._connection.receive_data(data, now)
        self._flush(now)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._connection.transport_closed()
        self._lose("the connection was lost")

    async def _connect(self, context: Callable[[], ssl.SSLContext | None]) -> None:
        config = self._config
        try:
            tls = context()
            connecting = asyncio.get_running_loop().create_connection(
                lambda: self, config.host, config.port, ssl=tls, server_hostname=config.host if tls else None
            )
            await asyncio.wait_for(connecting, CONNECT_S)
        except TimeoutError:
            self._lose("the service does not answer")
        except (OSError, ValueError) as error:
            self._lose(getattr(error, "strerror", None) or str(error))

    def _flush(self, now: float) -> None:
        octets = self._connection.data_to_send(now)
        if octets and self._socket is not None:
            self._socket.write(octets)

    # --- the end

    def _finish(self, step: Step) -> None:
        if self._is_over:
            return
        self._is_over = True
        # The engine handles a frame now: its output is sent before the socket is closed.
        asyncio.get_running_loop().call_soon(self._say_last, step)

    def _say_last(self, step: Step) -> None:
        self._flush(time.monotonic())
        self.end()
        self._peer.answer(step)

    def _lose(self, reason: str) -> None:
        if self._is_over:
            return
        config = self._config
        _log.error("Authentication service %s at %s:%s: %s", config.name, config.host, config.port, reason)
        if self._was_offered:
            self._finish(_lost(reason))
            return
        self.end()
        self._peer.give_up(f"the authentication service {config.name} is not there: {reason}")


def _lost(reason: str) -> Failure:
    return Failure(f"the authentication service is not there: {reason}", SaslCode.SYS_TEMP)


def read_grants(found: object) -> tuple[Grants, list[str]]:
    """Return the rights in a service's grants, and the entries that are not understood: these grant nothing."""
    if not isinstance(found, Mapping):
        return {}, [f"{GRANTS} is {_words(found)}, and no map"]
    grants: dict[str, tuple[str, ...]] = {}
    faults: list[str] = []
    for address, rights in found.items():
        if isinstance(rights, Array):
            rights = rights.values
        if not isinstance(address, str):
            faults.append(f"{_words(address)} is not an address")
        elif not isinstance(rights, list | tuple):
            faults.append(f"{_words(rights)} of {_words(address)} is not a list of rights")
        elif len(grants) == GRANTED_MAX:
            faults.append(f"{_words(address)} is beyond {GRANTED_MAX} addresses")
        else:
            # Whatever follows the first four characters does not count (9.6).
            words = [one[:RIGHT_LENGTH] if isinstance(one, str) else "" for one in rights]
            grants[str(address)] = tuple(str(word) for word in words if word in RIGHTS)
            unknown = [one for one, word in zip(rights, words, strict=True) if word not in RIGHTS]
            faults += [f"{_words(one)} of {_words(address)} is neither {' nor '.join(RIGHTS)}" for one in unknown]
    return grants, faults


def _words(value: object) -> str:
    return shown(value)[:SHOWN_MAX]
