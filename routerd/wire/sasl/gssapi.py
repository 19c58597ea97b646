"""GSSAPI (RFC 4752): a security context authenticates both sides, and both agree on no security layer.

The application provides the context (Kerberos). Encryption belongs to TLS: no layer is offered or accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Protocol

from routerd.wire.sasl.authorization import Authorize, act_as
from routerd.wire.sasl.exchange import Challenge, Failure, SaslFailed, Step

NO_LAYER = 1
"""The bit for no security layer."""
NOTHING_MORE = bytes((NO_LAYER, 0, 0, 0))
"""No layer, and a maximum message size of 0."""


class SecurityContext(Protocol):
    """One side of a context (RFC 2743). Every method may raise SaslFailed; the acceptor's may raise
    AuthenticationUnavailable.
    """

    @property
    def is_established(self) -> bool:
        """Whether both sides are authenticated."""

    @property
    def peer(self) -> str:
        """The initiator's name, once it is authenticated."""

    def is_peer(self, name: str) -> bool:
        """Whether a name denotes the initiator, with or without its realm."""

    def step(self, token: bytes | None) -> bytes:
        """Take the peer's token, None before there is one; return the token to send, which may be empty."""

    def wrap(self, message: bytes) -> bytes:
        """Return a message wrapped with a proof of its origin."""

    def unwrap(self, token: bytes) -> bytes:
        """Return the message that the peer has wrapped."""


NewContext = Callable[[], SecurityContext]


class _Stage(Enum):
    CONTEXT = "context"
    ACKNOWLEDGED = "context established, its last token sent"
    LAYER = "layers offered"


@dataclass(frozen=True, slots=True)
class GssapiServer:
    """Admits clients that have a ticket."""

    new_context: NewContext = field(repr=False)
    """Creates the acceptor of one exchange."""
    authorize: Authorize | None = field(default=None, repr=False)
    name: ClassVar[str] = "GSSAPI"

    def start(self, hostname: str | None) -> "_ServerExchange":
        """Begin an exchange."""
        return _ServerExchange(self)


class _ServerExchange:
    def __init__(self, factory: GssapiServer) -> None:
        self._factory = factory
        self._context: SecurityContext | None = None
        self._stage = _Stage.CONTEXT

    def step(self, response: bytes | None) -> Step:
        """Judge the client's octets."""
        try:
            if self._context is None:
                return self._begin(response)
            return self._go_on(self._context, response or b"")
        except SaslFailed as error:
            return Failure(str(error))

    def _begin(self, response: bytes | None) -> Step:
        context = self._context = self._factory.new_context()
        # The client begins; it may omit the initial response (RFC 4422 section 5).
        return self._establish(context, response) if response else Challenge(b"")

    def _go_on(self, context: SecurityContext, response: bytes) -> Step:
        if self._stage is _Stage.CONTEXT:
            return self._establish(context, response)
        if self._stage is _Stage.LAYER:
            return self._agree(context, response)
        return Failure("the context is established, and the client goes on") if response else self._offer(context)

    def _establish(self, context: SecurityContext, response: bytes) -> Step:
        token = context.step(response)
        if not context.is_established:
            return Challenge(token)
        if not token:
            return self._offer(context)
        self._stage = _Stage.ACKNOWLEDGED
        return Challenge(token)

    def _offer(self, context: SecurityContext) -> Step:
        self._stage = _Stage.LAYER
        return Challenge(context.wrap(NOTHING_MORE))

    def _agree(self, context: SecurityContext, response: bytes) -> Step:
        choice = context.unwrap(response)
        if len(choice) < len(NOTHING_MORE) or choice[0] != NO_LAYER:
            return Failure("the client chose a security layer, and none was offered")
        try:
            wanted = choice[len(NOTHING_MORE) :].decode()
        except UnicodeDecodeError:
            return Failure("the authorization identity is not UTF-8")
        if wanted and context.is_peer(wanted):
            wanted = ""
        return act_as(context.peer, wanted, self._factory.authorize)


@dataclass(frozen=True, slots=True)
class GssapiClient:
    """Logs in with a ticket, and authenticates the server that the ticket is for."""

    new_context: NewContext = field(repr=False)
    """Creates the initiator of one exchange."""
    name: ClassVar[str] = "GSSAPI"

    def start(self, hostname: str | None) -> "_ClientExchange":
        """Begin an exchange."""
        return _ClientExchange(self)


class _ClientExchange:
    def __init__(self, factory: GssapiClient) -> None:
        self._factory = factory
        self._context: SecurityContext | None = None
        self._is_agreed = False

    def initial_response(self) -> bytes:
        """Return the first token."""
        self._context = self._factory.new_context()
        return self._context.step(None)

    def respond(self, challenge: bytes) -> bytes:
        """Answer a token, or the server's offer of layers."""
        context = self._context
        assert context is not None, "it has begun"
        if self._is_agreed:
            raise SaslFailed("the server goes on when everything is agreed on")
        return self._choose(context, challenge) if context.is_established else context.step(challenge)

    def finish(self, additional_data: bytes | None) -> None:
        """Require the server's proof in the context, and an agreement on the layer."""
        if not self._is_agreed:
            raise SaslFailed("the server did not prove who it is")

    def _choose(self, context: SecurityContext, challenge: bytes) -> bytes:
        offer = context.unwrap(challenge)
        if len(offer) != len(NOTHING_MORE) or not offer[0] & NO_LAYER:
            raise SaslFailed("the server asks for a security layer; encryption is a matter of TLS here")
        self._is_agreed = True
        return context.wrap(NOTHING_MORE)
