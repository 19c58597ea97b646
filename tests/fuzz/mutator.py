"""Inputs made from other inputs, by chance that a seed decides."""

from collections.abc import Sequence
from random import Random

from tests.fuzz import octets as o

TOKENS = (
    *o.SAMPLES,
    *o.STATES,
    *o.SOURCES[:2],
    *(bytes((0, 0x53, code)) for code in (*range(0x10, 0x19), *range(0x70, 0x79), 0x1D, 0x28, 0x29)),
    *(size.to_bytes(4, "big") for size in (0, 8, 9, 255, 256, 512, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)),
    *(b"\0\xa3\x16amqp:message-annotations:map"[:31], b"x-opt-qd.to", b"x-user", b"AMQP\0\1\0\0"),
)
_OCTETS = (0, 1, 2, 0x40, 0x43, 0x45, 0x53, 0x7F, 0x80, 0xA0, 0xC0, 0xC1, 0xD0, 0xE0, 0xF0, 0xFF)


class Mutator:
    """Makes inputs from a corpus, always the same ones from the same seed."""

    def __init__(self, corpus: Sequence[bytes], seed: int, largest: int = 1000) -> None:
        self._random = Random(seed)
        self._largest = largest
        self.corpus = list(corpus) or [b""]
        self._changes = (
            *(self._flip, self._set, self._add, self._remove, self._insert, self._repeat, self._token),
            *(self._splice, self._move, self._cut),
        )

    def next(self) -> bytes:
        """Return the next input."""
        random = self._random
        if random.random() < 0.1:
            return random.randbytes(random.randrange(min(400, self._largest)))
        data = bytearray(random.choice(self.corpus))
        for _ in range(1 + int(random.expovariate(0.4))):
            random.choice(self._changes)(data)
        return bytes(data[: self._largest])

    def _place(self, data: bytearray) -> int:
        return int(self._random.random() * len(data))

    def _flip(self, data: bytearray) -> None:
        if data:
            data[self._place(data)] ^= 1 << self._random.randrange(8)

    def _set(self, data: bytearray) -> None:
        if data:
            data[self._place(data)] = self._random.choice(_OCTETS)

    def _add(self, data: bytearray) -> None:
        if data:
            at = self._place(data)
            data[at] = data[at] + self._random.randint(-9, 9) & 0xFF

    def _remove(self, data: bytearray) -> None:
        at = self._place(data)
        del data[at : at + 1 + int(self._random.expovariate(0.3))]

    def _insert(self, data: bytearray) -> None:
        at = self._place(data)
        data[at:at] = self._random.randbytes(1 + int(self._random.expovariate(0.3)))

    def _repeat(self, data: bytearray) -> None:
        at = self._place(data)
        data[at:at] = data[at : at + self._random.randrange(40)] * self._random.choice((1, 1, 1, 2, 5))

    def _token(self, data: bytearray) -> None:
        at = self._place(data)
        token = self._random.choice(TOKENS)
        data[at : at + len(token) * self._random.randrange(2)] = token

    def _splice(self, data: bytearray) -> None:
        other = self._random.choice(self.corpus)
        at, start = self._place(data), int(self._random.random() * len(other))
        data[at : at + self._random.randrange(60)] = other[start : start + self._random.randrange(60)]

    def _move(self, data: bytearray) -> None:
        at = self._place(data)
        block = data[at : at + self._random.randrange(30)]
        del data[at : at + len(block)]
        at = self._place(data)
        data[at:at] = block

    def _cut(self, data: bytearray) -> None:
        if self._random.random() < 0.1:
            del data[self._place(data) :]
