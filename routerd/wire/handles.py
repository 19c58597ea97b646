"""A table from small numbers to objects: channels to sessions, handles to links.

Numbers are dense in practice, and an array serves them. A peer may choose scattered numbers, which go into a dict. So a
number from a peer never makes us allocate an array up to it.
"""

import heapq
from collections.abc import Iterator
from typing import Any, cast

# The array is extended up to this number beyond twice the count of objects.
_SLACK = 64


class HandleTable:
    """Objects by number; `lowest_free` gives the number for a new one."""

    def __init__(self) -> None:
        self._dense: list[Any] = []
        self._sparse: dict[int, Any] | None = None
        # All numbers below this were in use. Those freed since are in a heap, so that no search starts at 0.
        self._lowest = 0
        self._freed: list[int] = []
        self.count = 0

    def get(self, number: int) -> Any:
        """Return the object at a number, or None."""
        if number < len(self._dense):
            return self._dense[number]
        if self._sparse is None:
            return None
        return self._sparse.get(number)

    def put(self, number: int, value: Any) -> None:
        """Store an object at a number that is free."""
        self.count += 1
        if self._freed and self._freed[0] == number:
            heapq.heappop(self._freed)
        size = len(self._dense)
        if number < size:
            self._dense[number] = value
        elif number < 2 * self.count + _SLACK and self._sparse is None:
            self._dense.extend([None] * (number - size))
            self._dense.append(value)
        else:
            if self._sparse is None:
                self._sparse = {}
            self._sparse[number] = value

    def remove(self, number: int) -> None:
        """Free a number, if it is in use."""
        if self.get(number) is None:
            return
        self.count -= 1
        if number < len(self._dense):
            self._dense[number] = None
        else:
            sparse = cast("dict[int, Any]", self._sparse)
            del sparse[number]
            if not sparse:
                self._sparse = None
        if self.count == 0:
            self._dense = []
            self._freed = []
            self._lowest = 0
        elif number < self._lowest:
            heapq.heappush(self._freed, number)

    def lowest_free(self) -> int:
        """Return the lowest free number."""
        while self._freed:
            if self.get(self._freed[0]) is None:
                return self._freed[0]
            heapq.heappop(self._freed)
        number = self._lowest
        while self.get(number) is not None:
            number += 1
        self._lowest = number
        return number

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the present objects; the table may change meanwhile."""
        found = [value for value in self._dense if value is not None]
        if self._sparse is not None:
            found.extend(self._sparse.values())
        return iter(found)
