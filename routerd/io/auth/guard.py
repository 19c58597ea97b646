"""What stands before a mechanism of SASL: who the peer claims to be is known from its first message on."""

from typing import Protocol

from routerd.wire.sasl import Failure, SaslCode, ServerMechanism, ServerMechanismFactory, Step, claimed_name


class Door(Protocol):
    """The login that a peer's mechanism is for."""

    def note_choice(self, mechanism: str) -> None:
        """The peer chose a mechanism."""

    def claims(self, user: str | None) -> bool:
        """The peer says who it is, if that can be told; return whether that is judged now."""


class Guarded:
    """A mechanism whose first message is looked at before it is judged."""

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
        """Have a message judged, unless there were too many wrong ones of that user just now."""
        if self._is_first and response is not None:
            self._is_first = False
            if not self._door.claims(claimed_name(self._name, response)):
                return Failure("too many failures of this user and host", SaslCode.SYS_TEMP)
        return self._inner.step(response)
