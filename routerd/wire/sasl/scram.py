"""SCRAM-SHA-1, -256 and -512 (RFC 5802, RFC 7677) without channel binding; the password never crosses the connection.

scramp has the messages and the arithmetic. Three things are ours. The caller draws the nonces. An unknown name goes
through the whole exchange, so that user names cannot be probed. The server's proof may come with the outcome (5.3.3.6)
or in a last challenge, and a client without a proof rejects the outcome.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl.exchange import Challenge, Failure, SaslFailed, Step, Success
from routerd.wire.sasl.scram_credentials import ScramCredentials, ScramDecoys, imported, prepared_if_possible

SCRAM_MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1")
"""Strongest first."""

NONCE_MIN = 16
_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F))) - {","}


@dataclass(frozen=True, slots=True)
class ScramServer:
    """Asks `credentials` for the stored verifier of a user; None for an unknown user."""

    name: str
    credentials: Callable[[str], ScramCredentials | None] = field(repr=False)
    decoys: ScramDecoys
    nonce: Callable[[], str] = field(repr=False)
    """Draws a nonce: printable ASCII without comma, such as 18 random octets in base64."""
    proof_in_outcome: bool = True
    """Where the server's proof goes: with the outcome, as in AMQP, or in a challenge before it. Some clients ignore the
    data of the outcome and would not authenticate the server (Cyrus in proton).
    """

    def __post_init__(self) -> None:
        _check_name(self.name)

    def start(self, hostname: str | None) -> "_ServerExchange":
        """Begin an exchange with a new nonce."""
        return _ServerExchange(self, _checked(self.nonce()))


class _ServerExchange:
    """The client's first and final message, and its empty answer to a proof in a challenge."""

    def __init__(self, factory: ScramServer, nonce: str) -> None:
        self._factory = factory
        self._nonce = nonce
        self._username = ""
        self._who = "a client"
        self._judge = self._judge_first
        self._scram: Any = None

    def step(self, response: bytes | None) -> Step:
        """Judge the next message."""
        if response is None:
            return Challenge(b"")
        try:
            return self._judge(response.decode())
        except UnicodeDecodeError:
            return Failure(f"{self._factory.name} of {self._who}: not UTF-8")
        except imported().ScramException as error:
            return Failure(f"{self._factory.name} of {self._who}: {error}")

    def _judge_first(self, message: str) -> Step:
        # scramp hides exceptions of its callback, so a first pass only reads the name.
        self._scram_server(self._read_name).set_client_first(message)
        decoy = self._factory.decoys.credentials(self._factory.name, self._username)
        credentials = self._factory.credentials(self._username)
        self._who = f"{self._username!r}" if credentials else f"unknown user {self._username!r}"
        self._scram = self._scram_server(lambda _: _stored(credentials or decoy))
        self._scram.set_client_first(message)
        self._judge = self._judge_final
        return Challenge(self._scram.get_server_first().encode())

    def _judge_final(self, message: str) -> Step:
        self._scram.set_client_final(message)
        proof = self._scram.get_server_final().encode()
        if self._factory.proof_in_outcome:
            return Success(self._username, proof)
        self._judge = self._judge_acknowledgement
        return Challenge(proof)

    def _judge_acknowledgement(self, message: str) -> Step:
        if message:
            return Failure(f"{self._factory.name} of {self._who}: the answer to the server's proof is not empty")
        return Success(self._username)

    def _read_name(self, username: str) -> tuple[bytes, bytes, bytes, int]:
        self._username = prepared_if_possible(username)
        return _stored(self._factory.decoys.credentials(self._factory.name, ""))

    def _scram_server(self, stored: Callable[[str], tuple[bytes, bytes, bytes, int]]) -> Any:
        return imported().ScramMechanism(self._factory.name).make_server(stored, s_nonce=self._nonce)


@dataclass(frozen=True, slots=True)
class ScramClient:
    """Logs in with name and password, and checks that the server knows the password."""

    name: str
    username: str
    password: str = field(repr=False)
    nonce: Callable[[], str] = field(repr=False)
    """Draws a nonce: printable ASCII without comma, such as 18 random octets in base64."""
    iterations_max: int = 1_000_000
    """The most iterations that the server may request; a million keep this thread busy for about half a second."""

    def __post_init__(self) -> None:
        _check_name(self.name)
        try:
            self._scram_client("0" * NONCE_MIN)
        except imported().ScramException as error:
            raise ValueRangeError(f"{self.name} cannot use this name and password: {error}") from None

    def start(self, hostname: str | None) -> "_ClientExchange":
        """Begin an exchange with a new nonce."""
        return _ClientExchange(self._scram_client(_checked(self.nonce())), self.iterations_max)

    def _scram_client(self, nonce: str) -> Any:
        return imported().ScramClient([self.name], self.username, self.password, c_nonce=nonce)


class _ClientExchange:
    def __init__(self, scram: Any, iterations_max: int) -> None:
        self._scram = scram
        self._iterations_max = iterations_max
        self._is_proof_due = False
        self._is_server_proven = False

    def initial_response(self) -> bytes:
        """Return the client's first message."""
        message: str = self._scram.get_client_first()
        return message.encode()

    def respond(self, challenge: bytes) -> bytes:
        """Answer the server's first message, or a proof in a challenge."""
        try:
            if self._is_proof_due:
                return self._check_proof(challenge.decode())
            return self._answer_first(challenge.decode())
        except UnicodeDecodeError:
            raise SaslFailed("a SCRAM message is not UTF-8") from None
        except imported().ScramException as error:
            raise SaslFailed(f"SCRAM: {error}") from None

    def finish(self, additional_data: bytes | None) -> None:
        """Require the server's proof."""
        if self._is_server_proven:
            return
        if additional_data is None or not self._is_proof_due:
            raise SaslFailed("the server did not prove that it knows the password")
        self.respond(additional_data)

    def _answer_first(self, message: str) -> bytes:
        self._scram.set_server_first(message)
        iterations = int(message.split(",")[2].removeprefix("i="))
        if iterations > self._iterations_max:
            raise SaslFailed(f"the server asks for {iterations} iterations; {self._iterations_max} is the most")
        self._is_proof_due = True
        answer: str = self._scram.get_client_final()
        return answer.encode()

    def _check_proof(self, message: str) -> bytes:
        self._scram.set_server_final(message)
        self._is_server_proven = True
        return b""


def _stored(credentials: ScramCredentials) -> tuple[bytes, bytes, bytes, int]:
    return credentials.salt, credentials.stored_key, credentials.server_key, credentials.iterations


def _check_name(name: str) -> None:
    if name not in SCRAM_MECHANISMS:
        raise ValueRangeError(f"{name!r} is not one of {', '.join(SCRAM_MECHANISMS)}")


def _checked(nonce: str) -> str:
    if len(nonce) < NONCE_MIN or not _PRINTABLE.issuperset(nonce):
        raise ValueRangeError(f"a nonce has at least {NONCE_MIN} printable ASCII characters and no comma")
    return nonce
