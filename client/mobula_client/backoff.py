"""How long to wait before the next attempt."""

from collections.abc import Callable
from dataclasses import dataclass

from mobula_client.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Waits that grow by a factor up to a limit, each with jitter, so that clients do not come back all at once."""

    first_s: float = 0.1
    """The longest wait after the first failure, in seconds."""
    most_s: float = 10.0
    """The longest wait of all."""
    factor: float = 2.0
    """How much longer each wait is than the one before."""
    jitter: float = 0.5
    """The part of a wait that is drawn at random: 0 is none, 1 is all."""

    def __post_init__(self) -> None:
        if not 0 < self.first_s <= self.most_s:
            raise UsageError(f"first_s is {self.first_s:g}; it must be above 0, and most_s ({self.most_s:g}) at most")
        if self.factor < 1 or not 0 <= self.jitter <= 1:
            raise UsageError(f"factor is {self.factor:g} (at least 1) and jitter {self.jitter:g} (0 to 1)")

    def wait_s(self, failures: int, random: Callable[[], float]) -> float:
        """Return the seconds to wait after a number of failures in a row; `random` draws from 0 to 1."""
        # The exponent is bounded, because a float overflows after a few thousand failures.
        longest = min(self.most_s, self.first_s * self.factor ** min(failures - 1, 64))
        return longest * (1 - self.jitter * random())
