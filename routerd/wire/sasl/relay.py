"""The client's role (5.3.2) on behalf of somebody else: passes on what the server says, and sends what it is told.

A router that has its clients authenticated by a service is the service's client in this role. What its own client
chooses and answers goes to `choose` and `respond`; what these return is for `Connection.send_sasl`.
"""

from typing import Protocol

from routerd.wire.errors import IllegalState, InvalidField, RemoteError
from routerd.wire.sasl.exchange import DEFAULT_SASL_LIMITS, SaslCode, SaslFailed, SaslFrame, SaslLimits
from routerd.wire.sasl.negotiation import CLIENT, Event, Negotiation
from routerd.wire.sasl_frames import (
    SASL_CODES,
    SaslChallenge,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
    SaslResponse,
)
from routerd.wire.types import Symbol


class RelayEnd(Protocol):
    """Who is told what the server says."""

    def offered(self, mechanisms: tuple[str, ...]) -> None:
        """The server offers these."""

    def challenged(self, challenge: bytes) -> None:
        """The server wants a response."""

    def decided(self, code: SaslCode, additional_data: bytes | None) -> None:
        """The server has come to an end with it."""


class SaslRelay:
    """One exchange with a server, for `end`."""

    def __init__(self, end: RelayEnd, *, hostname: str | None, limits: SaslLimits = DEFAULT_SASL_LIMITS) -> None:
        self._end = end
        self._hostname = hostname
        self._limits = limits
        self._negotiation = Negotiation(CLIENT)
        self._steps = 0
        self.is_waiting = False
        self.mechanism: str | None = None
        """What was chosen."""
        self.outcome: SaslCode | None = None
        """What the server told."""

    @property
    def done(self) -> bool:
        """Whether the exchange is over: succeeded, failed or abandoned."""
        return self._negotiation.is_over

    @property
    def identity(self) -> None:
        """Nobody: in this role it is not the server who is authenticated."""
        return None

    def start(self) -> list[SaslFrame]:
        """Send nothing: the server has the first word."""
        return []

    def choose(self, mechanism: str, initial_response: bytes | None) -> list[SaslFrame]:
        """Return the frame that chooses one of the mechanisms that were offered."""
        self.mechanism = mechanism
        self._negotiation.move(Event.SEND_INIT)
        return [SaslInit(mechanism=Symbol(mechanism), initial_response=initial_response, hostname=self._hostname)]

    def respond(self, response: bytes) -> list[SaslFrame]:
        """Return the frame that answers a challenge."""
        self._negotiation.move(Event.SEND_RESPONSE)
        return [SaslResponse(response=response)]

    def receive(self, frame: SaslFrame) -> list[SaslFrame]:
        """Take a frame of the server's; raise when it is against the rules."""
        try:
            self._take(frame)
        except RemoteError:
            self.abandon()
            raise
        return []

    def abandon(self) -> None:
        """Give the exchange up: the server left, took too long, or nobody wants its answer any more."""
        self._negotiation.move(Event.ABANDON)

    def _take(self, frame: SaslFrame) -> None:
        if isinstance(frame, SaslMechanisms):
            self._negotiation.receive(Event.RECV_MECHANISMS)
            if not frame.sasl_server_mechanisms:
                raise InvalidField("the server offers no mechanism at all (5.3.3.1)")
            self._end.offered(tuple(map(str, frame.sasl_server_mechanisms)))
        elif isinstance(frame, SaslChallenge):
            self._negotiation.receive(Event.RECV_CHALLENGE)
            self._steps += 1
            if self._steps > self._limits.steps:
                raise SaslFailed(f"more than {self._limits.steps} challenges")
            self._end.challenged(self._checked(frame.challenge))
        elif isinstance(frame, SaslOutcome):
            self._judge(frame)
        else:
            raise IllegalState(f"a server sends no {type(frame).__name__} (5.3.2)")

    def _judge(self, outcome: SaslOutcome) -> None:
        if outcome.code not in SASL_CODES:
            raise InvalidField(f"{outcome.code} is no code of an outcome (5.3.3.6)")
        code = SaslCode(outcome.code)
        if code is SaslCode.OK:
            self._negotiation.receive(Event.RECV_OK)
            self._negotiation.move(Event.VERIFIED)
        else:
            self._negotiation.receive(Event.RECV_FAILURE)
        self.outcome = code
        data = outcome.additional_data
        self._end.decided(code, None if data is None else self._checked(data))

    def _checked(self, token: bytes) -> bytes:
        if len(token) > self._limits.token_size_bytes:
            raise SaslFailed(f"{len(token)} octets at once; {self._limits.token_size_bytes} is the most")
        return token
