"""The cost of failed authentications, by host and user.

The answer to a failure is delayed. The delay grows with each failure of that user from that host, up to a limit. While
many answers to a user of a host are delayed, no further attempt of that user from that host is judged. So many
connections do not make guessing faster. Other users of the host are judged at once: they wait for their own mistakes
only. A host that tries many users, a few times each, waits longer for its failures, too. It is never refused for that.

All of this is the same for unknown names. Failures fade with time, and the number of users and hosts that are
remembered is limited.
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
"""The time after which one failure of a user at a host is forgotten."""
HOST_FADE_S = 1.0
"""The time after which one failure of a host is forgotten."""
HOST_FAILURES_FREE = 32
"""Failures of a host that cost nothing: many people behind one address may mistype."""
HELD_MAX = 128
"""Limit of the delayed answers to one user of a host."""
REMEMBERED_MAX = 10_000
"""Limit of the users, and of the hosts, that are remembered: those that failed last."""
NAME_MAX = 256
"""Characters of a name that tell users apart."""
_DOUBLINGS_MAX = 16
_PREFIX_V6 = 64

Key = TypeVar("Key")
Pair = tuple[str, str]
"""A host and the name of a user; the name is empty while the peer has claimed none."""


@dataclass(slots=True)
class _Record:
    failures: int
    at: float
    """The time at which `failures` was correct."""

    def fade(self, now: float, fade_s: float) -> None:
        """Forget failures of long ago."""
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
        """The number of delayed answers."""
        self._due: list[tuple[float, Pair]] = []

    def failed(self, host: str, user: str | None, now: float) -> float:
        """Note a failure of a user of a host; return the delay of the answer in seconds."""
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
        """Return whether a user of a host has to wait before the next attempt."""
        self._let_go(now)
        return self._held.get(_pair(host, user), 0) >= HELD_MAX

    def _let_go(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            _, pair = heapq.heappop(self._due)
            self._held[pair] -= 1
            if not self._held[pair]:
                del self._held[pair]

    def _count(self, records: OrderedDict[Key, _Record], key: Key, now: float, fade_s: float) -> int:
        """Count a failure; return the number of earlier ones that are remembered."""
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
    """Return the key of a host: the owner of one IPv6 address has its whole network."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.IPv6Network((host.partition("%")[0], _PREFIX_V6), strict=False))
    except ValueError:
        return host
