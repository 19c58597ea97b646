"""The client's role on behalf of somebody else: passes on what the server says, and sends what it is told.

A router that has its clients authenticated by a service is the service's client in this role. What its own client
chooses and answers goes to `choose` and `respond`; what these return is for `Connection.send_sasl`.
"""

from typing import Protocol

from routerd.wire.sasl.client_role import ClientRole
from routerd.wire.sasl.exchange import DEFAULT_SASL_LIMITS, SaslCode, SaslFrame, SaslLimits


class RelayEnd(Protocol):
    """Who is told what the server says."""

    def offered(self, mechanisms: tuple[str, ...]) -> None:
        """The server offers these."""

    def challenged(self, challenge: bytes) -> None:
        """The server wants a response."""

    def decided(self, code: SaslCode, additional_data: bytes | None) -> None:
        """The server has come to an end with it."""


class SaslRelay(ClientRole):
    """One exchange with a server, for `end`."""

    def __init__(self, end: RelayEnd, *, hostname: str | None, limits: SaslLimits = DEFAULT_SASL_LIMITS) -> None:
        super().__init__(hostname, limits)
        self._end = end

    def choose(self, mechanism: str, initial_response: bytes | None) -> list[SaslFrame]:
        """Return the frame that chooses one of the mechanisms that were offered."""
        return self._init(mechanism, initial_response)

    def respond(self, response: bytes) -> list[SaslFrame]:
        """Return the frame that answers a challenge."""
        return self._response(response)

    def _answer_offer(self, mechanisms: tuple[str, ...]) -> list[SaslFrame]:
        self._end.offered(mechanisms)
        return []

    def _answer_challenge(self, challenge: bytes) -> list[SaslFrame]:
        self._end.challenged(challenge)
        return []

    def _verify(self, proof: bytes | None) -> None:
        """Leave it to whom it is passed on to."""

    def _hear_end(self, code: SaslCode, additional_data: bytes | None) -> None:
        self._end.decided(code, additional_data)
