"""The client's role in SASL (5.3.2): the order of frames, their limits, and the end; subclasses decide what is said."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from routerd.wire.errors import IllegalState, InvalidField, RemoteError
from routerd.wire.sasl.exchange import SaslCode, SaslFailed, SaslFrame, SaslLimits
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


class ClientRole(ABC):
    """One exchange with a server. What is said later than at once is for `Connection.send_sasl`."""

    def __init__(self, hostname: str | None, limits: SaslLimits) -> None:
        self._hostname = hostname
        self._limits = limits
        self._negotiation = Negotiation(CLIENT)
        self._steps = 0
        self.is_waiting = False
        """Whether the server's frames are to wait: never, since it has to wait for ours by itself."""
        self.mechanism: str | None = None
        """What was chosen, once the server has made its offer."""
        self.outcome: SaslCode | None = None
        """What the server told; None before, and for an exchange that was abandoned."""

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

    def receive(self, frame: SaslFrame) -> list[SaslFrame]:
        """Take a frame of the server's and return what to send; raise when it is not to be trusted."""
        try:
            return self._take(frame)
        except RemoteError:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Give the exchange up: the server left, took too long, or nobody wants its answer any more."""
        self._negotiation.move(Event.ABANDON)

    # --- what is decided elsewhere

    @abstractmethod
    def _answer_offer(self, mechanisms: tuple[str, ...]) -> list[SaslFrame]:
        """Choose one of these, now or later."""

    @abstractmethod
    def _answer_challenge(self, challenge: bytes) -> list[SaslFrame]:
        """Respond, now or later."""

    @abstractmethod
    def _verify(self, proof: bytes | None) -> None:
        """Hold what came with the outcome ok against what the server has to prove; raise if it does not."""

    @abstractmethod
    def _hear_end(self, code: SaslCode, additional_data: bytes | None) -> None:
        """Take note of the outcome."""

    # --- frames

    def _init(self, mechanism: str, initial_response: bytes | None) -> list[SaslFrame]:
        self._negotiation.move(Event.SEND_INIT)
        self.mechanism = mechanism
        return [SaslInit(mechanism=Symbol(mechanism), initial_response=initial_response, hostname=self._hostname)]

    def _response(self, response: bytes) -> list[SaslFrame]:
        self._negotiation.move(Event.SEND_RESPONSE)
        return [SaslResponse(response=response)]

    def _take(self, frame: SaslFrame) -> list[SaslFrame]:
        if isinstance(frame, SaslMechanisms):
            self._negotiation.receive(Event.RECV_MECHANISMS)
            return self._answer_offer(_offer(frame.sasl_server_mechanisms))
        if isinstance(frame, SaslChallenge):
            self._negotiation.receive(Event.RECV_CHALLENGE)
            self._steps += 1
            if self._steps > self._limits.steps:
                raise SaslFailed(f"more than {self._limits.steps} challenges")
            self._check_size(frame.challenge)
            return self._answer_challenge(frame.challenge)
        if isinstance(frame, SaslOutcome):
            self._conclude(frame)
            return []
        raise IllegalState(f"a server sends no {type(frame).__name__} (5.3.2)")

    def _conclude(self, outcome: SaslOutcome) -> None:
        if outcome.code not in SASL_CODES:
            raise InvalidField(f"{outcome.code} is no code of an outcome (5.3.3.6)")
        code, data = SaslCode(outcome.code), outcome.additional_data
        is_ok = code is SaslCode.OK
        self._negotiation.receive(Event.RECV_OK if is_ok else Event.RECV_FAILURE)
        if data is not None:
            self._check_size(data)
        if is_ok:
            self._verify(data)
            self._negotiation.move(Event.VERIFIED)
        self.outcome = code
        self._hear_end(code, data)

    def _check_size(self, token: bytes) -> None:
        if len(token) > self._limits.token_size_bytes:
            raise SaslFailed(f"{len(token)} octets at once; {self._limits.token_size_bytes} is the most")


def _offer(mechanisms: Sequence[str]) -> tuple[str, ...]:
    if not mechanisms:
        raise InvalidField("the server offers no mechanism at all (5.3.3.1)")
    return tuple(map(str, mechanisms))
