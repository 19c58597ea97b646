"""A conversation with another router: operations arrive in order and once, or the conversation begins anew.

The network may lose frames, and let one overtake another. So frames have numbers, and are repeated until they are
acknowledged. After the beginning of either side's conversation the other side tells everything anew (`is_news`).
"""

from collections import deque

from routerd.topics.claims import Stamp
from routerd.topics.messages import Frame, Operation
from routerd.topics.octets import encode_frame
from routerd.topics.settings import (
    ACKNOWLEDGE_FRAMES,
    FRAMES_AHEAD_MAX,
    FRAMES_REPEATED_MAX,
    FRAMES_UNACKNOWLEDGED_MAX,
    OPERATIONS_PER_FRAME,
)


class Conversation:
    """Both directions between two lives of routers."""

    def __init__(self, incarnation: int, number: int, patience_s: float = 0.0) -> None:
        self._incarnation = incarnation
        self._patience_s = patience_s
        self.number = number
        self.to_incarnation = 0
        self._pending: list[tuple[str, Operation]] = []
        self._sequence = 0
        self._unacknowledged: deque[tuple[int, list[tuple[str, Operation]], float]] = deque()
        self._acknowledged = 0
        self.is_forgotten = False
        """The other side has lost its end of our part, which has to begin anew."""
        # Of the other side.
        self._their_number = 0
        self._expected = 1
        self._ahead: dict[int, list[tuple[str, Operation]]] = {}
        self._unanswered = 0
        self._is_answer_due = False
        self._is_repeat_due = False

    @property
    def is_overrun(self) -> bool:
        """Whether the other router is too far behind to be told the rest."""
        return len(self._unacknowledged) > FRAMES_UNACKNOWLEDGED_MAX

    @property
    def unacknowledged(self) -> int:
        """How many frames the other router has not acknowledged."""
        return len(self._unacknowledged)

    @property
    def has_pending(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._pending) or self._is_answer_due or self._is_repeat_due

    def begin_anew(self, number: int) -> None:
        """Begin our part anew; what the other side says goes on."""
        self.number = number
        self.is_forgotten = False
        self._pending.clear()
        self._sequence = 0
        self._unacknowledged.clear()
        self._acknowledged = 0
        self._is_repeat_due = False

    def say(self, topic: str, operation: Operation) -> None:
        """Have the other router told something when the turn ends."""
        self._pending.append((topic, operation))

    def receive(self, frame: Frame) -> tuple[bool, list[tuple[str, Operation]]]:
        """Take a frame; return whether the other side begins anew, and the operations that are next."""
        self.to_incarnation = frame.incarnation
        is_news = frame.conversation != self._their_number
        if is_news:
            if frame.conversation < self._their_number:
                return False, []
            self._their_number = frame.conversation
            self._expected = 1
            self._ahead.clear()
            # Frames that were acknowledged can't be sent again.
            acknowledged = frame.acknowledged if frame.acknowledged_conversation == self.number else 0
            if acknowledged < self._acknowledged:
                self.is_forgotten = True
        self._acknowledge(frame)
        return is_news, self._in_order(frame)

    def _acknowledge(self, frame: Frame) -> None:
        if frame.acknowledged_conversation != self.number:
            return
        while self._unacknowledged and self._unacknowledged[0][0] <= frame.acknowledged:
            self._acknowledged, _, _ = self._unacknowledged.popleft()
        self._is_repeat_due = frame.is_missing and bool(self._unacknowledged)

    def _in_order(self, frame: Frame) -> list[tuple[str, Operation]]:
        if frame.sequence == 0:
            return []
        self._unanswered += 1
        if frame.sequence != self._expected:
            is_ahead = frame.sequence > self._expected and frame.sequence not in self._ahead
            if is_ahead and len(self._ahead) < FRAMES_AHEAD_MAX:
                self._ahead[frame.sequence] = frame.operations
                self._is_answer_due = True
            return []
        ready = list(frame.operations)
        self._expected += 1
        while self._expected in self._ahead:
            ready += self._ahead.pop(self._expected)
            self._expected += 1
        if self._unanswered >= ACKNOWLEDGE_FRAMES:
            self._is_answer_due = True
        return ready

    def frames(self, now: float, stamp: Stamp) -> list[bytes]:
        """Return what has to be sent now."""
        sent = []
        # Frames that overtake each other are not lost.
        if self._is_repeat_due and now - self._unacknowledged[0][2] >= self._patience_s:
            self._is_repeat_due = False
            sent += self._repeated(now, stamp, 1)
        for at in range(0, len(self._pending), OPERATIONS_PER_FRAME):
            operations = self._pending[at : at + OPERATIONS_PER_FRAME]
            self._sequence += 1
            self._unacknowledged.append((self._sequence, operations, now))
            sent.append(self._frame(self._sequence, operations, stamp))
        self._pending.clear()
        if self._is_answer_due and not sent:
            sent.append(self._frame(0, [], stamp))
        if sent:
            self._is_answer_due = False
            self._unanswered = 0
        return sent

    def late_frames(self, now: float, wait_s: float, stamp: Stamp) -> list[bytes]:
        """Return again the frames that should have been acknowledged."""
        if not self._unacknowledged or now - self._unacknowledged[0][2] < wait_s:
            return []
        return self._repeated(now, stamp, FRAMES_REPEATED_MAX)

    def _repeated(self, now: float, stamp: Stamp, most: int) -> list[bytes]:
        frames = []
        for at in range(min(most, len(self._unacknowledged))):
            sequence, operations, _ = self._unacknowledged[at]
            self._unacknowledged[at] = (sequence, operations, now)
            frames.append(self._frame(sequence, operations, stamp))
        return frames

    def _frame(self, sequence: int, operations: list[tuple[str, Operation]], stamp: Stamp) -> bytes:
        return encode_frame(
            Frame(
                self._incarnation,
                self.number,
                sequence,
                self.to_incarnation,
                self._their_number,
                self._expected - 1,
                bool(self._ahead),
                stamp,
                operations,
            )
        )
