"""The server's role in SASL (5.3.2): it offers mechanisms, runs the chosen one, and sends the outcome."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from routerd.wire.errors import IllegalState, StateError, ValueRangeError
from routerd.wire.sasl.exchange import (
    DEFAULT_SASL_LIMITS,
    AuthenticationUnavailable,
    Challenge,
    Failure,
    Pending,
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

Mechanisms: TypeAlias = Sequence[ServerMechanismFactory]
HoldBack: TypeAlias = Callable[[Failure], bool]


class SaslServer:
    """One exchange as the server. Mechanisms are offered in order of preference (5.3.3.1).

    The offer may depend on the connection. `mechanisms` is a function then, which is called once the client wants SASL.
    It returns None if `offer` will be called later. A mechanism that must wait returns `Pending`, and `answer` is
    called with its step later. Both return frames for `Connection.send_sasl`. `is_waiting` is set until then.
    """

    def __init__(
        self,
        mechanisms: Mechanisms | Callable[[], Mechanisms | None],
        *,
        limits: SaslLimits = DEFAULT_SASL_LIMITS,
        hold_back: HoldBack | None = None,
    ) -> None:
        """`hold_back` is called with each failure. If it returns true, the client gets the outcome once `answer` is
        called.
        """
        self._mechanisms = mechanisms
        self._factories = {} if callable(mechanisms) else _by_name(mechanisms)
        self._limits = limits
        self._hold_back = hold_back
        self._negotiation = Negotiation(SERVER)
        self.is_waiting = False
        """Whether `offer` or `answer` is still to be called; no input may be taken before."""
        self._running: ServerMechanism | None = None
        self._steps = 0
        self.mechanism: str | None = None
        """The mechanism that the client chose."""
        self.hostname: str | None = None
        """The host that the client requested."""
        self.identity: str | None = None
        """The identity of the client, once it is authenticated."""
        self.outcome: SaslCode | None = None
        """The code that the client got; None before, and in an abandoned exchange."""
        self.failure: Failure | None = None
        """The reason of a failure, for our log."""

    @property
    def done(self) -> bool:
        """Whether the exchange is over: succeeded, failed or abandoned."""
        return self._negotiation.is_over

    def start(self) -> list[SaslFrame]:
        """Offer the mechanisms, unless the offer is not known yet."""
        if not callable(self._mechanisms):
            return self._send_offer()
        mechanisms = self._mechanisms()
        if mechanisms is None:
            self.is_waiting = True
            return []
        self._factories = _by_name(mechanisms)
        return self._send_offer()

    def offer(self, mechanisms: Mechanisms) -> list[SaslFrame]:
        """Offer mechanisms that were not known at the start; return nothing if the exchange was abandoned since."""
        if not self._was_awaited():
            return []
        self._factories = _by_name(mechanisms)
        return self._send_offer()

    def answer(self, step: Step) -> list[SaslFrame]:
        """Continue with a pending step; return nothing if the exchange was abandoned since."""
        if not self._was_awaited():
            return []
        return self._send_failure(step) if isinstance(step, Failure) and step is self.failure else self._answer(step)

    def _was_awaited(self) -> bool:
        was_waiting, self.is_waiting = self.is_waiting, False
        if not was_waiting and not self.done:
            raise StateError("the exchange does not wait for an answer")
        return was_waiting

    def _send_offer(self) -> list[SaslFrame]:
        self._negotiation.move(Event.SEND_MECHANISMS)
        return [SaslMechanisms(sasl_server_mechanisms=tuple(map(Symbol, self._factories)))]

    def receive(self, frame: SaslFrame) -> list[SaslFrame]:
        """Take a frame of the client and return frames to send."""
        try:
            return self._take(frame)
        except IllegalState:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Abandon the exchange without an outcome: the client left, or took too long."""
        self._running = None
        self.is_waiting = False
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
        raise IllegalState(f"a client does not send {type(frame).__name__} (5.3.2)")

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
        if isinstance(step, Pending):
            self.is_waiting = True
            return []
        if isinstance(step, Challenge):
            self._negotiation.move(Event.SEND_CHALLENGE)
            return [SaslChallenge(challenge=step.data)]
        self._running = None
        if isinstance(step, Success):
            self._negotiation.move(Event.SEND_OK)
            self.identity, self.outcome = step.identity, SaslCode.OK
            return [SaslOutcome(code=SaslCode.OK, additional_data=step.data)]
        self.failure = step
        if self._hold_back is not None and self._hold_back(step):
            self.is_waiting = True
            return []
        return self._send_failure(step)

    def _send_failure(self, failure: Failure) -> list[SaslFrame]:
        self._negotiation.move(Event.SEND_FAILURE)
        self.outcome = failure.code
        return [SaslOutcome(code=failure.code)]


def _by_name(mechanisms: Mechanisms) -> dict[str, ServerMechanismFactory]:
    factories = {factory.name: factory for factory in mechanisms}
    if not mechanisms or len(factories) != len(mechanisms):
        raise ValueRangeError(f"mechanisms must be one or more, none twice: {[each.name for each in mechanisms]}")
    return factories
