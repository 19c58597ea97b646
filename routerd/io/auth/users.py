"""The users of the router's own file for mechanisms; a changed file is read again."""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from routerd.config import UserFileError, Users, read_users
from routerd.io.auth.threads import Answer, AuthenticationThreads, InThreads
from routerd.io.logs import module_log
from routerd.wire.sasl import SCRAM_MECHANISMS, PlainServer, ScramCredentials, ScramServer, ServerMechanismFactory

LOOK_S = 1.0
"""The longest time until a change of the file is noticed."""
NONCE_OCTETS = 18
_log = module_log("SERVER")

_Stamp = tuple[int, int, int, int]


class FileUsers:
    """Offers SCRAM, and PLAIN checked against the same verifiers."""

    def __init__(self, path: str, now: Callable[[], float]) -> None:
        """Read the file. Raises UserFileError."""
        self._path = path
        self._now = now
        self._looked_at = now()
        self._stamp = self._stamp_of_now()
        self._complaint = ""
        self.users = read_users(path)

    def look(self) -> Users:
        """Return the present users: those of the file, or the last ones that could be read."""
        now = self._now()
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            stamp = self._stamp_of_now()
            if stamp != self._stamp:
                self._stamp = stamp
                self._read()
        return self.users

    def mechanisms(self, threads: AuthenticationThreads, answer: Answer) -> list[ServerMechanismFactory]:
        """Return the mechanisms that can be offered to one peer, the best first."""
        users = self.look()
        scram: list[ServerMechanismFactory] = [
            ScramServer(name, _Lookup(users, name), users.decoys, nonce, proof_in_outcome=False)
            for name in SCRAM_MECHANISMS
        ]
        # A password in the clear has to be derived, which takes milliseconds.
        return [*scram, InThreads(PlainServer(users.has_password), threads, answer)]

    def _read(self) -> None:
        try:
            self.users, self._complaint = read_users(self._path), ""
        except UserFileError as error:
            if str(error) != self._complaint:
                _log.warning("The users stay as they were: %s", error)
            self._complaint = str(error)

    def _stamp_of_now(self) -> _Stamp | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


@dataclass(frozen=True, slots=True)
class _Lookup:
    users: Users = field(repr=False)
    mechanism: str

    def __call__(self, name: str) -> ScramCredentials | None:
        """Return the verifier of a user."""
        return self.users.credentials(self.mechanism, name)


def nonce() -> str:
    """Return random text that distinguishes an exchange from all others."""
    return secrets.token_urlsafe(NONCE_OCTETS)
