"""The states of a SASL exchange (5.3.2), with one table for each role.

The server offers, the client chooses, challenges and responses alternate, and the server's outcome ends the exchange.
An ended exchange keeps its state. The connection may abandon an exchange at any time.
"""

from collections.abc import Mapping
from enum import Enum

from routerd.wire.errors import IllegalState, StateError


class State(Enum):
    """The progress of the exchange."""

    START = "start"
    OFFERED = "mechanisms sent"
    CHOOSING = "mechanisms received"
    AWAITING = "waiting for the server"
    STEPPING = "mechanism at work"
    CHALLENGED = "challenge sent"
    VERIFYING = "verifying the server"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Event(Enum):
    """The events that move it."""

    SEND_MECHANISMS = "send sasl-mechanisms"
    RECV_MECHANISMS = "sasl-mechanisms"
    SEND_INIT = "send sasl-init"
    RECV_INIT = "sasl-init"
    SEND_CHALLENGE = "send sasl-challenge"
    RECV_CHALLENGE = "sasl-challenge"
    SEND_RESPONSE = "send sasl-response"
    RECV_RESPONSE = "sasl-response"
    SEND_OK = "send sasl-outcome ok"
    RECV_OK = "sasl-outcome ok"
    SEND_FAILURE = "send sasl-outcome"
    RECV_FAILURE = "sasl-outcome"
    VERIFIED = "server verified"
    ABANDON = "abandon"


ENDED = frozenset({State.SUCCEEDED, State.FAILED, State.ABANDONED})

_ABANDON = {(state, Event.ABANDON): state if state in ENDED else State.ABANDONED for state in State}

SERVER = _ABANDON | {
    (State.START, Event.SEND_MECHANISMS): State.OFFERED,
    (State.OFFERED, Event.RECV_INIT): State.STEPPING,
    (State.STEPPING, Event.SEND_CHALLENGE): State.CHALLENGED,
    (State.CHALLENGED, Event.RECV_RESPONSE): State.STEPPING,
    (State.STEPPING, Event.SEND_OK): State.SUCCEEDED,
    (State.STEPPING, Event.SEND_FAILURE): State.FAILED,
}

CLIENT = _ABANDON | {
    (State.START, Event.RECV_MECHANISMS): State.CHOOSING,
    (State.CHOOSING, Event.SEND_INIT): State.AWAITING,
    (State.AWAITING, Event.RECV_CHALLENGE): State.STEPPING,
    (State.STEPPING, Event.SEND_RESPONSE): State.AWAITING,
    (State.AWAITING, Event.RECV_OK): State.VERIFYING,
    (State.VERIFYING, Event.VERIFIED): State.SUCCEEDED,
    (State.AWAITING, Event.RECV_FAILURE): State.FAILED,
}


class Negotiation:
    """The state of one exchange, in one role."""

    def __init__(self, table: Mapping[tuple[State, Event], State]) -> None:
        self._table = table
        self.state = State.START

    @property
    def is_over(self) -> bool:
        """Whether the exchange is over."""
        return self.state in ENDED

    def move(self, event: Event) -> None:
        """Take a step of ours; a step that the state does not allow is our caller's mistake."""
        after = self._table.get((self.state, event))
        if after is None:
            raise StateError(f"{event.value}: not in the state '{self.state.value}'")
        self.state = after

    def receive(self, event: Event) -> None:
        """Take a step of the peer; a step that the state does not allow is a violation."""
        after = self._table.get((self.state, event))
        if after is None:
            raise IllegalState(f"{event.value}: not in the state '{self.state.value}' (5.3.2)")
        self.state = after
