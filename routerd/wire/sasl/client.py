"""The SASL client: it chooses a mechanism of the server, answers challenges, and checks the outcome."""

from collections.abc import Sequence

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl.client_role import ClientRole
from routerd.wire.sasl.exchange import (
    DEFAULT_SASL_LIMITS,
    ClientMechanism,
    ClientMechanismFactory,
    NoCommonMechanism,
    Pending,
    SaslCode,
    SaslFrame,
    SaslLimits,
)


class SaslClient(ClientRole):
    """One exchange as the client. It uses the first of `mechanisms` that the server offers.

    A mechanism that must wait returns `Pending`, and `answer` is called with its response later.
    """

    def __init__(
        self,
        mechanisms: Sequence[ClientMechanismFactory],
        *,
        hostname: str | None = None,
        limits: SaslLimits = DEFAULT_SASL_LIMITS,
    ) -> None:
        if not mechanisms:
            raise ValueRangeError("a SASL client needs a mechanism that it is ready to use")
        super().__init__(hostname, limits)
        self._factories = mechanisms
        self._running: ClientMechanism | None = None

    def abandon(self) -> None:
        """Abandon the exchange: the server left, or took too long."""
        self._running = None
        super().abandon()

    def answer(self, response: bytes | None) -> list[SaslFrame]:
        """Continue with a pending response; return nothing if the exchange was abandoned since."""
        return [] if self.done else self._say(response)

    def _answer_offer(self, mechanisms: tuple[str, ...]) -> list[SaslFrame]:
        factory = next((each for each in self._factories if each.name in mechanisms), None)
        if factory is None:
            raise NoCommonMechanism(mechanisms, tuple(each.name for each in self._factories))
        self.mechanism = factory.name
        self._running = factory.start(self._hostname)
        return self._say(self._running.initial_response())

    def _answer_challenge(self, challenge: bytes) -> list[SaslFrame]:
        assert self._running is not None, "it is chosen"
        return self._say(self._running.respond(challenge))

    def _say(self, response: bytes | Pending | None) -> list[SaslFrame]:
        assert self.mechanism is not None, "it is chosen"
        if isinstance(response, Pending):
            return []
        return self._response(response or b"") if self._steps else self._init(self.mechanism, response)

    def _verify(self, proof: bytes | None) -> None:
        assert self._running is not None, "it is chosen"
        self._running.finish(proof)

    def _hear_end(self, code: SaslCode, additional_data: bytes | None) -> None:
        self._running = None
