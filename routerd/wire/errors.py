"""The errors of the wire engine: each says whose fault it is, and what to tell the peer.

`RemoteError` is raised for what a peer did. Its `condition` is the AMQP condition to send back and its
`scope` names what the standard ends for it: the connection, a session or a link. `LocalError` is
raised to our own caller, whose mistake never reaches the wire.
"""

from enum import Enum


class Scope(Enum):
    """What a violation ends."""

    CONNECTION = "connection"
    SESSION = "session"
    LINK = "link"


class WireError(Exception):
    """The root of everything that routerd.wire raises on purpose."""


class LocalError(WireError):
    """Our caller asked for something that AMQP or the engine's state does not allow."""


class RemoteError(WireError):
    """The peer broke the protocol; `condition` is what to answer, `offset` where in the octets it showed."""

    condition = "amqp:connection:framing-error"
    scope = Scope.CONNECTION

    def __init__(self, description: str, *, offset: int | None = None) -> None:
        super().__init__(description if offset is None else f"{description} (octet {offset})")
        self.description = description
        self.offset = offset


class DecodeError(RemoteError):
    """Octets that are no AMQP value, or not the value that belongs here."""

    condition = "amqp:decode-error"


class FramingError(RemoteError):
    """A frame whose header or size is wrong (2.3)."""

    condition = "amqp:connection:framing-error"


class InvalidField(RemoteError):
    """A field of the right type with a value that is not allowed there."""

    condition = "amqp:invalid-field"


class IllegalState(RemoteError):
    """A frame that the state of the connection does not allow (2.4.6)."""

    condition = "amqp:illegal-state"


class EncodeError(LocalError):
    """A Python value that has no AMQP encoding, or exceeds a limit."""


class ValueRangeError(LocalError, ValueError):
    """A number or text outside of the range of its AMQP type."""


class StateError(LocalError):
    """A call that the state of the connection, session, link or delivery does not allow."""


class AuthenticationSkipped(RemoteError):
    """The peer left SASL out, where it has to say who it is."""

    condition = "amqp:connection:policy-error"

    def __init__(self) -> None:
        super().__init__("Client skipped authentication - forbidden")


class ResourceLimitExceeded(RemoteError):
    """The peer asks for more than this engine was configured to hold, or kept silent too long."""

    condition = "amqp:resource-limit-exceeded"


class SessionError(RemoteError):
    """A violation for which the session is ended (2.8.17)."""

    condition = "amqp:not-allowed"
    scope = Scope.SESSION


class SessionFieldInvalid(SessionError):
    """A field of a frame of the session has a value that is not allowed there."""

    condition = "amqp:invalid-field"


class SessionLimitExceeded(SessionError):
    """The peer holds more unsettled deliveries on the session than it was configured for."""

    condition = "amqp:resource-limit-exceeded"


class WindowViolation(SessionError):
    """The peer sent a transfer for which the incoming window had no room (2.5.6)."""

    condition = "amqp:session:window-violation"


class HandleInUse(RemoteError):
    """An attach with a handle that another link of the session has; 2.7.3 has the connection closed for it."""

    condition = "amqp:session:handle-in-use"


class UnattachedHandle(SessionError):
    """A frame for a handle to which no link is attached."""

    condition = "amqp:session:unattached-handle"


class LinkError(RemoteError):
    """A violation for which the link is detached (2.8.18)."""

    condition = "amqp:not-allowed"
    scope = Scope.LINK


class LinkFieldInvalid(LinkError):
    """A field of a transfer has a value that is not allowed there."""

    condition = "amqp:invalid-field"


class LinkLimitExceeded(LinkError):
    """The peer attached one link more than a connection may have."""

    condition = "amqp:resource-limit-exceeded"


class LinkStolen(LinkError):
    """The peer attached the link's name anew (2.6.1)."""

    condition = "amqp:link:stolen"


class TransferLimitExceeded(LinkError):
    """The peer sent more deliveries than it had credit for (2.6.7)."""

    condition = "amqp:link:transfer-limit-exceeded"


class MessageSizeExceeded(LinkError):
    """The peer sent a message above the link's max-message-size."""

    condition = "amqp:link:message-size-exceeded"


class FrameSizeTooSmall(RemoteError):
    """What the peer asks for can't be answered in frames as small as it accepts."""

    condition = "amqp:frame-size-too-small"


class FrameTooLarge(LocalError):
    """A performative does not fit the frames that the peer accepts; nothing was sent and nothing has changed."""
