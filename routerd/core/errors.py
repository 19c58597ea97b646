"""The errors of routing. They cross processes, so each can be pickled: `args` are the arguments of its constructor."""


class CoreError(Exception):
    """The root of all errors that routerd.core raises on purpose."""


class InvalidPhase(CoreError):
    """A phase out of range."""

    def __init__(self, phase: int) -> None:
        super().__init__(phase)
        self.phase = phase

    def __str__(self) -> str:
        return f"phase {self.phase} is out of range (0 to 9, or 22 for the fallback)"


class InvalidKey(CoreError):
    """A text that is not an address key."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return f"{self.key!r} is not an address key: it needs a letter for its class, and a phase after M"


class QueueFull(CoreError):
    """A producer inside the router has reached its limit of messages that wait for credit."""

    def __init__(self, address: str, limit: int) -> None:
        super().__init__(address, limit)
        self.address = address
        self.limit = limit

    def __str__(self) -> str:
        return f"{self.limit} messages to {self.address or 'various addresses'} wait for credit already"


class PatternError(CoreError):
    """A pattern that a tree rejects, or does not have."""

    reason = "is refused"

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.pattern = pattern

    def __str__(self) -> str:
        return f"pattern {self.pattern!r} {self.reason}"


class InvalidPattern(PatternError):
    """A pattern without tokens."""

    reason = "has no token"


class DuplicatePattern(PatternError):
    """A pattern with the tokens of an existing one."""

    reason = "is there already"


class UnknownPattern(PatternError):
    """A pattern to remove that does not exist."""

    reason = "is not there"


class MembershipError(CoreError):
    """A call of a worker whose membership in the address table is missing or outdated."""

    reason = "is not a member"

    def __init__(self, worker: int, incarnation: int) -> None:
        super().__init__(worker, incarnation)
        self.worker = worker
        self.incarnation = incarnation

    def __str__(self) -> str:
        return f"worker {self.worker}, incarnation {self.incarnation}, {self.reason}"


class JoinRequired(MembershipError):
    """The worker must join, or join again, with all its interests."""


class UnknownMember(JoinRequired):
    """The table does not know the worker: it has not joined, has left, or the table is new."""

    reason = "has not joined"


class ChangesMissed(JoinRequired):
    """Changes of the worker were lost: a sequence number is missing."""

    reason = "has sent changes that did not arrive"


class StaleMember(MembershipError):
    """Another incarnation of the worker is the member now."""

    reason = "has been replaced by another incarnation"


class FullDeltaMissing(CoreError):
    """A delta that continues one that this worker never got; it must join again."""

    def __init__(self, known: tuple[int, int] | None, version: tuple[int, int]) -> None:
        super().__init__(known, version)
        self.known = known
        self.version = version

    def __str__(self) -> str:
        return f"delta {self.version} is not full and does not continue {self.known}"
