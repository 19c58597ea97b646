"""The client's role in SASL (5.3.2): the order of frames and their limits; subclasses choose the content."""

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
    """One exchange with a server. Frames that are not sent at once go to `Connection.send_sasl`."""

    def __init__(self, hostname: str | None, limits: SaslLimits) -> None:
        self._hostname = hostname
        self._limits = limits
        self._negotiation = Negotiation(CLIENT)
        self._steps = 0
        self.is_waiting = False
        """Whether the server's frames must wait. Never, because the server waits for ours."""
        self.mechanism: str | None = None
        """The chosen mechanism, once the server has made its offer."""
        self.outcome: SaslCode | None = None
        """The server's outcome; None before, and in an abandoned exchange."""

    @property
    def done(self) -> bool:
        """Whether the exchange is over: succeeded, failed or abandoned."""
        return self._negotiation.is_over

    @property
    def identity(self) -> None:
        """None, because in this role the server is not authenticated."""
        return None

    def start(self) -> list[SaslFrame]:
        """Send nothing, because the server begins."""
        return []

    def receive(self, frame: SaslFrame) -> list[SaslFrame]:
        """Take a frame of the server and return frames to send; raises an error if the server is not to be trusted."""
        try:
            return self._take(frame)
        except RemoteError:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Abandon the exchange: the server left or took too long, or its answer is not needed any more."""
        self._negotiation.move(Event.ABANDON)

    # --- for subclasses

    @abstractmethod
    def _answer_offer(self, mechanisms: tuple[str, ...]) -> list[SaslFrame]:
        """Choose one of the mechanisms, now or later."""

    @abstractmethod
    def _answer_challenge(self, challenge: bytes) -> list[SaslFrame]:
        """Respond, now or later."""

    @abstractmethod
    def _verify(self, proof: bytes | None) -> None:
        """Check the server's proof that came with the outcome ok; raises an error if it fails."""

    @abstractmethod
    def _hear_end(self, code: SaslCode, additional_data: bytes | None) -> None:
        """Note the outcome."""

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
        raise IllegalState(f"a server does not send {type(frame).__name__} (5.3.2)")

    def _conclude(self, outcome: SaslOutcome) -> None:
        if outcome.code not in SASL_CODES:
            raise InvalidField(f"{outcome.code} is not the code of an outcome (5.3.3.6)")
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
