"""The server's role in SASL (5.3.2): offers mechanisms, lets the chosen one judge, tells the outcome."""

from collections.abc import Sequence

from routerd.wire.errors import IllegalState, ValueRangeError
from routerd.wire.sasl.exchange import (
    DEFAULT_SASL_LIMITS,
    AuthenticationUnavailable,
    Challenge,
    Failure,
    SaslCode,
    SaslFrame,
    SaslLimits,
    ServerMechanism,
    ServerMechanismFactory,
    Step,
    Success,
)
from routerd.wire.sasl.negotiation import SERVER, Event, Negotiation
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.types import Symbol


class SaslServer:
    """One exchange, as its server. The first mechanism is the one we would like best (5.3.3.1)."""

    def __init__(
        self, mechanisms: Sequence[ServerMechanismFactory], *, limits: SaslLimits = DEFAULT_SASL_LIMITS
    ) -> None:
        self._factories = {factory.name: factory for factory in mechanisms}
        if not mechanisms or len(self._factories) != len(mechanisms):
            raise ValueRangeError(f"mechanisms must be one or more, none twice: {[each.name for each in mechanisms]}")
        self._limits = limits
        self._negotiation = Negotiation(SERVER)
        self._running: ServerMechanism | None = None
        self._steps = 0
        self.mechanism: str | None = None
        """What the client chose, among those offered."""
        self.hostname: str | None = None
        """The host that the client asked for."""
        self.identity: str | None = None
        """Who the client is, once it is proved."""
        self.outcome: SaslCode | None = None
        """What the client was told; None before, and for an exchange that was abandoned."""
        self.failure: Failure | None = None
        """Why it was refused, for our log."""

    @property
    def done(self) -> bool:
        """Whether the exchange is over: succeeded, failed or abandoned."""
        return self._negotiation.is_over

    def start(self) -> list[SaslFrame]:
        """Offer the mechanisms."""
        self._negotiation.move(Event.SEND_MECHANISMS)
        return [SaslMechanisms(sasl_server_mechanisms=tuple(map(Symbol, self._factories)))]

    def receive(self, frame: SaslFrame) -> list[SaslFrame]:
        """Take a frame of the client's and return what to send."""
        try:
            return self._take(frame)
        except IllegalState:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Give the exchange up without an outcome: the client left, or took too long."""
        self._running = None
        self._negotiation.move(Event.ABANDON)

    def _take(self, frame: SaslFrame) -> list[SaslFrame]:
        if isinstance(frame, SaslInit):
            self._negotiation.receive(Event.RECV_INIT)
            self.hostname = frame.hostname
            self._choose(frame.mechanism)
            return self._answer(self._judge(frame.initial_response))
        if isinstance(frame, SaslResponse):
            self._negotiation.receive(Event.RECV_RESPONSE)
            return self._answer(self._judge(frame.response))
        raise IllegalState(f"a client sends no {type(frame).__name__} (5.3.2)")

    def _choose(self, mechanism: str) -> None:
        factory = self._factories.get(mechanism)
        if factory is not None:
            self.mechanism = factory.name
            self._running = factory.start(self.hostname)

    def _judge(self, token: bytes | None) -> Step:
        self._steps += 1
        if self._running is None:
            return Failure("the client chose a mechanism that was not offered")
        if self._steps > self._limits.steps:
            return Failure(f"more than {self._limits.steps} steps")
        if token is not None and len(token) > self._limits.token_size_bytes:
            return Failure(f"{len(token)} octets at once; {self._limits.token_size_bytes} is the most")
        try:
            return self._running.step(token)
        except AuthenticationUnavailable as error:
            return error.failure

    def _answer(self, step: Step) -> list[SaslFrame]:
        if isinstance(step, Challenge):
            self._negotiation.move(Event.SEND_CHALLENGE)
            return [SaslChallenge(challenge=step.data)]
        self._running = None
        if isinstance(step, Success):
            self._negotiation.move(Event.SEND_OK)
            self.identity, self.outcome = step.identity, SaslCode.OK
            return [SaslOutcome(code=SaslCode.OK, additional_data=step.data)]
        self._negotiation.move(Event.SEND_FAILURE)
        self.failure, self.outcome = step, step.code
        return [SaslOutcome(code=step.code)]
