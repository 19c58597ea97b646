"""The errors of routing. They cross processes, so each can be pickled: its arguments are those of its constructor."""


class CoreError(Exception):
    """The root of everything that routerd.core raises on purpose."""


class InvalidPhase(CoreError):
    """A phase that no address can have."""

    def __init__(self, phase: int) -> None:
        super().__init__(phase)
        self.phase = phase

    def __str__(self) -> str:
        return f"phase {self.phase} is neither 0 to 9 nor 22, the fallback"


class InvalidKey(CoreError):
    """A text that is no address key."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return f"{self.key!r} is no address key: a letter for its class comes first, and after M the phase"


class QueueFull(CoreError):
    """A producer inside the router has as many messages waiting for credit as it may have."""

    def __init__(self, address: str, limit: int) -> None:
        super().__init__(address, limit)
        self.address = address
        self.limit = limit

    def __str__(self) -> str:
        return f"{self.limit} messages to {self.address or 'various addresses'} wait for credit already"


class PatternError(CoreError):
    """A pattern that a tree does not take, or does not have."""

    reason = "is refused"

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.pattern = pattern

    def __str__(self) -> str:
        return f"pattern {self.pattern!r} {self.reason}"


class InvalidPattern(PatternError):
    """A pattern without any token."""

    reason = "has no token"


class DuplicatePattern(PatternError):
    """A pattern whose tokens are those of one that is there already."""

    reason = "is there already"


class UnknownPattern(PatternError):
    """A pattern that was to be removed and is not there."""

    reason = "is not there"


class MembershipError(CoreError):
    """A call of a worker that is no member of the address table as it calls."""

    reason = "is no member"

    def __init__(self, worker: int, incarnation: int) -> None:
        super().__init__(worker, incarnation)
        self.worker = worker
        self.incarnation = incarnation

    def __str__(self) -> str:
        return f"worker {self.worker}, incarnation {self.incarnation}, {self.reason}"


class JoinRequired(MembershipError):
    """The worker must join (again) with everything it has."""


class UnknownMember(JoinRequired):
    """The table does not know the worker: it has not joined, has left, or the table is a new one."""

    reason = "has not joined"


class ChangesMissed(JoinRequired):
    """Changes of the worker were lost on the way: a sequence number is missing."""

    reason = "has sent changes that did not arrive"


class StaleMember(MembershipError):
    """Another incarnation of the worker is the member now."""

    reason = "has been replaced by another incarnation"


class FullDeltaMissing(CoreError):
    """A delta that continues what this worker never got; it must join again."""

    def __init__(self, known: tuple[int, int] | None, version: tuple[int, int]) -> None:
        super().__init__(known, version)
        self.known = known
        self.version = version

    def __str__(self) -> str:
        return f"delta {self.version} is not full and does not continue {self.known}"
