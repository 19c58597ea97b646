"""The answers of management on their way to those who asked, none of whom has to wait for another.

Each requester, known by its reply address, has a line. A line is a producer inside the router, with little credit, in a
separate session. A requester that takes no answers stops its line and no other. Once too much waits in a line, requests
of its requester are refused. Once too much waits in all lines, the one that has stood longest is dropped.
"""

import logging
from collections import OrderedDict

from routerd.core import InnerProducer, LoopBack, Router
from routerd.io.logs import SeldomLog

LINE_OCTETS = 1 << 23
"""Octets of answers that a requester may leave waiting before its requests are refused."""
ALL_OCTETS = 1 << 26
"""Octets of answers that may wait in all lines of a worker."""
LINE_MESSAGES = 1000
"""Answers that may wait in all lines of a worker."""
LINE_ANSWERS = 4
"""Answers of a line that the router has taken, and their requester has not."""
LINES_MAX = 256
"""Requesters of a worker that have a line."""
IDLE_LINES = 8
"""Lines without work that are kept for the next answer to the same requester."""


class AnswerLines:
    """Sends answers. To be used in the worker's loop."""

    def __init__(self, router: Router, now: float, log: SeldomLog) -> None:
        self._inside = LoopBack(router, now, capacity=LINE_ANSWERS)
        self._log = log
        self._lines: OrderedDict[str, InnerProducer] = OrderedDict()
        """By reply address; the line that was used last comes last."""

    def is_full(self, reply_to: str) -> bool:
        """Whether a requester has too many answers waiting, so that its requests are refused."""
        line = self._lines.get(reply_to)
        return line is not None and (line.waiting_octets >= LINE_OCTETS or line.waiting_messages >= LINE_MESSAGES)

    def send(self, reply_to: str, answer: bytes) -> None:
        """Send an answer, now or as soon as its requester takes it."""
        line = self._lines.get(reply_to)
        if line is None:
            self._make_room()
            line = self._lines[reply_to] = self._inside.produce(is_apart=True)
        self._lines.move_to_end(reply_to)
        line.send(answer, settled=True)
        self._bound()

    def _make_room(self) -> None:
        idle = [reply_to for reply_to, line in self._lines.items() if line.is_idle]
        for reply_to in idle[: max(0, len(idle) - IDLE_LINES + 1)]:
            self._lines.pop(reply_to).close()
        if len(self._lines) >= LINES_MAX:
            self._give_up(f"{LINES_MAX} requesters leave answers waiting")

    def _bound(self) -> None:
        """Drop answers beyond the common limit, but never the last one."""
        *others, last = (line.waiting_octets for line in self._lines.values())
        waiting = sum(others)
        while waiting > 0 and waiting + last > ALL_OCTETS:
            waiting -= self._give_up(f"more than {ALL_OCTETS} octets of answers wait for their requesters")

    def _give_up(self, reason: str) -> int:
        """Drop the line that has stood longest; return the octets that waited in it."""
        reply_to = next(one for one, line in self._lines.items() if not line.is_idle)
        line = self._lines.pop(reply_to)
        octets = line.waiting_octets
        line.close()
        self._log.say(
            logging.WARNING,
            "given up",
            f"Answers of management to {reply_to} are dropped, {octets} octets: {reason}, and this one the longest",
        )
        return octets
