"""The idle time-outs of a connection: when to send, and when the peer counts as lost (2.4.5)."""

_NEVER = float("inf")


class IdleClock:
    """Two deadlines, for our next frame and for the peer's; the time is an argument."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._interval_s = 0.0
        self._heard = 0.0
        self._spoke = 0.0

    def start(self, now: float) -> None:
        """Start both deadlines."""
        self._heard = self._spoke = now

    def heard(self, now: float) -> None:
        """Note that something was received."""
        self._heard = now

    def spoke(self, now: float) -> None:
        """Note that something was sent."""
        self._spoke = now

    def keep_alive(self, remote_timeout_s: float) -> None:
        """Take the peer's announced time-out; we send after half of it. 0 is none."""
        self._interval_s = remote_timeout_s / 2

    def deadline(self, may_speak: bool) -> float:
        """Return the earlier deadline, infinity for never."""
        deadline = self._heard + self._timeout_s if self._timeout_s > 0 else _NEVER
        if may_speak and self._interval_s > 0:
            deadline = min(deadline, self._spoke + self._interval_s)
        return deadline

    def is_peer_lost(self, now: float) -> bool:
        """Whether the peer has been silent for too long."""
        return self._timeout_s > 0 and now >= self._heard + self._timeout_s

    def is_word_due(self, now: float) -> bool:
        """Whether a frame must be sent now, so that the peer does not give us up."""
        return self._interval_s > 0 and now >= self._spoke + self._interval_s
