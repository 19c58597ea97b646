"""The records that a host holds of one publisher, in the order of the stream."""

from routerd.topics.records import Record

_DEAD_KEPT = 64


class Publication:
    """What a host has of a publisher: all its records, and those of its present ingress by number."""

    __slots__ = ("_dead", "_order", "has_news", "key", "map_order", "records")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.records: dict[bytes, Record] = {}
        self.has_news = False
        """It has records that subscribers have to be looked at for."""
        self.map_order: list[bytes] = []
        """What the publisher had in its map at its last attach, in order."""
        self._order: list[Record] = []
        self._dead = 0

    def begin_anew(self, map_order: list[bytes]) -> None:
        """The publisher is attached elsewhere: what is held is shown again when it has a number there."""
        self.map_order = map_order
        self._order = []
        self._dead = 0

    def append(self, record: Record) -> None:
        """Add what has the next number; it may have been held under another one."""
        self.records[record.tag] = record
        self._order.append(record)

    def remove(self, record: Record) -> None:
        """Drop a record."""
        del self.records[record.tag]
        # It stays in the order for a while, which is searched by number.
        record.ingress = None
        self._dead += 1
        if self._dead > _DEAD_KEPT and self._dead * 2 > len(self._order):
            self._order = [each for each in self._order if each.ingress is not None]
            self._dead = 0

    def after(self, number: int) -> list[Record]:
        """Return the records of the present ingress that come after a number, in order."""
        order = self._order
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) >> 1
            record = order[middle]
            if record.number <= number:
                low = middle + 1
            else:
                high = middle
        found = []
        while low < len(order):
            record = order[low]
            if record.ingress is not None:
                found.append(record)
            low += 1
        return found
