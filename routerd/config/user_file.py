"""The router's own users: a file of SCRAM verifiers, from which no password can be read.

The file is one JSON map. A change is written to another file, which then takes its place. So a reader sees either all
old users or all new ones. Two writers wait for each other. The file has what an attacker needs to guess passwords
offline. So it is refused if others than its owner can read it.
"""

import base64
import binascii
import contextlib
import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.wire import ValueRangeError
from routerd.wire.sasl import SCRAM_MECHANISMS, ScramCredentials, ScramDecoys, prepared

DEFAULT_USER_FILE = "/etc/mobula/users"
"""Where the users are when nothing is said; no users if there is no such file."""
FORMAT = "routerd users 1"
SCRAM_ITERATIONS = 4096
"""As RFC 7677 has it, and Cyrus: more would cost the clients, all of which derive their keys when a router is lost."""
SCRAM_ITERATIONS_LEAST, SCRAM_ITERATIONS_MOST = 4096, 200_000
"""What RFC 7677 has as the least, and the most that connectors of a router do: a tenth of a second of a processor."""
SALT_OCTETS = 16
SECRET_OCTETS = 32
NAME_MAX = 255
PASSWORD_MAX = 1024
FILE_MAX = 1 << 28
PLAIN_VERIFIER = "SCRAM-SHA-256"
"""The verifier that passwords in the clear are held against."""


class UserFileError(Exception):
    """The file is missing, cannot be used, or does not have what was asked for; the message says which and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


@dataclass(slots=True)
class Users:
    """All users of a file."""

    decoys: ScramDecoys
    verifiers: dict[str, Mapping[str, Any]] = field(repr=False)
    """By the prepared name: what is stored for each mechanism."""

    @classmethod
    def nobody(cls) -> "Users":
        """Return the users of a file that is new."""
        return cls(ScramDecoys(secrets.token_bytes(SECRET_OCTETS), SCRAM_ITERATIONS, SALT_OCTETS), {})

    def names(self) -> list[str]:
        """Return who there is."""
        return sorted(self.verifiers)

    def credentials(self, mechanism: str, name: str) -> ScramCredentials | None:
        """Return the verifier of a user, None for one who is not there."""
        try:
            stored = self.verifiers.get(prepared(name), {}).get(mechanism)
            if stored is None:
                return None
            salt, stored_key, server_key = (base64.b64decode(one, validate=True) for one in stored)
            return ScramCredentials(salt, stored_key, server_key, self.decoys.iterations)
        except (ValueError, TypeError, ValueRangeError):
            return None

    def has_password(self, name: str, password: str) -> bool:
        """Return whether this is the password; it takes as long for a user who is not there."""
        known = self.credentials(PLAIN_VERIFIER, name)
        verifier = known or self.decoys.credentials(PLAIN_VERIFIER, name)
        return verifier.matches(PLAIN_VERIFIER, password) and known is not None

    def put(self, name: str, password: str, iterations: int | None = None) -> None:
        """Add a user, or give one another password. Raises ValueRangeError.

        `iterations` is for a file that has no other users: what is shown of names that nobody has is as for all users.
        """
        name = checked_name(name)
        if not 0 < len(password) <= PASSWORD_MAX:
            raise ValueRangeError(f"a password has 1 to {PASSWORD_MAX} characters, not {len(password)}")
        if iterations is not None and iterations != self.decoys.iterations:
            self._set_iterations(iterations, is_alone=not self.verifiers.keys() - {name})
        iterations = self.decoys.iterations
        self.verifiers[name] = {
            mechanism: [_text(one.salt), _text(one.stored_key), _text(one.server_key)]
            for mechanism in SCRAM_MECHANISMS
            for one in [_derived(mechanism, password, iterations)]
        }


    def _set_iterations(self, iterations: int, *, is_alone: bool) -> None:
        _check_iterations(iterations)
        if not is_alone:
            raise ValueRangeError(
                f"all users of a file have the same number of iterations, {self.decoys.iterations} in this one;"
                f" different numbers would tell which users exist. To have {iterations}, make a new file with all users"
            )
        self.decoys = ScramDecoys(self.decoys.secret, iterations, SALT_OCTETS)


def _check_iterations(iterations: int) -> None:
    if not SCRAM_ITERATIONS_LEAST <= iterations <= SCRAM_ITERATIONS_MOST:
        raise ValueRangeError(f"{iterations} iterations are not {SCRAM_ITERATIONS_LEAST} to {SCRAM_ITERATIONS_MOST}")


def checked_name(name: str) -> str:
    """Return a user's name as SASLprep (RFC 4013) has it. Raises ValueRangeError."""
    name = prepared(name)
    if not 0 < len(name) <= NAME_MAX:
        raise ValueRangeError(f"a name has 1 to {NAME_MAX} characters, not {len(name)}")
    return name


def read_users(path: str) -> Users:
    """Return the users of a file. Raises UserFileError."""
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UserFileError(path, "is not a regular file")
            if stat.S_IMODE(found.st_mode) & 0o077:
                raise UserFileError(path, f"others than its owner may read or write it: chmod 600 {path}")
            text = file.read(FILE_MAX + 1)
    except OSError as error:
        raise UserFileError(path, error.strerror or str(error)) from error
    return _parsed(path, text)


@contextlib.contextmanager
def editing(path: str) -> Iterator[Users]:
    """Let the users of a file be changed, and write them; a file that is not there is made. Raises UserFileError."""
    path = os.path.realpath(path)
    try:
        with _locked(f"{path}.lock"):
            users = read_users(path) if os.path.exists(path) else Users.nobody()
            yield users
            _replace(path, users)
    except OSError as error:
        raise UserFileError(path, error.strerror or str(error)) from error


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: str, users: Users) -> None:
    """Write a new file and put it in the place of the old one, whose owner keeps it."""
    draft = f"{path}.{secrets.token_hex(8)}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            with contextlib.suppress(FileNotFoundError):
                before = os.stat(path)
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
            file.write(_written(users))
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def _written(users: Users) -> bytes:
    # A user a line: what has changed can be seen, and a large file can be looked through.
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(users.verifiers[name])}" for name in users.names())
    header = {"format": FORMAT, "iterations": users.decoys.iterations, "secret": _text(users.decoys.secret)}
    members = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in header.items()]
    return ("{\n" + ",\n".join([*members, '  "users": {\n' + rows + "\n  }"]) + "\n}\n").encode()


def _parsed(path: str, text: bytes) -> Users:
    if len(text) > FILE_MAX:
        raise UserFileError(path, f"has more than {FILE_MAX} octets")
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise ValueError(f"the format is not '{FORMAT}'")
        secret = base64.b64decode(found["secret"], validate=True)
        users = found["users"]
        if not all(isinstance(stored, dict) for stored in users.values()):
            raise ValueError("a user has no verifiers")
        iterations = int(found["iterations"])
        _check_iterations(iterations)
        return Users(ScramDecoys(secret, iterations, SALT_OCTETS), users)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, binascii.Error, ValueRangeError) as error:
        raise UserFileError(path, f"was not written by `routermanage user`: {error}") from None


def _derived(mechanism: str, password: str, iterations: int) -> ScramCredentials:
    salt = secrets.token_bytes(SALT_OCTETS)
    return ScramCredentials.derive(mechanism, password, salt=salt, iterations=iterations)


def _text(octets: bytes) -> str:
    return base64.b64encode(octets).decode()
