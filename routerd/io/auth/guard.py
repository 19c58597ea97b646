"""A check before a SASL mechanism: the peer's claimed name is known from its first message on."""

from typing import Protocol

from routerd.wire.sasl import Failure, SaslCode, ServerMechanism, ServerMechanismFactory, Step, claimed_name


class Door(Protocol):
    """The login of a peer's mechanism."""

    def note_choice(self, mechanism: str) -> None:
        """The peer has chosen a mechanism."""

    def claims(self, user: str | None) -> bool:
        """The peer has claimed a name, if it is readable; return whether its attempt is judged now."""


class Guarded:
    """A mechanism whose first message is checked before it is judged."""

    def __init__(self, inner: ServerMechanismFactory, door: Door) -> None:
        self.name = inner.name
        self._inner = inner
        self._door = door

    def start(self, hostname: str | None) -> "_GuardedSteps":
        """Begin an exchange."""
        self._door.note_choice(self.name)
        return _GuardedSteps(self.name, self._inner.start(hostname), self._door)


class _GuardedSteps:
    def __init__(self, name: str, inner: ServerMechanism, door: Door) -> None:
        self._name = name
        self._inner = inner
        self._door = door
        self._is_first = True

    def step(self, response: bytes | None) -> Step:
        """Let the mechanism judge a message, unless there were too many failures of that user just now."""
        if self._is_first and response is not None:
            self._is_first = False
            if not self._door.claims(claimed_name(self._name, response)):
                return Failure("too many failures of this user and host", SaslCode.SYS_TEMP)
        return self._inner.step(response)
