"""The stored data of a user for SCRAM (RFC 5802, section 5), and decoys for unknown users."""

import hmac
from dataclasses import dataclass, field
from typing import Any

from routerd.wire.errors import ValueRangeError

SALT_MIN = 12
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 10_000_000
SECRET_MIN = 16


def _check(salt_octets: int, iterations: int) -> None:
    if salt_octets < SALT_MIN:
        raise ValueRangeError(f"a salt of {salt_octets} octets; {SALT_MIN} is the least")
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise ValueRangeError(f"{iterations} iterations, not {ITERATIONS_MIN} to {ITERATIONS_MAX}")


def imported() -> Any:
    """Import scramp, once a user needs it: each process of a router would pay 2 MiB and its start 20 ms for it."""
    import scramp.utils  # type: ignore[import-untyped]

    return scramp


def prepared(text: str) -> str:
    """Return a name or password in its prepared form (SASLprep, RFC 4013). Raises ValueRangeError."""
    if text.isascii() and text.isprintable() and text:
        return text
    scramp = imported()
    try:
        result: str = scramp.utils.saslprep(text)
    except scramp.ScramException as error:
        raise ValueRangeError(f"no name or password can be like this: {error}") from None
    return result


def prepared_if_possible(text: str) -> str:
    """Return a name in its prepared form, or unchanged if no user can have it."""
    try:
        return prepared(text)
    except ValueRangeError:
        return text


@dataclass(frozen=True, slots=True)
class ScramCredentials:
    """The verifier of one user for one mechanism: it can check a password, but not log in."""

    salt: bytes
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int

    def __post_init__(self) -> None:
        _check(len(self.salt), self.iterations)

    @classmethod
    def derive(
        cls, mechanism: str, password: str, *, salt: bytes, iterations: int = ITERATIONS_MIN
    ) -> "ScramCredentials":
        """Return the data to store for this password; slow on purpose, in proportion to the iterations."""
        scramp = imported()
        try:
            return cls(*scramp.ScramMechanism(mechanism).make_auth_info(password, iterations, salt))
        except scramp.ScramException as error:
            raise ValueRangeError(f"no {mechanism} credentials: {error}") from None

    def matches(self, mechanism: str, password: str) -> bool:
        """Whether this is the password; PLAIN uses it where only verifiers are stored."""
        try:
            given = self.derive(mechanism, password, salt=self.salt, iterations=self.iterations)
        except ValueRangeError:
            return False
        return hmac.compare_digest(given.stored_key, self.stored_key)


@dataclass(frozen=True, slots=True)
class ScramDecoys:
    """Verifiers of unknown users: each name has a constant salt, and no password matches."""

    secret: bytes = field(repr=False)
    """Keep it over restarts and share it among processes: a salt that changes shows that the user is unknown."""
    iterations: int = ITERATIONS_MIN
    """The same as for known users."""
    salt_octets: int = 16
    """The same as for known users."""

    def __post_init__(self) -> None:
        _check(self.salt_octets, self.iterations)
        if len(self.secret) < SECRET_MIN:
            raise ValueRangeError(f"a secret of {len(self.secret)} octets; {SECRET_MIN} is the least")

    def credentials(self, mechanism: str, username: str) -> ScramCredentials:
        """Return the verifier of this name."""
        salt, stored_key, server_key = (
            hmac.digest(self.secret, f"{part} {mechanism} {username}".encode(), "sha512")
            for part in ("salt", "stored key", "server key")
        )
        return ScramCredentials(salt[: self.salt_octets], stored_key, server_key, self.iterations)
