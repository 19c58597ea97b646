"""The client's role in SASL on behalf of another client.

A router uses it when a service authenticates its clients. The router is the client of the service. The choice and the
responses of the router's client go to `choose` and `respond`. Both return frames for `Connection.send_sasl`.
"""

from typing import Protocol

from routerd.wire.sasl.client_role import ClientRole
from routerd.wire.sasl.exchange import DEFAULT_SASL_LIMITS, SaslCode, SaslFrame, SaslLimits


class RelayEnd(Protocol):
    """Gets the frames of the server."""

    def offered(self, mechanisms: tuple[str, ...]) -> None:
        """The server offers these mechanisms."""

    def challenged(self, challenge: bytes) -> None:
        """The server requests a response."""

    def decided(self, code: SaslCode, additional_data: bytes | None) -> None:
        """The server has ended the exchange with an outcome."""


class SaslRelay(ClientRole):
    """One exchange with a server, for `end`."""

    def __init__(self, end: RelayEnd, *, hostname: str | None, limits: SaslLimits = DEFAULT_SASL_LIMITS) -> None:
        super().__init__(hostname, limits)
        self._end = end

    def choose(self, mechanism: str, initial_response: bytes | None) -> list[SaslFrame]:
        """Return the frame that chooses one of the offered mechanisms."""
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
        """Check nothing: `end` does that."""

    def _hear_end(self, code: SaslCode, additional_data: bytes | None) -> None:
        self._end.decided(code, additional_data)
