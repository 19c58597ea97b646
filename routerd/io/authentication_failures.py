"""What failed attempts to authenticate cost those who make them, by host.

The answer to a failure is held back, for longer with each failure of that host, up to a bound. A host that has many
answers held back gets no further attempt before some of them are due: so it cannot try faster by many connections. What
is remembered of a host fades while it makes no mistakes, and there are only so many hosts to remember.
"""

import ipaddress
from collections import OrderedDict, deque
from dataclasses import dataclass, field

FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 5.0
"""The delay doubles with each failure, from the first of these to the second."""
FADE_S = 10.0
"""After so long one failure of a host is forgotten."""
HELD_MAX = 64
"""Answers to one host that may be held back at a time."""
HOSTS_MAX = 10_000
_DOUBLINGS_MAX = 16
_PREFIX_V6 = 64


@dataclass(slots=True)
class _Record:
    failures: int = 0
    at: float = 0.0
    """When `failures` was true."""
    due: deque[float] = field(default_factory=deque)
    """When answers that are held back are given."""


class FailureLedger:
    """Remembers failures; time is an argument."""

    def __init__(self, hosts_max: int = HOSTS_MAX) -> None:
        self._hosts_max = hosts_max
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def failed(self, host: str, now: float) -> float:
        """Note a failure of a host; return for how long the answer is to be held back, in seconds."""
        key = _key(host)
        record = self._records.get(key) or _Record(at=now)
        self._records[key] = record
        self._records.move_to_end(key)
        if len(self._records) > self._hosts_max:
            self._records.popitem(last=False)
        _fade(record, now)
        delay_s: float = min(FIRST_DELAY_S * 2 ** min(record.failures, _DOUBLINGS_MAX), LONGEST_DELAY_S)
        record.failures += 1
        record.due.append(now + delay_s)
        return delay_s

    def is_overrun(self, host: str, now: float) -> bool:
        """Return whether a host has to wait before it may try again."""
        record = self._records.get(_key(host))
        if record is None:
            return False
        while record.due and record.due[0] <= now:
            record.due.popleft()
        return len(record.due) >= HELD_MAX


def _fade(record: _Record, now: float) -> None:
    steps = int((now - record.at) / FADE_S)
    if steps > 0:
        record.failures = max(0, record.failures - steps)
        record.at += steps * FADE_S
    while record.due and record.due[0] <= now:
        record.due.popleft()


def _key(host: str) -> str:
    """Return what stands for a host: who has one IPv6 address has all of its network."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.IPv6Network((host.partition("%")[0], _PREFIX_V6), strict=False))
    except ValueError:
        return host
