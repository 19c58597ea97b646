"""What failed attempts to authenticate cost those who make them, by host and user.

The answer to a failure is held back, for longer with each failure of that user from that host, up to a bound. While
many answers to a user of a host are held back, no further attempt of that user from that host is judged. So many
connections do not make guessing faster. Other users of the host are judged at once: they wait for no mistakes but their
own. A host that tries many users, a few times each, waits longer for its failures, too; it is never refused for that.

All of this is the same for names that nobody has. Failures fade with time, and the number of users and hosts that are
remembered is bounded.
"""

import heapq
import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeVar

FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 5.0
"""The delay doubles with each failure, from the first of these to the second."""
FADE_S = 10.0
"""After so long one failure of a user of a host is forgotten."""
HOST_FADE_S = 1.0
"""After so long one failure of a host is forgotten."""
HOST_FAILURES_FREE = 32
"""Failures of a host that are those of its users alone: behind an address there may be many who mistype."""
HELD_MAX = 128
"""Answers to one user of a host that may be held back at a time."""
REMEMBERED_MAX = 10_000
"""Users, and hosts, that are remembered: those that failed last."""
NAME_MAX = 256
"""Characters of a name by which users are told apart."""
_DOUBLINGS_MAX = 16
_PREFIX_V6 = 64

Key = TypeVar("Key")
Pair = tuple[str, str]
"""A host and the name of a user, empty where it is not known whom a peer claims to be."""


@dataclass(slots=True)
class _Record:
    failures: int
    at: float
    """When `failures` was true."""

    def fade(self, now: float, fade_s: float) -> None:
        """Forget what is long ago."""
        steps = int((now - self.at) / fade_s)
        if steps > 0:
            self.failures = max(0, self.failures - steps)
            self.at += steps * fade_s


class FailureLedger:
    """Remembers failures; time is an argument."""

    def __init__(self, remembered_max: int = REMEMBERED_MAX) -> None:
        self._remembered_max = remembered_max
        self._pairs: OrderedDict[Pair, _Record] = OrderedDict()
        self._hosts: OrderedDict[str, _Record] = OrderedDict()
        self._held: dict[Pair, int] = {}
        """How many answers are held back."""
        self._due: list[tuple[float, Pair]] = []

    def failed(self, host: str, user: str | None, now: float) -> float:
        """Note a failure of a user of a host; return for how long the answer is to be held back, in seconds."""
        pair = _pair(host, user)
        failures = self._count(self._pairs, pair, now, FADE_S)
        of_host = self._count(self._hosts, pair[0], now, HOST_FADE_S) - HOST_FAILURES_FREE
        doublings = min(max(failures, of_host), _DOUBLINGS_MAX)
        delay_s: float = min(FIRST_DELAY_S * 2**doublings, LONGEST_DELAY_S)
        self._let_go(now)
        self._held[pair] = self._held.get(pair, 0) + 1
        heapq.heappush(self._due, (now + delay_s, pair))
        return delay_s

    def is_overrun(self, host: str, user: str | None, now: float) -> bool:
        """Return whether a user of a host has to wait before it may be tried again."""
        self._let_go(now)
        return self._held.get(_pair(host, user), 0) >= HELD_MAX

    def _let_go(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            _, pair = heapq.heappop(self._due)
            self._held[pair] -= 1
            if not self._held[pair]:
                del self._held[pair]

    def _count(self, records: OrderedDict[Key, _Record], key: Key, now: float, fade_s: float) -> int:
        """Count a failure; return how many are remembered from before."""
        record = records.get(key)
        if record is None:
            record = records[key] = _Record(0, now)
            if len(records) > self._remembered_max:
                records.popitem(last=False)
        records.move_to_end(key)
        record.fade(now, fade_s)
        record.failures += 1
        return record.failures - 1


def _pair(host: str, user: str | None) -> Pair:
    return _place(host), (user or "")[:NAME_MAX]


def _place(host: str) -> str:
    """Return what stands for a host: who has one IPv6 address has all of its network."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.IPv6Network((host.partition("%")[0], _PREFIX_V6), strict=False))
    except ValueError:
        return host
