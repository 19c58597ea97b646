"""When a connection has to say that it is alive, and when its peer has been silent for too long (2.4.5)."""

_NEVER = float("inf")


class IdleClock:
    """Two deadlines: ours to speak by, and the peer's; time is told, never read."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._interval_s = 0.0
        self._heard = 0.0
        self._spoke = 0.0

    def start(self, now: float) -> None:
        """Count from now on, both ways."""
        self._heard = self._spoke = now

    def heard(self, now: float) -> None:
        """Note that something was received."""
        self._heard = now

    def spoke(self, now: float) -> None:
        """Note that something was sent."""
        self._spoke = now

    def keep_alive(self, remote_timeout_s: float) -> None:
        """Take the time-out that the peer announced; we speak at half of it. 0 is none."""
        self._interval_s = remote_timeout_s / 2

    def deadline(self, may_speak: bool) -> float:
        """Return when one of the two is due, infinity for never."""
        deadline = self._heard + self._timeout_s if self._timeout_s > 0 else _NEVER
        if may_speak and self._interval_s > 0:
            deadline = min(deadline, self._spoke + self._interval_s)
        return deadline

    def is_peer_lost(self, now: float) -> bool:
        """Return whether the peer has been silent for too long."""
        return self._timeout_s > 0 and now >= self._heard + self._timeout_s

    def is_word_due(self, now: float) -> bool:
        """Return whether we have to say something, lest the peer give us up."""
        return self._interval_s > 0 and now >= self._spoke + self._interval_s
