"""The errors of the wire engine: each names the side at fault and the answer to the peer.

`RemoteError` is raised for violations of a peer. Its `condition` is the AMQP condition to send back. Its `scope` says
whether the standard ends the connection, a session or a link. `LocalError` is raised to our own caller, whose mistake
never reaches the wire.
"""

from enum import Enum


class Scope(Enum):
    """The endpoint that a violation ends."""

    CONNECTION = "connection"
    SESSION = "session"
    LINK = "link"


class WireError(Exception):
    """The root of all errors that routerd.wire raises on purpose."""


class LocalError(WireError):
    """A request of our caller that AMQP or the engine's state does not allow."""


class RemoteError(WireError):
    """A violation of the protocol by the peer, with the `condition` for it and the `offset` in the octets."""

    condition = "amqp:connection:framing-error"
    scope = Scope.CONNECTION
    is_told = True
    """Whether the end has the error, of the link, session or connection. Otherwise what follows it has one."""

    def __init__(self, description: str, *, offset: int | None = None) -> None:
        super().__init__(description if offset is None else f"{description} (octet {offset})")
        self.description = description
        self.offset = offset


class DecodeError(RemoteError):
    """Octets that are not an AMQP value, or not the value that belongs here."""

    condition = "amqp:decode-error"


class FramingError(RemoteError):
    """A frame with a wrong header or size (2.3)."""

    condition = "amqp:connection:framing-error"


class HttpReceived(FramingError):
    """A peer that speaks HTTP where AMQP is spoken."""

    def __init__(self) -> None:
        super().__init__("HTTP came, and this port takes AMQP")


class InvalidField(RemoteError):
    """A field of the right type with a value that is not allowed there."""

    condition = "amqp:invalid-field"


class IllegalState(RemoteError):
    """A frame that the state of the connection does not allow (2.4.6)."""

    condition = "amqp:illegal-state"


class EncodeError(LocalError):
    """A Python value that has no AMQP encoding, or exceeds a limit."""


class ValueRangeError(LocalError, ValueError):
    """A number or text outside the range of its AMQP type."""


class StateError(LocalError):
    """A call that the state of the connection, session, link or delivery does not allow."""


class AuthenticationSkipped(RemoteError):
    """The peer skipped SASL, although it must authenticate."""

    condition = "amqp:connection:policy-error"

    def __init__(self) -> None:
        super().__init__("Client skipped authentication - forbidden")


class ResourceLimitExceeded(RemoteError):
    """The peer exceeds a configured limit, or was silent for too long."""

    condition = "amqp:resource-limit-exceeded"


class SessionError(RemoteError):
    """A violation that ends the session (2.8.17)."""

    condition = "amqp:not-allowed"
    scope = Scope.SESSION


class SessionFieldInvalid(SessionError):
    """A field of a frame of the session has a value that is not allowed there."""

    condition = "amqp:invalid-field"


class SessionLimitExceeded(SessionError):
    """The peer has more unsettled deliveries on the session than configured."""

    condition = "amqp:resource-limit-exceeded"


class WindowViolation(SessionError):
    """The peer sent a transfer without room in the incoming window (2.5.6)."""

    condition = "amqp:session:window-violation"


class HandleInUse(RemoteError):
    """An attach with a handle in use; 2.7.3 requires that the connection is closed."""

    condition = "amqp:session:handle-in-use"


class UnattachedHandle(SessionError):
    """A frame for a handle without a link."""

    condition = "amqp:session:unattached-handle"


class LinkError(RemoteError):
    """A violation that detaches the link (2.8.18)."""

    condition = "amqp:not-allowed"
    scope = Scope.LINK


class LinkFieldInvalid(LinkError):
    """A field of a transfer has a value that is not allowed there."""

    condition = "amqp:invalid-field"


class LinkLimitExceeded(LinkError):
    """The peer attached more links than a connection may have."""

    condition = "amqp:resource-limit-exceeded"


class LinkStolen(LinkError):
    """The peer attached the link's name again (2.6.1)."""

    condition = "amqp:link:stolen"


class TransferLimitExceeded(LinkError):
    """The peer sent a delivery without credit (2.6.7)."""

    condition = "amqp:link:transfer-limit-exceeded"


class MessageSizeExceeded(LinkError):
    """The peer sent a message above the link's max-message-size."""

    condition = "amqp:link:message-size-exceeded"


class FrameSizeTooSmall(RemoteError):
    """The answer to the peer does not fit the frames that it accepts."""

    condition = "amqp:frame-size-too-small"


class FrameTooLarge(LocalError):
    """A performative does not fit the frames that the peer accepts; nothing was sent or changed."""
