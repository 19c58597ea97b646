"""The client's role in SASL (5.3.2): chooses among the server's mechanisms, answers challenges, judges the outcome."""

from collections.abc import Sequence

from routerd.wire.errors import IllegalState, InvalidField, RemoteError, ValueRangeError
from routerd.wire.sasl.exchange import (
    DEFAULT_SASL_LIMITS,
    ClientMechanism,
    ClientMechanismFactory,
    NoCommonMechanism,
    SaslCode,
    SaslFailed,
    SaslFrame,
    SaslLimits,
)
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


class SaslClient:
    """One exchange, as its client. The first of `mechanisms` that the server offers is used."""

    def __init__(
        self,
        mechanisms: Sequence[ClientMechanismFactory],
        *,
        hostname: str | None = None,
        limits: SaslLimits = DEFAULT_SASL_LIMITS,
    ) -> None:
        if not mechanisms:
            raise ValueRangeError("a SASL client needs a mechanism that it is ready to use")
        self._factories = mechanisms
        self._hostname = hostname
        self._limits = limits
        self._negotiation = Negotiation(CLIENT)
        self._running: ClientMechanism | None = None
        self._steps = 0
        self.is_waiting = False
        """Whether something has to come from elsewhere before the server is to be heard: never here."""
        self.mechanism: str | None = None
        """What we chose, once the server has made its offer."""
        self.outcome: SaslCode | None = None
        """What the server told; None before, and for an exchange that was abandoned."""

    @property
    def done(self) -> bool:
        """Whether the exchange is over: succeeded, failed or abandoned."""
        return self._negotiation.is_over

    @property
    def identity(self) -> None:
        """Nobody: in this role it is us who are authenticated."""
        return None

    def start(self) -> list[SaslFrame]:
        """Send nothing: the server has the first word."""
        return []

    def receive(self, frame: SaslFrame) -> list[SaslFrame]:
        """Take a frame of the server's and return what to send; raise when it is not to be trusted."""
        try:
            return self._take(frame)
        except RemoteError:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Give the exchange up: the server left, or took too long."""
        self._running = None
        self._negotiation.move(Event.ABANDON)

    def _take(self, frame: SaslFrame) -> list[SaslFrame]:
        if isinstance(frame, SaslMechanisms):
            self._negotiation.receive(Event.RECV_MECHANISMS)
            return self._choose(frame.sasl_server_mechanisms)
        if isinstance(frame, SaslChallenge):
            self._negotiation.receive(Event.RECV_CHALLENGE)
            return self._respond(frame.challenge)
        if isinstance(frame, SaslOutcome):
            return self._judge(frame)
        raise IllegalState(f"a server sends no {type(frame).__name__} (5.3.2)")

    def _choose(self, offered: Sequence[str]) -> list[SaslFrame]:
        if not offered:
            raise InvalidField("the server offers no mechanism at all (5.3.3.1)")
        factory = next((each for each in self._factories if each.name in offered), None)
        if factory is None:
            raise NoCommonMechanism(tuple(offered), tuple(each.name for each in self._factories))
        self.mechanism = factory.name
        self._running = factory.start(self._hostname)
        initial_response = self._running.initial_response()
        self._negotiation.move(Event.SEND_INIT)
        return [SaslInit(mechanism=Symbol(factory.name), initial_response=initial_response, hostname=self._hostname)]

    def _respond(self, challenge: bytes) -> list[SaslFrame]:
        self._steps += 1
        if self._steps > self._limits.steps:
            raise SaslFailed(f"more than {self._limits.steps} challenges")
        response = self._mechanism_for(challenge).respond(challenge)
        self._negotiation.move(Event.SEND_RESPONSE)
        return [SaslResponse(response=response)]

    def _judge(self, outcome: SaslOutcome) -> list[SaslFrame]:
        if outcome.code not in SASL_CODES:
            raise InvalidField(f"{outcome.code} is no code of an outcome (5.3.3.6)")
        if outcome.code == SaslCode.OK:
            self._negotiation.receive(Event.RECV_OK)
            self._mechanism_for(outcome.additional_data).finish(outcome.additional_data)
            self._negotiation.move(Event.VERIFIED)
        else:
            self._negotiation.receive(Event.RECV_FAILURE)
        self._running = None
        self.outcome = SaslCode(outcome.code)
        return []

    def _mechanism_for(self, token: bytes | None) -> ClientMechanism:
        if token is not None and len(token) > self._limits.token_size_bytes:
            raise SaslFailed(f"{len(token)} octets at once; {self._limits.token_size_bytes} is the most")
        assert self._running is not None
        return self._running
